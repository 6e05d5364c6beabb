import type { CodecError } from '#codecs/bytes'
import { isChar, isInName, isSpace, ncNamePattern, stopsText } from './characters.ts'
import { type XmlErrorCode, xmlError } from './errors.ts'
import { absent, beyondAscii, needsDecoding, nodeKind, whiteSpaceOnly } from './layout.ts'
import type { XmlLimits } from './limits.ts'
import { firstInvalidUtf8, type XmlNative } from './native.ts'

/** Zero bytes behind the document, so that look-ahead needs no bounds check. */
const sentinelBytes = 16
const bufferBytesMin = 65_536
const keptBufferBytesMax = 1 << 20

const lt = 0x3c
const gt = 0x3e
const amp = 0x26
const semicolon = 0x3b
const carriageReturn = 0x0d
const signs = 0x80808080
const blanks = 0x20202020

const encoder = new TextEncoder()
/** lt, gt, amp, quot, apos (XML 1.0, 4.6), as they stand behind the '&'. */
const predefined = ['lt;', 'gt;', 'amp;', 'quot;', 'apos;'].map((name) => encoder.encode(name))

/** The bytes of the document being scanned, and the searches over them. */
export class Source {
  readonly limits: XmlLimits
  readonly native: XmlNative
  buffer = new Uint8Array(bufferBytesMin)
  view = new DataView(this.buffer.buffer)
  length = 0
  /** All bytes seen in names and values, or-ed: the sign bits tell whether any is beyond ASCII. */
  high = 0
  /** The same for the last run that {@link plain} went over. */
  private runHigh = 0
  /** Kind and flags of the last text that {@link plainText} or {@link valueText} found. */
  textFlags = 0

  constructor(limits: XmlLimits, native: XmlNative) {
    this.limits = limits
    this.native = native
  }

  /** Copies the document and puts the sentinel behind it. */
  load(bytes: Uint8Array): void {
    const needed = bytes.length + sentinelBytes
    if (this.buffer.length < needed || this.buffer.length > keptBufferBytesMax) {
      this.buffer = new Uint8Array(Math.max(bufferBytesMin, needed))
      this.view = new DataView(this.buffer.buffer)
    }
    this.buffer.set(bytes)
    this.buffer.fill(0, bytes.length, needed)
    this.length = bytes.length
    this.high = 0
  }

  /** Whether all that was seen of the document is ASCII. */
  isAscii(): boolean {
    return (this.high & signs) === 0
  }

  /** Returns a range as a string; it must hold ASCII or valid UTF-8. */
  string(start: number, end: number): string {
    const b = this.buffer
    for (let at = start; at < end; at++) {
      if ((b[at] as number) >= 0x80) return this.native.utf8(b, start, end)
    }
    return this.native.latin1(b, start, end)
  }

  /**
   * The first byte from `from` on that is not plain text: '<', '>', '&' or a control character. Four bytes at a time:
   * `(x - 0x01…) & ~x` has a sign bit where a byte of x is zero, and x is zero where the sought byte stands; '<' and
   * '>' differ by one bit, which we set. Likewise `(w - 0x20…) & ~w` where a byte is below 0x20. The lowest sign bit is
   * exact: only a lower byte with a sign bit of its own could set one wrongly by its borrow.
   */
  plain(from: number): number {
    const view = this.view
    const b = this.buffer
    let at = from
    let high = 0
    for (;;) {
      const w = view.getInt32(at, true)
      const angle = (w | 0x02020202) ^ 0x3e3e3e3e
      const ampersand = w ^ 0x26262626
      const stops =
        ((angle - 0x01010101) & ~angle) |
        ((ampersand - 0x01010101) & ~ampersand) |
        ((w - 0x20202020) & ~w)
      const found = stops & signs
      if (found === 0) {
        high |= w
        at += 4
        continue
      }
      const bits = 24 - (Math.clz32(found & -found) & 0x18)
      high |= w & ((1 << bits) - 1)
      at += bits >> 3
      if (stopsText(b[at])) break
      at++
    }
    this.runHigh = high
    this.high |= high
    return at
  }

  /** {@link beyondAscii} if the last run that {@link plain} went over has such bytes. */
  get runFlags(): number {
    return (this.runHigh & signs) === 0 ? 0 : beyondAscii
  }

  /** The end of white space or of a run of plain text within the limit, or {@link absent} if it holds anything else. */
  plainText(from: number): number {
    const { buffer: b, view } = this
    let at = from
    if ((b[at] as number) <= 0x20) {
      let flags = nodeKind.text | whiteSpaceOnly
      for (;;) {
        while (view.getInt32(at, true) === blanks) at += 4
        const byte = b[at]
        if (!isSpace(byte)) break
        if (byte === carriageReturn) flags |= needsDecoding
        at++
      }
      if (b[at] === lt) {
        this.textFlags = flags
        return at - from > this.limits.textBytesMax ? absent : at
      }
      if (flags & needsDecoding) return absent
    }
    const end = this.plain(at)
    this.textFlags = nodeKind.text | this.runFlags
    return b[end] !== lt || end - from > this.limits.textBytesMax ? absent : end
  }

  /**
   * The end of a text that holds more than white space and ends at a '<'; {@link absent} if one quick look cannot tell.
   */
  valueText(from: number): number {
    const b = this.buffer
    let at = this.plain(from)
    let flags = nodeKind.text | this.runFlags
    while (b[at] === amp) {
      const end = predefinedEnd(b, at)
      if (end === absent) return absent
      at = this.plain(end)
      flags |= needsDecoding | this.runFlags
    }
    this.textFlags = flags
    return b[at] === lt ? at : absent
  }

