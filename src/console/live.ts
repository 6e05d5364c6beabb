import { createHash } from 'node:crypto'
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { inTime } from '#src/platform/runtime/index.ts'
import { beatMs } from './followed.ts'
import { openStream, type Stream } from './stream.ts'

/** A thing of the API that a page shows: a list of payments, say, or the state of the gateway's parts. */
type Shown = {
  /** The path as the page named it. */
  readonly path: string
  /** Paths with the same name are asked for once for all streams. */
  readonly name: string
  /** Asks the API for it, with the rights of the session. */
  readonly ask: () => Promise<Response>
  /** We ask for it in one of so many turns. */
  readonly turns: number
}

type Watched = {
  /** The streams of one session count together. */
  readonly sessionId: string
  readonly shown: readonly Shown[]
  readonly isSessionOn: () => Promise<boolean>
  /** The id of the last event that the stream before this one wrote; undefined: it wrote none. */
  readonly lastId: string | undefined
}

/** Streams of server-sent events that say what has changed; the page then asks the API for it. */
export type Live = {
  /** @throws ApiError `overloaded`: as many run as may, or the process is about to end */
  readonly open: (watched: Watched) => Response
  /** Ends all streams and takes no more: their pages come back, to a process that stays if there is one. */
  readonly close: () => void
  /** How many run. */
  readonly size: () => number
}

export type LiveOptions = {
  /** Length of a turn. */
  readonly everyMs?: number
  /** How often we look at a stream's session, and tell its page that the stream is there. */
  readonly checkMs?: number
  /** An ask without an answer by then counts as failed. */
  readonly askMs?: number
  readonly streamsMax?: number
  readonly sessionStreamsMax?: number
}

/** With the mark that the page got last. Undefined: it got none; empty: we tell it no more. */
type Followed = Shown & { told: string | undefined }
type Follower = Omit<Watched, 'shown'> & {
  readonly stream: Stream
  readonly followed: readonly Followed[]
}
type Place = readonly [Follower, Followed]

const askMsDefault = 15_000
/** How many asks run at once: they share the database pool with payments. */
const asksMax = 4
/** How many of them one session may have, so that others keep their room. */
const sessionAsksMax = 2
const refusedMark = ''
const markCharsMax = 16
/** Sent whatever the database does: a page that hears nothing for some time counts its connection as lost. */
const beat = 'event: beat\ndata: {}\n\n'
/** After it, the page asks for everything by itself, and learns why. */
const over = 'event: over\ndata: {}\n\n'
const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
}

/**
 * One timer asks for everything that pages watch, side by side, each thing once however many pages show it. The id of
 * an event is the digests of all that its page shows: a stream that goes on from the former stream's id misses no
 * change.
 */
