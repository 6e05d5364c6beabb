/** The bound of the first pause, and the bound to which it doubles. */
export type Backoff = { readonly backoffFirstMs: number; readonly backoffMaxMs: number }

/**
 * Capped exponential backoff with full jitter: any time from 0 to the cap of this attempt, so that many
 * who wait for one failed service do not come back together.
 *
 * @param attempt - from 1
 */
export const backoffMs = (
  attempt: number,
  { backoffFirstMs, backoffMaxMs }: Backoff,
  random: () => number = Math.random,
): number => random() * Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.min(attempt - 1, 30))

/** Waits until the time is over or `signal` is aborted; returns false if it is aborted. */
export const pause = async (ms: number, signal: AbortSignal): Promise<boolean> => {
  if (signal.aborted) return false
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, ms)
  const wake = (): void => over.resolve()
  signal.addEventListener('abort', wake)
  await over.promise
  clearTimeout(timer)
  signal.removeEventListener('abort', wake)
  return !signal.aborted
}
