import { escaped } from './escape.ts'
import { compileTemplate, type Template } from './template.ts'

/** Templates by their place in the source; there is a fixed number. */
const compiled = new Map<TemplateStringsArray, Template>()

const templateOf = (texts: TemplateStringsArray): Template => {
  const known = compiled.get(texts)
  if (known !== undefined) return known
  const fresh = compileTemplate(texts)
  compiled.set(texts, fresh)
  return fresh
}

/** A character of UTF-16 takes at most this many bytes: `&#xD;`. */
const CHARACTER_BYTES_MAX = 5
/** Room kept from one message to the next: a single payment, and batches of dozens. */
const KEPT_BYTES_MAX = 65_536

const encoder = new TextEncoder()
const plain = (() => {
  const table = new Uint8Array(128).fill(1)
  for (const special of '&<>\r') table[special.charCodeAt(0)] = 0
  return table
})()

/**
 * Bytes of canonical XML (Canonical XML 1.0, 2.3): no white space, no self-closing tags, attributes in order. One
 * is used for message after message.
 */
export class XmlOutput {
  bytes = new Uint8Array(KEPT_BYTES_MAX)
  at = 0

  /** Starts another message. */
  clear(): void {
    this.at = 0
    if (this.bytes.length > KEPT_BYTES_MAX) this.bytes = new Uint8Array(KEPT_BYTES_MAX)
  }

  /** A copy of what is written. */
  result(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.at)
  }

  /**
   * Writes a template with its values, which are well-formed text; see {@link compileTemplate} for its shorthand
   * and for absent values.
   */
  write(texts: TemplateStringsArray, ...values: (string | undefined)[]): void {
    const { segments, bytes } = templateOf(texts)
    if (this.at + bytes > this.bytes.length) this.grow(bytes)
    let rest = bytes
    let trim = 0
    for (let i = 0; i < values.length; i++) {
      const value = values[i]
      const variants = segments[i] as Template['segments'][0]
      const segment = variants[value === undefined ? trim + 1 : trim] as Uint8Array
      this.bytes.set(segment, this.at)
      this.at += segment.length
      rest -= segment.length
      trim = 2
      if (value !== undefined) {
        trim = 0
        this.text(value, rest)
      }
    }
    const last = (segments[values.length] as Template['segments'][0])[trim] as Uint8Array
    this.bytes.set(last, this.at)
    this.at += last.length
  }

  /** @param more bytes that will be written behind it */
  text(value: string, more: number): void {
    const { length } = value
    if (this.at + length * CHARACTER_BYTES_MAX + more > this.bytes.length) {
      this.grow(length * CHARACTER_BYTES_MAX + more)
    }
    const { bytes } = this
    let { at } = this
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (code < 128 && plain[code] === 1) bytes[at++] = code
      else if (code >= 128 && code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6)
        bytes[at++] = 0x80 | (code & 0x3f)
      } else {
        this.at = at
        this.seldom(value.slice(i))
        return
      }
    }
    this.at = at
  }

  /** Text from the first character on that is escaped or takes more than two bytes. */
  private seldom(value: string): void {
    this.at += encoder.encodeInto(escaped(value), this.bytes.subarray(this.at)).written
  }

  private grow(more: number): void {
    const bytes = new Uint8Array(Math.max(this.bytes.length * 2, this.at + more))
    bytes.set(this.bytes.subarray(0, this.at))
    this.bytes = bytes
  }
}
