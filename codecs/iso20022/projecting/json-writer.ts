import { absent, type XmlDocument, type XmlNative } from '#codecs/xml'
import { formatCents } from '../amount.ts'
import { jsonText, maskDocument, visibleCharacters } from './json.ts'

const encoder = new TextEncoder()

const quote = 0x22
const backslash = 0x5c
const asterisk = 0x2a
const ampersand = 0x26
const zero = 0x30
const dot = 0x2e

const bytesAtFirst = 4096
/** A larger buffer is not kept. */
const bytesKeptMax = 1_048_576
/** Bytes of the longest number. */
const numberBytesMax = 24
const safeCentsMax = BigInt(Number.MAX_SAFE_INTEGER)

/** Text of ours that is JSON already, for {@link JsonWriter.constant}. */
export const constant = (text: string): Uint8Array => encoder.encode(text)

/**
 * Writes JSON from a message's own bytes. Nearly every text needs no escapes in JSON; its bytes are copied without
 * making a string, which would be most of a projection's cost.
 */
export class JsonWriter {
  private bytes = new Uint8Array(bytesAtFirst)
  private length = 0
  /** All bytes written, or-ed. */
  private high = 0
  private readonly native: XmlNative

  constructor(native: XmlNative) {
    this.native = native
  }

  begin(): void {
    if (this.bytes.length > bytesKeptMax) this.bytes = new Uint8Array(bytesAtFirst)
    this.length = 0
    this.high = 0
  }

  /** Returns what was written since {@link begin}. */
  end(): string {
    return this.high < 0x80
      ? this.native.latin1(this.bytes, 0, this.length)
      : this.native.utf8(this.bytes, 0, this.length)
  }

  constant(text: Uint8Array): void {
    const { length } = text
    const bytes = this.room(length)
    let to = this.length
    for (let at = 0; at < length; at++) bytes[to++] = text[at] as number
    this.length = to
  }

  /** Any JSON. */
  json(text: string): void {
    // A unit of UTF-16 takes three bytes at most.
    const bytes = this.room(text.length * 3)
    const from = this.length
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      if (unit >= 0x80) {
        this.length += encoder.encodeInto(text, bytes.subarray(from)).written
        this.high |= 0x80
        return
      }
      bytes[from + at] = unit
    }
    this.length = from + text.length
  }

  /** An element's text as a JSON string; `null` if it is absent. */
  text(document: XmlDocument, node: number): void {
    if (node === absent) this.json('null')
    else if (!this.copy(document, node, 0)) this.json(jsonText(document.textOf(node)))
  }

  /** The same, with all but the last characters replaced, as by {@link maskDocument}. */
  masked(document: XmlDocument, node: number): void {
    if (!this.copy(document, node, visibleCharacters)) {
      this.json(jsonText(maskDocument(document.textOf(node))))
    }
  }

  /** Writes nothing and returns false if the value is not the text's bytes, or JSON would escape it. */
  private copy(document: XmlDocument, node: number, visible: number): boolean {
    const leaf = document.onlyText(node)
    if (leaf === absent) return false
    const source = document.bytes
    const from = document.start(leaf)
    const end = document.end(leaf)
    const shownFrom = visible === 0 ? from : Math.max(from, end - visible)
    const bytes = this.room(end - from + 2)
    let to = this.length
    let high = 0
    bytes[to++] = quote
    for (let at = from; at < end; at++) {
      const byte = source[at] as number
      if (byte < 0x20 || byte === quote || byte === backslash) return false
      if (byte === ampersand) {
        // Names of companies are full of this one reference.
        if (visible > 0 || !isAmpersand(source, at)) return false
        at += 4
      }
      high |= byte
      bytes[to++] = at < shownFrom ? asterisk : byte
    }
    // Masking counts characters; characters of several bytes are not handled here.
    if (high >= 0x80 && visible > 0) return false
    bytes[to++] = quote
    this.length = to
    this.high |= high
    return true
  }

  /** An amount as a JSON number with exactly two fraction digits. */
  cents(cents: bigint): void {
    if (cents < 0n || cents > safeCentsMax) {
      this.json(formatCents(cents))
      return
    }
    const all = Number(cents)
    const fraction = all % 100
    this.integer((all - fraction) / 100)
    const bytes = this.room(3)
    bytes[this.length++] = dot
    bytes[this.length++] = zero + Math.floor(fraction / 10)
    bytes[this.length++] = zero + (fraction % 10)
  }

  /** Not negative. */
  integer(value: number): void {
    const bytes = this.room(numberBytesMax)
    let digits = 1
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++
    let rest = value
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      const tens = Math.floor(rest / 10)
      bytes[at] = zero + (rest - tens * 10)
      rest = tens
    }
    this.length += digits
  }

  private room(more: number): Uint8Array {
    if (this.length + more > this.bytes.length) {
      const larger = new Uint8Array((this.length + more) * 2)
      larger.set(this.bytes.subarray(0, this.length))
      this.bytes = larger
    }
    return this.bytes
  }
}

/** True for `&amp;`. */
const isAmpersand = (bytes: Uint8Array, at: number): boolean =>
  bytes[at + 1] === 0x61 &&
  bytes[at + 2] === 0x6d &&
  bytes[at + 3] === 0x70 &&
  bytes[at + 4] === 0x3b
