/** The JOSE feature signs; `src/main.ts` passes it. */
export type SignPayload = {
  readonly sign: (kid: string, content: Uint8Array, jku: string) => Promise<string>
  readonly keySet: () => Promise<readonly object[]>
}

/** A payload tells when it was read to the second: whoever reads it within that second may be given the same bytes. */
export const toTheSecond = (at: Date): Date => new Date(Math.floor(at.getTime() / 1_000) * 1_000)

/** Signatures that are kept at once, each of some KiB. */
export const keptMax = 2_000

/**
 * A signature costs more than all else of a read, so that what is read again within a second as it was is signed once.
 * It is found by the whole text, which is made anew of what is stored at each read: a change, by whatever process, and
 * the next day are other texts.
 *
 * @param sign of one text
 */
export const createPayloadSigner = (
  sign: (text: string) => Promise<string>,
  now: () => Date,
): ((text: string) => Promise<string>) => {
  const kept = new Map<string, Promise<string>>()
  let second = 0
  return (text) => {
    const current = toTheSecond(now()).getTime()
    if (current !== second) kept.clear()
    second = current
    const known = kept.get(text)
    if (known !== undefined) return known
    if (kept.size >= keptMax) kept.clear()
    const signed = sign(text)
    kept.set(text, signed)
    // What could not be signed is asked for again.
    signed.catch(() => kept.delete(text))
    return signed
  }
}
