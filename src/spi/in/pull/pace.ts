import { type Backoff, backoffMs } from '#src/platform/runtime/index.ts'
import type { PulledMessage } from '../../link/types.ts'

/** Messages whose repetition is noticed. */
const rememberedMax = 1_000
/** How many answers in a row may bring no news: the interface repeats what it may have told before a failure. */
const staleMax = 3
/** The interface holds a read for seconds before it says that there is nothing. */
const heldMsMin = 50
/** A message that becomes available meanwhile is still read in time. */
const emptyPauseMs = 100

/** What one answer brought. */
type Brought = {
  readonly messages: readonly PulledMessage[]
  /** Tells an answer apart that could not be read; undefined if it could. */
  readonly unread: string | undefined
  /** How long it took. */
  readonly tookMs: number
}

export type Pace = ReturnType<typeof createPace>

/**
 * Keeps an interface that answers every read at once from being asked as fast as we can, and what it repeats from being
 * stored as fast as that.
 *
 * @param onStale - called once for each time that it begins
 */
export const createPace = (retry: Backoff, onStale: () => void) => {
  const known = new Set<string>()
  let stale = 0
  const isNew = (key: string): boolean => {
    if (known.has(key)) return false
    known.add(key)
    if (known.size > rememberedMax)
      for (const oldest of known.values().take(1)) known.delete(oldest)
    return true
  }
  return {
    /** How long to wait before the next read: 0, unless the interface answers at once and again without news. */
    waitMs: ({ messages, unread, tookMs }: Brought): number => {
      const keys = messages.map(({ resourceId, xml }) => `${resourceId} ${Bun.hash.xxHash64(xml)}`)
      const news = [...keys, ...(unread === undefined ? [] : [unread])].filter(isNew)
      const isEmpty = messages.length === 0 && unread === undefined
      stale = news.length > 0 || (isEmpty && tookMs >= heldMsMin) ? 0 : stale + 1
      if (stale <= staleMax) return 0
      if (stale === staleMax + 1) onStale()
      return isEmpty ? emptyPauseMs : backoffMs(stale - staleMax, retry)
    },
  }
}
