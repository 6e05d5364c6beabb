import type { Hex } from '../evm/hex.ts'

/** The wallets that are left alone for a while, after something of theirs failed. */
export const createRests = (restMs: number) => {
  const untilMs = new Map<Hex, number>()
  const has = (sender: Hex): boolean => {
    const endMs = untilMs.get(sender)
    if (endMs === undefined) return false
    if (endMs > performance.now()) return true
    untilMs.delete(sender)
    return false
  }
  return {
    begin: (sender: Hex): void => {
      untilMs.set(sender, performance.now() + restMs)
    },
    has,
    senders: () => [...untilMs.keys()].filter(has),
  }
}
