/** Milliseconds that went by, by a clock that may be set back: then it stands still for that moment only. */
export const steadyClock = (now: () => number): (() => number) => {
  let lastMs = now()
  let goneMs = 0
  return () => {
    const atMs = now()
    goneMs += Math.max(0, atMs - lastMs)
    lastMs = atMs
    return goneMs
  }
}
