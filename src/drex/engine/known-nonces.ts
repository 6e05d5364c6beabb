import type { Hex } from '../evm/hex.ts'

/** Which senders' nonces this process has compared with the chain. What makes it doubt them is kept with the lanes. */
export type KnownNonces = {
  readonly has: (sender: Hex) => boolean
  readonly add: (sender: Hex) => void
  /** Compares again before the next signature. */
  readonly forget: (senders: readonly Hex[]) => void
  /** The chain began anew. */
  readonly clear: () => void
}

export const createKnownNonces = (): KnownNonces => {
  const known = new Set<Hex>()
  return {
    has: (sender) => known.has(sender),
    add: (sender) => void known.add(sender),
    forget(senders) {
      for (const sender of senders) known.delete(sender)
    },
    clear: () => known.clear(),
  }
}
