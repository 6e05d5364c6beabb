/** Requests that wait for their callers: none keeps a room for long by sending nothing, or little. */

/** A request that waits for its caller. */
export type Waiting = {
  /** The look that it counts from: the first after it began, so that no request asks the clock; written here. */
  sinceMs: number
  /** False: it may wait as long as nobody needs its room. */
  readonly isTimed: boolean
  /** Called once, after which it waits no more. */
  readonly giveUp: (reason: GiveUpReason) => void
}

/** The request's time is over, or another needs its room. */
export type GiveUpReason = 'late' | 'needed'

export type Callers = {
  readonly begin: (waiting: Waiting) => void
  /** False: it has given up before. */
  readonly end: (waiting: Waiting) => boolean
  /** Makes the one that has waited longest give up its room, if that is long; false if there is none. */
  readonly makeRoom: () => boolean
}

/** Every route's largest body comes within this over 3 Mbit/s. */
export const callerMsMax = 30_000
/** A request that has waited for less keeps its room, however many come: nearly every body comes with its headers. */
export const patienceMs = 2_000
export const lookEveryMs = 1_000

/** One timer for all of them: a request costs two changes of a set. */
export const createCallers = (nowMs: () => number = () => performance.now()): Callers => {
  /** In the order of their beginning. */
  const waiting = new Set<Waiting>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let nextLookMs = 0

  const giveUp = (one: Waiting, reason: GiveUpReason): void => {
    waiting.delete(one)
    one.giveUp(reason)
  }
  const look = (): void => {
    timer = undefined
    const atMs = nowMs()
    for (const one of waiting) {
      // After a late look, since the process stood still, requests that had just come must not pay for it.
      if (one.sinceMs === nextLookMs) one.sinceMs = atMs
      else if (one.isTimed && one.sinceMs <= atMs - callerMsMax) giveUp(one, 'late')
    }
    if (waiting.size > 0) watch()
  }
  const watch = (): void => {
    nextLookMs = nowMs() + lookEveryMs
    timer = setTimeout(look, lookEveryMs)
    timer.unref()
  }

  return {
    begin: (one) => {
      if (timer === undefined) watch()
      one.sinceMs = nextLookMs
      waiting.add(one)
    },
    end: (one) => waiting.delete(one),
    makeRoom: () => {
      for (const one of waiting) {
        if (one.sinceMs === nextLookMs || nowMs() - one.sinceMs < patienceMs) return false
        giveUp(one, 'needed')
        return true
      }
      return false
    },
  }
}
