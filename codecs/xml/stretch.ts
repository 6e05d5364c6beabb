/**
 * ASCII bytes of an earlier document. A document is compared with them in numbers of eight bytes. The last number
 * overlaps the one before it. Fields without `#`: JavaScriptCore is slow with those.
 */
export class Stretch {
  readonly bytes: Uint8Array
  readonly length: number
  private readonly words: Float64Array

  constructor(bytes: Uint8Array) {
    const { length } = bytes
    const view = new DataView(bytes.buffer, bytes.byteOffset, length)
    this.bytes = bytes
    this.length = length
    this.words = Float64Array.from({ length: length < 8 ? 0 : Math.ceil(length / 8) }, (_, i) =>
      view.getFloat64(Math.min(i * 8, length - 8), true),
    )
  }

  /** Whether the document has these bytes at `at`. Zeros follow each document, so nothing matches beyond its end. */
  isAt(b: Uint8Array, view: DataView, at: number): boolean {
    const { length, words, bytes } = this
    if (length < 8) {
      for (let i = 0; i < length; i++) if (b[at + i] !== bytes[i]) return false
      return true
    }
    const last = at + length - 8
    let from = at
    let i = 0
    // Bytes beyond ASCII may make a NaN, which equals nothing. Four at a time, as most stretches are long.
    for (; from < last - 24; from += 32, i += 4) {
      if (
        view.getFloat64(from, true) !== words[i] ||
        view.getFloat64(from + 8, true) !== words[i + 1] ||
        view.getFloat64(from + 16, true) !== words[i + 2] ||
        view.getFloat64(from + 24, true) !== words[i + 3]
      ) {
        return false
      }
    }
    for (; from < last; from += 8, i++) {
      if (view.getFloat64(from, true) !== words[i]) return false
    }
    return view.getFloat64(last, true) === words[i]
  }
}

export const startsWith = (b: Uint8Array, at: number, bytes: Uint8Array): boolean => {
  for (let i = 0; i < bytes.length; i++) if (b[at + i] !== bytes[i]) return false
  return true
}

export const isAscii = (bytes: Uint8Array, start: number, end: number): boolean => {
  let high = 0
  for (let at = start; at < end; at++) high |= bytes[at] as number
  return high < 0x80
}
