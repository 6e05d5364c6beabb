import { createHash } from 'node:crypto'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import { openStream, type Stream } from './stream.ts'

/** A list that a page shows, and for whom. */
type Watched = {
  /** Streams of the same name are told of one list, which is asked for once for all of them. */
  readonly name: string
  /** Streams of one session are counted together. */
  readonly sessionId: string
  /** Asks the API for the list, with the rights of the session. */
  readonly ask: () => Promise<Response>
  readonly isSessionOn: () => Promise<boolean>
  /** The mark that the page was told last, by the stream before this one; undefined: it was told none. */
  readonly mark: string | undefined
}

/** Streams of server-sent events that say when a list has changed; the page then asks the API for it. */
export type Live = {
  /** @throws ApiError `overloaded`: as many run as may, or the process is about to end */
  readonly open: (watched: Watched) => Response
  /** Ends all streams and takes no more: their pages come back, to a process that goes on where there is one. */
  readonly close: () => void
  /** How many run. */
  readonly size: () => number
}

export type LiveOptions = {
  readonly everyMs?: number
  /** How often a stream's session is looked at, and its connection kept from falling silent. */
  readonly checkMs?: number
  readonly streamsMax?: number
  readonly sessionStreamsMax?: number
}

type Follower = Watched & { readonly stream: Stream; told: string | undefined; checkedMs: number }

/** The page asks again by itself, and learns why. */
const over = 'event: over\ndata: {}\n\n'
const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
}

/**
 * One timer asks for every list that is watched, one after the other, each once however many pages show it. The id of
 * an event is a digest of the list: a stream that goes on from the id of the one before it misses no change.
 */
export const createLive = (options: LiveOptions = {}): Live => {
  const { everyMs = 1_000, checkMs = 5_000, streamsMax = 200, sessionStreamsMax = 12 } = options
  const followers = new Set<Follower>()
  let timer: Timer | undefined
  let isAsking = false
  let isClosed = false

  const left = (follower: Follower): void => {
    followers.delete(follower)
    if (followers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const turn = async (): Promise<void> => {
    if (isAsking) return
    isAsking = true
    await endThoseOver(followers, checkMs)
    for (const those of Map.groupBy(followers, ({ name }) => name).values()) await tell(those)
    isAsking = false
  }

  return {
    open: (watched) => {
      const own = [...followers].filter(({ sessionId }) => sessionId === watched.sessionId)
      if (isClosed || followers.size >= streamsMax || own.length >= sessionStreamsMax) {
        throw new ApiError(httpErrors.overloaded, 'As many lists are followed as may be.')
      }
      const { body, stream } = openStream(() => left(follower))
      const follower = { ...watched, stream, told: watched.mark, checkedMs: performance.now() }
      followers.add(follower)
      timer ??= setInterval(() => void turn(), everyMs)
      return new Response(body, { headers })
    },
    close: () => {
      isClosed = true
      for (const { stream } of followers) stream.end()
    },
    size: () => followers.size,
  }
}

const endThoseOver = async (followers: Iterable<Follower>, checkMs: number): Promise<void> => {
  const nowMs = performance.now()
  for (const follower of [...followers].filter((one) => nowMs - one.checkedMs >= checkMs)) {
    follower.checkedMs = nowMs
    if (await follower.isSessionOn().catch(() => false)) follower.stream.write(':\n\n')
    else follower.stream.end(over)
  }
}

/** Whom the API refuses, or who cannot be answered, is left to ask for himself: the page shows what it is told. */
const tell = async (those: readonly Follower[]): Promise<void> => {
  const mark = await markOf(those[0]).catch(() => undefined)
  for (const follower of those) {
    if (mark === undefined) follower.stream.end(over)
    else if (mark !== follower.told) {
      follower.told = mark
      follower.stream.write(`id: ${mark}\nevent: changed\ndata: {}\n\n`)
    }
  }
}

const markOf = async (watched: Watched | undefined): Promise<string | undefined> => {
  const answer = await watched?.ask()
  if (answer?.ok !== true) return undefined
  return createHash('sha256')
    .update(await answer.text())
    .digest('base64url')
}
