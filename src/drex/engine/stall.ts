/** A chain that makes no blocks: nothing ends on it, and nobody but us may notice. */
import type { EngineContext } from './context.ts'

export type StallLook = {
  /** Logs once when the chain stands still, and once when it goes on. */
  readonly look: () => void
  /** Seconds since the last new block, once they are too many. */
  readonly stalledSeconds: () => number | undefined
}

export const createStallLook = ({ heads, logger, network, settings }: EngineContext): StallLook => {
  let isTold = false
  const stalledSeconds = (): number | undefined => {
    const ageMs = heads.ageMs() ?? 0
    const isStalled = settings.stallMs > 0 && ageMs >= settings.stallMs
    return isStalled ? Math.floor(ageMs / 1_000) : undefined
  }
  return {
    stalledSeconds,
    look() {
      const seconds = stalledSeconds()
      if ((seconds !== undefined) === isTold) return
      isTold = !isTold
      if (seconds === undefined) logger.info({ network: network.id }, 'the chain goes on')
      else logger.error({ network: network.id, seconds }, 'the chain makes no new blocks')
    },
  }
}
