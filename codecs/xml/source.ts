import type { CodecError } from '#codecs/bytes'
import { classOf, isChar, ncNamePattern, textStop } from './characters.ts'
import { type XmlErrorCode, xmlError } from './errors.ts'
import type { XmlLimits } from './limits.ts'
import type { XmlNative } from './scanner.ts'

/** Zero bytes behind the document, so that look-ahead needs no bounds check. */
const sentinelBytes = 16
const bufferBytes = 65_536
const keepBufferBytesMax = 1 << 20

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** For names, before the whole document is known to be UTF-8: what is invalid becomes no name. */
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/** The bytes of the document that is scanned, and the searches over them. */
export class Source {
  readonly limits: XmlLimits
  readonly native: XmlNative
  buffer = new Uint8Array(bufferBytes)
  view = new DataView(this.buffer.buffer)
  length = 0
  /** All bytes of text seen, or-ed: the sign bits tell whether any is beyond ASCII. */
  high = 0
  /** The same of the last run that {@link plain} went over. */
  runHigh = 0

  constructor(limits: XmlLimits, native: XmlNative) {
    this.limits = limits
    this.native = native
  }

  /** Takes a copy with the sentinel behind it. */
  load(bytes: Uint8Array): void {
    const needed = bytes.length + sentinelBytes
    const isLarge = this.buffer.length > keepBufferBytesMax
    if (this.buffer.length < needed || isLarge) {
      this.buffer = new Uint8Array(Math.max(bufferBytes, needed))
      this.view = new DataView(this.buffer.buffer)
    }
    this.buffer.set(bytes)
    this.buffer.fill(0, bytes.length, needed)
    this.length = bytes.length
    this.high = 0
  }

  /**
   * The first byte from `from` on that is not plain text: '<', '>', '&' or a control character. Four bytes at
   * a time: `(x - 0x01…) & ~x` has a sign bit where a byte of x is zero, and x is zero where the byte sought
   * stands, '<' and '>' being the same but for one bit; likewise `(w - 0x20…) & ~w` where a byte is below 0x20.
   * The lowest sign bit is exact: a borrow that could set one wrongly comes from a lower byte whose own is set.
   */
  plain(from: number): number {
    const view = this.view
    const b = this.buffer
    let at = from
    let high = 0
    for (;;) {
      const w = view.getInt32(at, true)
      const angle = (w | 0x02020202) ^ 0x3e3e3e3e
      const amp = w ^ 0x26262626
      const stops =
        ((angle - 0x01010101) & ~angle) | ((amp - 0x01010101) & ~amp) | ((w - 0x20202020) & ~w)
      const signs = stops & 0x80808080
      if (signs === 0) {
        high |= w
        at += 4
        continue
      }
      const bits = 24 - (Math.clz32(signs & -signs) & 0x18)
      high |= w & ((1 << bits) - 1)
      at += bits >> 3
      if ((classOf[b[at] as number] as number) & textStop) break
      at++
    }
    this.runHigh = high
    this.high |= high
    return at
  }

  /** The next place of two bytes side by side; characters on the way are checked. */
  find(from: number, first: number, second: number): number {
    const b = this.buffer
    let at = from
    for (;;) {
      const byte = b[at] as number
      if (byte === first && b[at + 1] === second) return at
      this.high |= byte
      if (byte < 0x20 && !isChar(byte)) {
        throw this.error(at >= this.length ? 'document_truncated' : 'character_forbidden', at)
      }
      at++
    }
  }

  /** Compares by words; the last word overlaps the one before it. */
  sameBytes(one: number, other: number, bytes: number): boolean {
    const view = this.view
    if (bytes < 4) {
      const b = this.buffer
      for (let i = 0; i < bytes; i++) if (b[one + i] !== b[other + i]) return false
      return true
    }
    const last = bytes - 4
    for (let i = 0; i < last; i += 4) {
      if (view.getInt32(one + i, true) !== view.getInt32(other + i, true)) return false
    }
    return view.getInt32(one + last, true) === view.getInt32(other + last, true)
  }

  checkTextLength(from: number, end: number): void {
    if (end - from > this.limits.textBytesMax) {
      throw this.error('text_too_long', from, { textBytesMax: this.limits.textBytesMax })
    }
  }

  checkNameLength(from: number, end: number): void {
    if (end - from > this.limits.nameBytesMax) {
      throw this.error('name_too_long', from, { nameBytesMax: this.limits.nameBytesMax })
    }
  }

  /** Valid UTF-8, and none of the two characters beyond ASCII that Char leaves out. */
  checkUtf8(bytes: Uint8Array): void {
    if (!this.native.isUtf8(bytes)) throw xmlError('utf8_invalid', firstInvalidUtf8(bytes))
    for (let at = bytes.indexOf(0xef); at !== -1; at = bytes.indexOf(0xef, at + 1)) {
      if (bytes[at + 1] === 0xbf && (bytes[at + 2] as number) >= 0xbe) {
        throw xmlError('character_forbidden', at)
      }
    }
  }

  /** Names with characters beyond ASCII are rare enough to be checked as strings. */
  checkName(from: number, end: number): void {
    this.high = -1
    const parts = lenient.decode(this.buffer.subarray(from, end)).split(':')
    if (!parts.every((part) => ncNamePattern.test(part))) throw this.error('name_invalid', from)
  }

  declarationError(at: number, otherwise: XmlErrorCode): CodecError {
    const word = String.fromCharCode(...this.buffer.subarray(at, at + 9))
    return this.error(word === '<!DOCTYPE' ? 'doctype_forbidden' : otherwise, at)
  }

  error(code: XmlErrorCode, at: number, context?: Readonly<Record<string, number>>): CodecError {
    const truncated = at >= this.length && code !== 'root_missing'
    return xmlError(truncated ? 'document_truncated' : code, Math.min(at, this.length), context)
  }
}

const latin1 = new TextDecoder('latin1')

/** For runtimes that offer nothing faster. */
export const webNative: XmlNative = {
  isUtf8: (bytes) => {
    try {
      utf8.decode(bytes)
      return true
    } catch {
      return false
    }
  },
  // Windows-1252, strictly: the bytes that differ from Latin-1 are beyond ASCII and never asked for.
  latin1: (bytes, start, end) => latin1.decode(bytes.subarray(start, end)),
  utf8: (bytes, start, end) => lenient.decode(bytes.subarray(start, end)),
}

/** The length of the longest valid beginning. */
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
