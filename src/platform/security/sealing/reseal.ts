/** Rotation of the master key: reseals with the present key what a previous one sealed. */
import { SealError, type Sealer } from './sealer.ts'

export type SealedRecord = {
  readonly sealed: Uint8Array
  /** The context it was sealed with: where the record belongs. */
  readonly context: string
  /** Puts other bytes in place of exactly these. @returns false when others are there by now */
  readonly replace: (sealed: Uint8Array) => Promise<boolean>
}

export type ResealCounts = {
  /** Resealed by this run. */
  readonly resealed: number
  /** Already under the present master key before this run, or moved there by others meanwhile. */
  readonly current: number
  /** Altered, or under a master key that is not set; we leave them as they are. */
  readonly unreadable: number
}

export type OpenCounts = { readonly readable: number; readonly unreadable: number }

/** The values that a feature keeps sealed under the master key. */
export type SealedStock = {
  /** The operator's name for them: `wallet keys`. */
  readonly what: string
  readonly reseal: () => Promise<ResealCounts>
  /** Opens every one of them, and changes nothing. */
  readonly verify: () => Promise<OpenCounts>
}

/**
 * @param sealer - asked for when a stock is worked on
 * @param pages - all records, from the first, at each call
 */
export const sealedStock = (
  what: string,
  sealer: () => Sealer,
  pages: () => AsyncIterable<readonly SealedRecord[]>,
): SealedStock => ({
  what,
  reseal: () => reseal(sealer(), pages()),
  verify: () => openAll(sealer(), pages()),
})

const openAll = async (
  sealer: Sealer,
  pages: AsyncIterable<readonly SealedRecord[]>,
): Promise<OpenCounts> => {
  const counts = { readable: 0, unreadable: 0 }
  for await (const page of pages) {
    for (const { sealed, context } of page) {
      try {
        sealer.open(sealed, context).fill(0)
        counts.readable++
      } catch (error) {
        if (!(error instanceof SealError)) throw error
        counts.unreadable++
      }
    }
  }
  return counts
}

/**
 * Safe beside a running gateway that has both keys, safe to interrupt and to repeat: each record is
 * one statement, guarded by the bytes it replaces.
 */
const reseal = async (
  sealer: Sealer,
  pages: AsyncIterable<readonly SealedRecord[]>,
): Promise<ResealCounts> => {
  const counts = { resealed: 0, current: 0, unreadable: 0 }
  for await (const page of pages) {
    for (const record of page) counts[await resealOne(sealer, record)]++
  }
  return counts
}

const resealOne = async (
  sealer: Sealer,
  { sealed, context, replace }: SealedRecord,
): Promise<keyof ResealCounts> => {
  if (!sealer.isStale(sealed)) return 'current'
  let plain: Uint8Array
  try {
    plain = sealer.open(sealed, context)
  } catch (error) {
    if (error instanceof SealError) return 'unreadable'
    throw error
  }
  try {
    return (await replace(sealer.seal(plain, context))) ? 'resealed' : 'current'
  } finally {
    plain.fill(0)
  }
}
