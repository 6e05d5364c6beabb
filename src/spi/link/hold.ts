/** The time that Retry-After asks of a channel: we send nothing there before it is over. */
export type Hold = {
  /** 0 when the channel asks for none. */
  readonly leftMs: () => number
  /** Holds the channel for so long from now, if it is not held for longer already. */
  readonly hold: (ms: number) => void
}

export const createHold = (nowMs: () => number = () => performance.now()): Hold => {
  let untilMs = 0
  return {
    leftMs: () => Math.max(0, Math.ceil(untilMs - nowMs())),
    hold: (ms) => {
      untilMs = Math.max(untilMs, nowMs() + ms)
    },
  }
}
