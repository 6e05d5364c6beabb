/**
 * Ends that wait because too few nodes tell a receipt that others tell: one of two that is away, or lags for ever, holds
 * up every end, and nobody but us may notice.
 */
import type { EngineContext } from './context.ts'

/** Nodes are some blocks apart: what waits for less is not worth telling. */
const patienceMs = 60_000

/** A transaction that is deep enough, and the hosts of the nodes that do not tell its receipt. */
export type Unconfirmed = { readonly id: string; readonly silent: readonly string[] }

export const createSilence = () => {
  let isTold = false
  /** One stands for all: while a node keeps silent, none of them ends. */
  let oldest: { readonly id: string; readonly sinceMs: number } | undefined
  const isLong = (): boolean =>
    oldest !== undefined && performance.now() - oldest.sinceMs >= patienceMs
  return {
    isLong,
    /** Logs once when ends wait for long, and once when they go on. @param all that wait now */
    look({ network, logger }: EngineContext, all: readonly Unconfirmed[]): void {
      const same = all.find(({ id }) => id === oldest?.id)
      if (same === undefined) {
        oldest = all[0] && { id: all[0].id, sinceMs: performance.now() }
      }
      if (isLong() === isTold) return
      isTold = !isTold
      if (isTold) {
        const told = { network: network.id, silent: same?.silent, count: all.length }
        logger.error(told, 'ends wait: too few nodes tell a receipt')
      } else logger.info({ network: network.id }, 'enough nodes tell receipts again')
    },
  }
}

export type Silence = ReturnType<typeof createSilence>
