/** The time that Retry-After asks of a channel: we send nothing there before it is over. */
export type Hold = ReturnType<typeof createHold>

export const createHold = () => {
  let untilMs = 0
  return {
    /** 0 when the channel asks for none. */
    leftMs: () => Math.max(0, Math.ceil(untilMs - performance.now())),
    /** Holds the channel for this time from now, unless it is held for longer already. */
    hold: (ms: number): void => {
      untilMs = Math.max(untilMs, performance.now() + ms)
    },
  }
}