  /**
   * The first byte from `from` on that is not plain in an attribute value between such quotes: the quote, '<', '&' or a
   * control character. In the same way as {@link plain}.
   */
  plainValue(from: number, quote: number): number {
    const view = this.view
    const b = this.buffer
    const quotes = Math.imul(quote, 0x01010101)
    let at = from
    let high = 0
    for (;;) {
      const w = view.getInt32(at, true)
      const angle = (w | 0x02020202) ^ 0x3e3e3e3e
      const ampersand = w ^ 0x26262626
      const end = w ^ quotes
      const stops =
        ((angle - 0x01010101) & ~angle) |
        ((ampersand - 0x01010101) & ~ampersand) |
        ((end - 0x01010101) & ~end) |
        ((w - 0x20202020) & ~w)
      const found = stops & signs
      if (found === 0) {
        high |= w
        at += 4
        continue
      }
      const bits = 24 - (Math.clz32(found & -found) & 0x18)
      high |= w & ((1 << bits) - 1)
      at += bits >> 3
      if (b[at] !== gt) break
      at++
    }
    this.runHigh = high
    this.high |= high
    return at
  }

  /** The end of an attribute value whose bytes are all plain ASCII; else {@link absent}. */
  valueOfAttribute(from: number, quote: number): number {
    const at = this.plainValue(from, quote)
    return this.buffer[at] === quote && this.runFlags === 0 ? at : absent
  }

  /** Finds the next place of two adjacent bytes, and checks the characters on the way. */
  find(from: number, first: number, second: number): number {
    const b = this.buffer
    let at = from
    for (;;) {
      const byte = b[at] as number
      if (byte === first && b[at + 1] === second) return at
      this.high |= byte
      if (byte < 0x20 && !isChar(byte)) throw this.error('character_forbidden', at)
      at++
    }
  }

  /** Checks the reference at '&' and gives the offset behind its ';' (XML 1.0, 4.1). */
  reference(from: number): number {
    const b = this.buffer
    if (b[from + 1] === 0x23) return this.characterReference(from)
    const end = predefinedEnd(b, from)
    if (end !== absent) return end
    let at = from + 1
    while (isInName(b[at])) at++
    const isWritten = b[at] === semicolon && at > from + 1
    throw this.error(
      isWritten ? 'entity_undefined' : 'reference_invalid',
      isWritten || at < this.length ? from : at,
    )
  }

  private characterReference(from: number): number {
    const b = this.buffer
    const isHex = b[from + 2] === 0x78
    const digits = from + (isHex ? 3 : 2)
    let at = digits
    let code = 0
    for (;;) {
      const digit = digitOf(b[at] as number, isHex)
      if (digit < 0) break
      code = Math.min(code * (isHex ? 16 : 10) + digit, 0x110000)
      at++
    }
    if (at === digits || b[at] !== semicolon) {
      throw this.error('reference_invalid', at >= this.length ? at : from)
    }
    if (!isChar(code)) throw this.error('character_forbidden', from)
    return at + 1
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

  /**
   * Checks a qualified name whose bytes are all name characters.
   *
   * @param high all of its bytes, or-ed; names beyond ASCII are rare enough to be checked as strings
   */
  checkName(from: number, end: number, high: number): void {
    if (end - from > this.limits.nameBytesMax) {
      throw this.error('name_too_long', from, { nameBytesMax: this.limits.nameBytesMax })
    }
    if (high < 0x80) return
    this.high |= high
    // The document may turn out not to be UTF-8: invalid bytes then make an invalid name.
    const parts = this.native.utf8(this.buffer, from, end).split(':')
    if (!parts.every((part) => ncNamePattern.test(part))) throw this.error('name_invalid', from)
  }

  /** Refuses invalid UTF-8, and the two characters beyond ASCII that Char leaves out. */
  checkUtf8(bytes: Uint8Array): void {
    if (!this.native.isUtf8(bytes)) throw xmlError('utf8_invalid', firstInvalidUtf8(bytes))
    for (let at = bytes.indexOf(0xef); at !== -1; at = bytes.indexOf(0xef, at + 1)) {
      if (bytes[at + 1] === 0xbf && (bytes[at + 2] as number) >= 0xbe) {
        throw xmlError('character_forbidden', at)
      }
    }
  }

  /** The fault of the `<!` at `at`, which begins neither a comment nor a CDATA section. */
  declarationError(at: number): CodecError {
    const word = String.fromCharCode(...this.buffer.subarray(at, at + 9))
    return this.error(word === '<!DOCTYPE' ? 'doctype_forbidden' : 'markup_invalid', at)
  }

  /** A fault at the end of the document is always that it is truncated. */
  error(code: XmlErrorCode, at: number, context?: Readonly<Record<string, number>>): CodecError {
    const isTruncated = at >= this.length && code !== 'root_missing'
    return xmlError(isTruncated ? 'document_truncated' : code, Math.min(at, this.length), context)
  }
}

/** The offset behind a reference to a predefined entity; {@link absent} if none begins at `from`. */
const predefinedEnd = (b: Uint8Array, from: number): number => {
  for (const name of predefined) {
    let i = 0
    while (i < name.length && b[from + 1 + i] === name[i]) i++
    if (i === name.length) return from + 1 + i
  }
  return absent
}

const digitOf = (byte: number, isHex: boolean): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return isHex && lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
