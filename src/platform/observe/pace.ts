/** How far work has come: how much of the whole, roughly, after how long. */
export type Pace = { readonly done: number; readonly total: number; readonly afterMs: number }

/** Lines of a log about work that goes on: often enough for a person who waits, too seldom to fill it. */
export const tellEveryMs = 10_000

/** How much a second, and how long the rest takes at this rate; undefined while that cannot be known. */
export const rateOf = ({
  done,
  total,
  afterMs,
}: Pace): { readonly perSecond: number; readonly secondsLeft: number | undefined } => {
  const perSecond = afterMs === 0 ? 0 : done / (afterMs / 1000)
  // The total may turn out larger than estimated.
  const left = Math.max(0, total - done)
  return { perSecond, secondsLeft: perSecond === 0 ? undefined : Math.ceil(left / perSecond) }
}
