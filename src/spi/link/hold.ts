/** What Retry-After asks of a channel: nothing is sent there before. */
export type Hold = {
  /** 0 when nothing is asked. */
  readonly leftMs: () => number
  /** From now on for so long, if not for longer already. */
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
