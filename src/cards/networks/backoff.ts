export type Backoff = { readonly baseMs: number; readonly maxMs: number }

/** A time from 0 to the bound that doubles with each attempt: full jitter, so that many do not come at once. */
export const backoffDelayMs = (
  attempt: number,
  { baseMs, maxMs }: Backoff,
  random: () => number,
): number => random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30))
