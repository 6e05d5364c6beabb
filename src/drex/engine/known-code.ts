import type { Hex } from '../evm/hex.ts'

/** Addresses where code was seen, which is not asked for again. */
export type KnownCode = {
  readonly has: (address: Hex) => boolean
  readonly add: (address: Hex) => void
  /** The chain is another than before, and may lack what was seen. */
  readonly clear: () => void
}

const knownMax = 10_000

export const createKnownCode = (): KnownCode => {
  const known = new Set<Hex>()
  return {
    has: (address) => known.has(address),
    add(address) {
      if (known.size < knownMax) known.add(address)
    },
    clear: () => known.clear(),
  }
}
