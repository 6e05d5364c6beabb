import { createWholeLooks } from './lows.ts'

/** The concurrency of an endpoint that we do not know yet; success doubles it, failure sets it to one. */
const concurrencyFirst = 8
/**
 * Attempts of a process to all endpoints together: the runtime makes 256 requests of its own at once, and the rails'
 * requests must not wait behind receivers that do not answer.
 */
export const runningMax = 96
/** The same to all endpoints whose last attempt failed: however many there are, the others go on. */
export const failingRunningMax = runningMax / 2
/** The most attempts of an endpoint, as a multiple of those left for others. */
const heldPerFree = 2
const breakerFirstMs = 1_000
const breakerMaxMs = 60_000
/** Consecutive failures after which an endpoint rests. */
const breakerFailures = 5

/** An endpoint that takes attempts, with its owner. */
type Receiver = { readonly id: string; readonly account: string; readonly url: string }

/** One endpoint's own queue. The experience with one URL says nothing of another, which has its own queue. */
export type Lane = {
  readonly account: string
  running: number
  /** The number of its last attempt, among all attempts: the lower, the longer it waits for its turn. */
  begun: number
  concurrency: number
  failures: number
  /** Where a partial look begins: it takes nothing earlier. */
  low: Date | undefined
  readonly isWholeNow: () => boolean
  /** On the clock of `performance.now()`: no attempt may begin before. */
  restsUntilMs: number
}

/** How many attempts may begin now: to each endpoint that may begin one, in the order of their turns, and to all these. */
export type Free = { readonly rooms: ReadonlyMap<string, number>; readonly free: number }

export type Lanes = {
  readonly of: (receiver: Receiver) => Lane
  /** Counts an attempt that begins. */
  readonly begin: (receiver: Receiver) => Lane
  /** Forgets others. */
  readonly keep: (receivers: readonly Receiver[]) => void
  /**
   * Counts those whose last attempt failed, or the others alone. First comes whose account has the fewest attempts,
   * then who has the fewest, then who waits longest.
   */
  readonly free: (receivers: readonly Receiver[], isFailing: boolean) => Free
  /** Where looks for these begin; receivers that get a whole look are missing. */
  readonly lows: (receivers: readonly Receiver[], free: Free) => ReadonlyMap<string, Date>
}

const keyOf = ({ id, url }: Receiver): string => `${id} ${url}`

const freshLane = (account: string, concurrency: number): Lane => ({
  account,
  running: 0,
  begun: 0,
  concurrency,
  failures: 0,
  low: undefined,
  isWholeNow: createWholeLooks(),
  restsUntilMs: 0,
})

export const createLanes = (concurrencyMax: number): Lanes => {
  const lanes = new Map<string, Lane>()
  let begun = 0

  const of = (receiver: Receiver): Lane => {
    const key = keyOf(receiver)
    let lane = lanes.get(key)
    if (lane === undefined) {
      lane = freshLane(receiver.account, Math.min(concurrencyFirst, concurrencyMax))
      lanes.set(key, lane)
    }
    return lane
  }

  const runningByAccount = (): ReadonlyMap<string, number> => {
    const sums = new Map<string, number>()
    for (const { account, running } of lanes.values()) {
      sums.set(account, (sums.get(account) ?? 0) + running)
    }
    return sums
  }

  /** Attempts that may begin now. */
  const left = (isFailing: boolean): number => {
    let [running, failing] = [0, 0]
    for (const lane of lanes.values()) {
      running += lane.running
      if (lane.failures > 0) failing += lane.running
    }
    const all = Math.max(0, runningMax - running)
    return isFailing ? Math.min(all, Math.max(0, failingRunningMax - failing)) : all
  }

  return {
    of,
    begin: (receiver) => {
      const lane = of(receiver)
      lane.running++
      lane.begun = ++begun
      return lane
    },
    keep: (receivers) => {
      const kept = new Set(receivers.map(keyOf))
      for (const [key, lane] of lanes) {
        if (lane.running === 0 && !kept.has(key)) lanes.delete(key)
      }
    },
    lows: (receivers, { rooms }) =>
      new Map(
        receivers.flatMap((receiver): [string, Date][] => {
          if (!rooms.has(receiver.id)) return []
          const { isWholeNow, low } = of(receiver)
          return isWholeNow() || low === undefined ? [] : [[receiver.id, low]]
        }),
      ),
    free: (receivers, isFailing) => {
      const nowMs = performance.now()
      const free = left(isFailing)
      const roomOf = ({ concurrency, running, restsUntilMs }: Lane): number => {
        if (restsUntilMs > nowMs) return 0
        const share = Math.floor((heldPerFree * free - running) / (heldPerFree + 1))
        // An endpoint without a running attempt may always begin one.
        return Math.min(concurrency - running, free, running === 0 ? Math.max(1, share) : share)
      }
      const ofAccount = runningByAccount()
      const turns = receivers
        .map((receiver) => {
          const lane = of(receiver)
          return { id: receiver.id, lane, shared: ofAccount.get(lane.account) ?? 0 }
        })
        .filter(({ lane }) => lane.failures > 0 === isFailing)
        .toSorted(
          (a, b) =>
            a.shared - b.shared || a.lane.running - b.lane.running || a.lane.begun - b.lane.begun,
        )
      const rooms = turns.flatMap(({ id, lane }): [string, number][] => {
        const room = roomOf(lane)
        return room > 0 ? [[id, room]] : []
      })
      return { rooms: new Map(rooms), free }
    },
  }
}

/** Success widens the lane; failure narrows it to one, and several in a row let the endpoint rest. */
export const notePace = (lane: Lane, succeeded: boolean, concurrencyMax: number): void => {
  if (succeeded) {
    lane.failures = 0
    lane.restsUntilMs = 0
    lane.concurrency = Math.min(concurrencyMax, lane.concurrency * 2)
    return
  }
  lane.failures++
  lane.concurrency = 1
  const beyond = lane.failures - breakerFailures
  if (beyond >= 0) {
    const restMs = Math.min(breakerMaxMs, breakerFirstMs * 2 ** Math.min(beyond, 10))
    lane.restsUntilMs = performance.now() + restMs
  }
}
