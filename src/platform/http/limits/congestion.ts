/**
 * How many requests may be in our own hands at once, found by how long they stay there: if requests came faster than
 * they
 * leave, they would wait, and the longest waiting would give up before they are served. A request is in our hands
 * unless
 * it waits for its body or for a counterparty, so a slow card network makes nothing smaller here. A burst is let in as
 * it comes; only where requests stay too long on the average are there fewer, and more again as soon as they do not.
 */
export type Congestion = {
  /** False: as many are in our hands as may be. True: this one is too, until {@link Congestion.leave}. */
  readonly enter: () => boolean
  readonly leave: () => void
  /** Takes a request out of our hands until {@link Congestion.resume}. */
  readonly pause: () => void
  readonly resume: () => void
  /** Takes a request out of our hands while `wait` lasts. */
  readonly away: <T>(wait: Promise<T>) => Promise<T>
}

export type CongestionOptions = {
  readonly requestsMax: number
  /** The clock of `performance.now()`. */
  readonly nowMs: () => number
}

/** How long a request may be in our own hands, on the average of a window. */
export const ownMsMax = 75
/** We always let so many in: fewer would not use what a database and several cores can do at once. */
export const requestsMin = 64
/** How often the bound is judged. */
export const windowMs = 100
/** The growth per window. */
const growth = 1.1
/** A window of a single long pause says nothing about how many there should be. */
const shrinkMin = 0.5

export const createCongestion = ({ requestsMax, nowMs }: CongestionOptions): Congestion => {
  const floor = Math.min(requestsMin, requestsMax)
  let bound = requestsMax
  let own = 0
  let left = 0
  let atMs = nowMs()
  let startMs = atMs
  /** Time that requests have been in our hands within the window, all of them together. */
  let heldMs = 0

  const judge = (lastedMs: number): void => {
    // Little's law: how long one stays is how many there are, by how many leave in that time. If the load has just
    // begun, more are there now than on the average, and the last of them waits longest.
    const many = Math.max(heldMs / lastedMs, own)
    const stayMs = (many * lastedMs) / Math.max(1, left)
    bound =
      stayMs > ownMsMax
        ? Math.max(
            floor,
            Math.floor(Math.min(bound, many) * Math.max(shrinkMin, ownMsMax / stayMs)),
          )
        : Math.min(requestsMax, Math.ceil(bound * growth ** (lastedMs / windowMs)))
  }

  const pass = (): void => {
    const now = nowMs()
    heldMs += own * (now - atMs)
    atMs = now
    const lastedMs = now - startMs
    if (lastedMs < windowMs) return
    judge(lastedMs)
    startMs = now
    heldMs = 0
    left = 0
  }

  const put = (change: 1 | -1): void => {
    pass()
    own += change
  }

  const pause = (): void => put(-1)
  const resume = (): void => put(1)

  return {
    pause,
    resume,
    enter: () => {
      pass()
      if (own >= bound) return false
      own++
      return true
    },
    leave: () => {
      put(-1)
      left++
    },
    away: async (wait) => {
      pause()
      try {
        return await wait
      } finally {
        resume()
      }
    },
  }
}
