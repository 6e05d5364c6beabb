import { type Client, createHints, hint } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { laneOf } from './lanes.ts'

const channel = 'trilho_broker'
/** The server takes less than 8000 bytes; the search finds what is left out. */
const lanesMax = 200

/** The least new id of each lane. */
type News = Map<number, bigint>

export type Notifier = {
  /** Once they are committed. */
  readonly tell: (ids: readonly bigint[]) => void
  readonly listen: () => void
  /** Whether other processes are heard, as far as known. Behind a pooler of transactions they are not. */
  readonly isHearing: () => boolean
  /** A message had come, and no notice of it was heard. */
  readonly missed: () => void
  readonly close: () => Promise<void>
}

/**
 * Tells consumers which lanes have news: those of this process directly, the others by NOTIFY. We send it outside of
 * the publishing transactions, because NOTIFY makes the commits of a server wait for each other, and gather it; not for
 * lanes that this process reads itself. A notice is only a hint: a consumer that misses it finds the messages a little
 * later.
 */
export const createNotifier = (
  sql: Client,
  {
    hear,
    isOurs,
    logger,
  }: {
    readonly hear: (ids: readonly bigint[]) => void
    /**
     * Nobody else reads this lane now. A process that is given it begins below the waiting messages; so does one that
     * takes it over from a process that ended; it misses only very late commits, which the sweep finds.
     */
    readonly isOurs: (lane: number) => boolean
    readonly logger: Logger
  },
): Notifier => {
  const fresh: News = new Map()
  const hints = createHints(sql, channel, () => {
    const payload = [...fresh.values()].slice(0, lanesMax).join(' ')
    fresh.clear()
    return payload
  })
  let listening: ReturnType<typeof listen> | undefined
  let isHearing = true

  const notify = (payload: string): void => {
    void hint(sql, channel, payload)
  }
  const listen = async () => {
    try {
      // If we hear our own notices, we hear those of others, too.
      return await sql.listen(channel, onPayload, () => isHearing || notify(''))
    } catch (err) {
      isHearing = false
      logger.warn({ err }, 'LISTEN failed: looking more often')
      return undefined
    }
  }
  const onPayload = (payload: string): void => {
    isHearing = true
    hear(idsOf(payload))
  }
  const tell = (ids: readonly bigint[]): void => {
    if (ids.length === 0) return
    hear(ids)
    const others = ids.filter((id) => !isOurs(laneOf(id)))
    for (const id of others) addLeast(fresh, id)
    if (others.length > 0) hints.tell()
  }
  return {
    tell,
    listen: () => {
      listening ??= listen()
    },
    isHearing: () => isHearing,
    missed: () => {
      isHearing = false
      // The notice may only have come between a commit and its hint: a process without others hears itself.
      notify('')
    },
    close: async () => {
      hints.close()
      const listener = await listening
      await listener?.unlisten().catch(() => {})
    },
  }
}

/** Anybody may notify, even an earlier version in another form. */
const idsOf = (payload: string): readonly bigint[] =>
  payload.split(' ').flatMap((text) => (/^\d{1,19}$/.test(text) ? BigInt(text) : []))

const addLeast = (news: News, id: bigint): void => {
  const lane = laneOf(id)
  const least = news.get(lane)
  if (least === undefined || id < least) news.set(lane, id)
}
