import type { Hex } from '../evm/hex.ts'

/** Which senders' nonces this process has compared with the chain. */
export type KnownNonces = {
  readonly has: (sender: Hex) => boolean
  readonly add: (sender: Hex) => void
  /** Another's transaction has a nonce of theirs: compare again, and look at all that came since. */
  readonly doubt: (sender: Hex) => void
  readonly isDoubted: (sender: Hex) => boolean
  /** The chain began anew. */
  readonly clear: () => void
}

export const createKnownNonces = (): KnownNonces => {
  const known = new Set<Hex>()
  const doubted = new Set<Hex>()
  return {
    has: (sender) => known.has(sender),
    add(sender) {
      known.add(sender)
      doubted.delete(sender)
    },
    doubt(sender) {
      known.delete(sender)
      doubted.add(sender)
    },
    isDoubted: (sender) => doubted.has(sender),
    clear() {
      known.clear()
      doubted.clear()
    },
  }
}