export const createLive = (logger: Logger, options: LiveOptions = {}): Live => {
  const { everyMs = 1_000, checkMs = beatMs, streamsMax = 200, sessionStreamsMax = 12 } = options
  const asking = { askMs: options.askMs ?? askMsDefault, logger }
  const followers = new Set<Follower>()
  const asks = createAsks(followers, asking)
  let timer: Timer | undefined
  let turns = 0
  let isClosed = false

  const left = (follower: Follower): void => {
    followers.delete(follower)
    if (followers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const turn = (): void => {
    turns += 1
    asks(dueBy(followers, turns))
  }

  return {
    open: ({ shown, ...watched }) => {
      const own = [...followers].filter(({ sessionId }) => sessionId === watched.sessionId)
      if (isClosed || followers.size >= streamsMax || own.length >= sessionStreamsMax) {
        throw new ApiError(httpErrors.overloaded, 'As many lists are followed as may be.')
      }
      const { body, stream } = openStream(() => {
        clearInterval(check)
        left(follower)
      })
      const marks = watched.lastId?.split('.') ?? []
      const followed = shown.map((one, at) => ({ ...one, told: marks[at] || undefined }))
      const follower = { ...watched, stream, followed }
      const check = setInterval(checking(follower, asking), checkMs)
      followers.add(follower)
      timer ??= setInterval(turn, everyMs)
      return new Response(body, { headers })
    },
    close: () => {
      isClosed = true
      for (const { stream } of followers) stream.end()
    },
    size: () => followers.size,
  }
}

type Asking = { readonly askMs: number; readonly logger: Logger }

/** The answer, or `instead` if asking fails or is late. */
const answerOr = async <T>(
  instead: T,
  ask: () => Promise<T>,
  { askMs, logger }: Asking,
): Promise<T> => {
  try {
    return await inTime(ask(), askMs)
  } catch (err) {
    logger.warn({ err }, 'what a page of the console shows could not be asked for')
    return instead
  }
}

/** Tells that the stream is there, and ends it if its session is over. */
const checking = ({ isSessionOn, stream }: Follower, asking: Asking): (() => Promise<void>) => {
  let isLooking = false
  return async () => {
    stream.write(beat)
    if (isLooking) return
    isLooking = true
    if (!(await answerOr(false, isSessionOn, asking))) stream.end(over)
    isLooking = false
  }
}

type Due = ReadonlyMap<string, readonly Place[]>

/**
 * Asks for everything that is due, except things already asked for: as soon as there is room, for each session in turn.
 */
const createAsks = (followers: ReadonlySet<Follower>, asking: Asking): ((due: Due) => void) => {
  /** Each with the session whose rights the ask uses. */
  const running = new Map<string, string | undefined>()
  const waiting = new Map<string, readonly Place[]>()
  /** Sessions in the order of their asks, the latest last. */
  const asked = new Set<string | undefined>()
  const ask = async (name: string, places: readonly Place[]): Promise<void> => {
    const session = sessionOf(places)
    waiting.delete(name)
    running.set(name, session)
    asked.delete(session)
    asked.add(session)
    try {
      await tell(places, asking)
    } catch (err) {
      asking.logger.error({ err }, 'the pages of the console could not be told what has changed')
    }
    running.delete(name)
    fill()
  }
  const fill = (): void => {
    while (running.size < asksMax) {
      const next = nextOf(waiting, [...running.values()], [...asked])
      if (next === undefined) return
      void ask(...next)
    }
  }
  return (due) => {
    for (const [name, places] of waiting) {
      if (!places.some(([one]) => followers.has(one))) waiting.delete(name)
    }
    // A waiting ask keeps its turn.
    for (const [name, places] of due) if (!running.has(name)) waiting.set(name, places)
    const sessions = new Set([...followers].map(({ sessionId }) => sessionId))
    for (const session of asked) if (!sessions.has(session ?? '')) asked.delete(session)
    fill()
  }
}

const sessionOf = ([place]: readonly Place[]): string | undefined => place?.[0].sessionId

/** Among the sessions with room, the one asked for longest ago; of its asks, the one that has waited longest. */
const nextOf = (
  waiting: ReadonlyMap<string, readonly Place[]>,
  running: readonly (string | undefined)[],
  asked: readonly (string | undefined)[],
): [string, readonly Place[]] | undefined => {
  const free = [...Map.groupBy(waiting, ([, places]) => sessionOf(places))].filter(
    ([session]) => running.filter((one) => one === session).length < sessionAsksMax,
  )
  return free.toSorted(([a], [b]) => asked.indexOf(a) - asked.indexOf(b))[0]?.[1][0]
}

/** The things to ask for in this turn, each with all who show it; a thing that nobody was told of yet is always due. */
const dueBy = (followers: Iterable<Follower>, turn: number): Due => {
  const places = [...followers].flatMap((follower) =>
    follower.followed.map((followed): Place => [follower, followed]),
  )
  const due = places.filter(
    ([, { told, turns }]) => told === undefined || (told !== refusedMark && turn % turns === 0),
  )
  return Map.groupBy(due, ([, { name }]) => name)
}

/** If the API refuses or fails, we tell the page so. The page then asks by itself and shows the API's answer. */
const tell = async (places: readonly Place[], asking: Asking): Promise<void> => {
  const mark = await answerOr(refusedMark, () => markOf(places[0]?.[1]), asking)
  for (const [{ stream, followed }, one] of places) {
    if (mark === one.told) continue
    one.told = mark
    const id = followed.map(({ told = '' }) => told).join('.')
    const event = mark === refusedMark ? 'refused' : 'changed'
    stream.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(one.path)}\n\n`)
  }
}

const markOf = async (shown: Shown | undefined): Promise<string> => {
  const answer = await shown?.ask()
  if (shown === undefined || answer?.ok !== true) return refusedMark
  const text = await answer.text()
  const digest = createHash('sha256').update(withoutClocks(text, shown.path)).digest('base64url')
  return digest.slice(0, markCharsMax)
}

/** Members that change while nothing happens. */
const clocks = /_seconds$|^last_echo_at$|^round_trip_ms$|^(?:from|to)$/
/** A balance has the time of the last block besides. */
const clocksOfBalance = new RegExp(`${clocks.source}|^updated_at$`)

const withoutClocks = (text: string, path: string): string => {
  const own = path.startsWith('/v1/drex/balance/') ? clocksOfBalance : clocks
  return JSON.stringify(JSON.parse(text), (name, value: unknown) => (own.test(name) ? null : value))
}
