import type { Logger, Metrics } from '../observe/index.ts'
import { every } from './clock.ts'
import type { Loop } from './loop.ts'

type StalledLoop = { readonly loop: string; readonly seconds: number }

export type StallWatch = {
  /** The loops whose work has made no progress for too long, the longest first. */
  readonly stalled: () => readonly StalledLoop[]
  /** Logs when a loop stalls and when it goes on. */
  readonly start: () => void
  readonly stop: () => void
}

const lookEveryMsMax = 5_000

/** Finds loops with work but no progress. A loop that goes on is no longer stalled, without any reset. */
export const createStallWatch = (options: {
  /** Called each time, because consumers come and go. */
  readonly loops: () => readonly Loop[]
  /** 0: we never consider a loop stalled. */
  readonly stallMs: number
  readonly logger: Logger
  readonly metrics: Metrics
}): StallWatch => {
  const { loops, stallMs, logger } = options
  const known = new Set<string>()
  let stopLooking = (): void => {}

  const stuck = (): Map<string, number> => {
    const nowMs = performance.now()
    const byName = new Map<string, number>()
    for (const { name, stuckSinceMs } of loops()) {
      const ms = nowMs - (stuckSinceMs() ?? nowMs)
      byName.set(name, Math.max(ms, byName.get(name) ?? 0))
    }
    return byName
  }
  const stalled = (): readonly StalledLoop[] =>
    stallMs === 0
      ? []
      : [...stuck()]
          .filter(([, ms]) => ms >= stallMs)
          .toSorted(([, left], [, right]) => right - left)
          .map(([loop, ms]) => ({ loop, seconds: Math.round(ms / 1000) }))

  const look = (): void => {
    const now = new Map(stalled().map(({ loop, seconds }) => [loop, seconds]))
    for (const [loop, seconds] of now) {
      if (!known.has(loop)) logger.error({ loop, seconds }, 'a loop has stalled: not ready')
      known.add(loop)
    }
    for (const loop of known) {
      if (now.has(loop)) continue
      known.delete(loop)
      logger.info({ loop }, 'a loop that had stalled goes on')
    }
  }
  options.metrics.gauge(
    'trilho_loop_stuck_seconds',
    'How long what a loop has at hand has come no further: work, or for an idle consumer its wait of some seconds.',
    ['loop'],
    (gauge) => {
      gauge.reset()
      for (const [loop, ms] of stuck()) gauge.set({ loop }, ms / 1000)
    },
  )
  return {
    stalled,
    start: () => {
      if (stallMs === 0) return
      stopLooking = every(Math.min(lookEveryMsMax, stallMs / 4), look)
    },
    stop: () => stopLooking(),
  }
}
