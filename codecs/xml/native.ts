/** What a runtime does faster than the web-standard decoders can. */
export type XmlNative = {
  /** Strict. */
  readonly isUtf8: (bytes: Uint8Array) => boolean
  /** One character for each byte from `start` to before `end`. */
  readonly latin1: (bytes: Uint8Array, start: number, end: number) => string
  /** The bytes must be UTF-8; a byte order mark is kept. */
  readonly utf8: (bytes: Uint8Array, start: number, end: number) => string
}

const latin1 = new TextDecoder('latin1')
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/** For runtimes that offer nothing faster. */
export const webNative: XmlNative = {
  isUtf8: (bytes) => {
    try {
      strict.decode(bytes)
      return true
    } catch {
      return false
    }
  },
  // This is in fact Windows-1252, but it differs from Latin-1 only beyond ASCII, which nobody reads.
  latin1: (bytes, start, end) => latin1.decode(bytes.subarray(start, end)),
  utf8: (bytes, start, end) => lenient.decode(bytes.subarray(start, end)),
}

/** The length of the longest beginning that is valid UTF-8. */
export const firstInvalidUtf8 = (bytes: Uint8Array): number => {
  let good = 0
  let bad = bytes.length
  while (good < bad) {
    const middle = (good + bad + 1) >> 1
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, middle), { stream: true })
      good = middle
    } catch {
      bad = middle - 1
    }
  }
  return good
}
