import { CodecError } from '#codecs/bytes'

// The check of a whole set of entries: the XOR of their content identifiers, one check for each type of key.
// Source: DICT API, section "Cálculo do VSync".

/** The check of no entry. */
export const emptyVsync = '0'.repeat(64)

const form = /^[0-9a-f]{64}$/
const words = 4

/**
 * The check of a set of content identifiers. An update of an entry takes the old identifier out and puts the new one
 * in; the order never matters.
 */
export type Vsync = {
  /**
   * Puts an identifier in, or takes it out if it was in.
   *
   * @throws CodecError `vsync_cid` unless it is 64 lower-case hexadecimal digits; the check stays as it was
   */
  readonly toggle: (cid: string) => void
  /** 64 lower-case hexadecimal digits. */
  readonly hex: () => string
}

/**
 * Starts a check from one that was kept.
 *
 * @throws CodecError `vsync_cid` as `toggle` does
 * @example
 * const check = createVsync()
 * for (const cid of cids) check.toggle(cid)
 * check.hex() === theirs
 */
export const createVsync = (from: string = emptyVsync): Vsync => {
  const bytes = new Uint8Array(words * 8)
  const check = new BigUint64Array(bytes.buffer)
  const next = new Uint8Array(bytes.length)
  const nextWords = new BigUint64Array(next.buffer)

  const toggle = (cid: string): void => {
    if (!form.test(cid)) {
      throw new CodecError('vsync_cid', 0, 'an identifier is 64 lower-case hexadecimal digits')
    }
    next.setFromHex(cid)
    for (let i = 0; i < words; i++) check[i]! ^= nextWords[i]!
  }

  toggle(from)
  return { toggle, hex: () => bytes.toHex() }
}
