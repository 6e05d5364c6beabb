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
  /** Since when each waits, the first of them first: behind a node that lags they end one by one, and all wait long. */
  let waits: ReadonlyMap<string, number> = new Map()
  const isLong = (): boolean => {
    const [firstMs] = waits.values()
    return firstMs !== undefined && performance.now() - firstMs >= patienceMs
  }
  return {
    isLong,
    /** Logs once when ends wait for long, and once when they go on. @param all that wait now */
    look({ network, logger }: EngineContext, all: readonly Unconfirmed[]): void {
      const nowMs = performance.now()
      const sinceMs = ({ id }: Unconfirmed): number => waits.get(id) ?? nowMs
      const ordered = all.toSorted((a, b) => sinceMs(a) - sinceMs(b))
      waits = new Map(ordered.map((one) => [one.id, sinceMs(one)]))
      if (isLong() === isTold) return
      isTold = !isTold
      if (isTold) {
        const told = { network: network.id, silent: ordered[0]?.silent, count: all.length }
        logger.error(told, 'ends wait: too few nodes tell a receipt')
      } else logger.info({ network: network.id }, 'enough nodes tell receipts again')
    },
  }
}

export type Silence = ReturnType<typeof createSilence>
