import { compileTemplate, type Template, WORD_BYTES } from './template.ts'

/** Templates by their place in the source; there is a fixed number. */
const compiled = new Map<TemplateStringsArray, Template>()

const templateOf = (texts: TemplateStringsArray): Template => {
  const known = compiled.get(texts)
  if (known !== undefined) return known
  const fresh = compileTemplate(texts)
  compiled.set(texts, fresh)
  return fresh
}

/** Room for a single payment, and for batches of dozens. */
export const ROOM_BYTES = 65_536
/** Room kept from one message to the next: of a batch of 500. */
const KEPT_BYTES_MAX = 1_048_576
/** Shorter text is written faster by a loop than by a call. */
const LOOP_LENGTH_MAX = 12

/** What writes text of one byte per character; Node.js and Bun have it, their types do not. */
type Room = Buffer<ArrayBuffer> & { latin1Write(text: string, at: number): number }

const newRoom = (bytes: number): Room => Buffer.from(new ArrayBuffer(bytes)) as Room

/**
 * Bytes of canonical XML (Canonical XML 1.0, 2.3): no white space, no self-closing tags, attributes in order. One
 * is used for message after message.
 *
 * Values are text that is ready: escaped, and of one character per byte of UTF-8 (as {@link xmlText} makes it).
 */
export class XmlOutput {
  private room = newRoom(ROOM_BYTES)
  private bytes = new Uint8Array(this.room.buffer)
  private view = new DataView(this.room.buffer)
  private capacity = ROOM_BYTES
  at = 0

  /** Starts another message. */
  clear(): void {
    this.at = 0
    if (this.capacity > KEPT_BYTES_MAX) this.resize(ROOM_BYTES)
  }

  /** A copy of what is written. */
  result(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.at)
  }

  /** Writes a template with its values; see {@link compileTemplate} for its shorthand and for absent values. */
  write(texts: TemplateStringsArray, ...values: (string | undefined)[]): void {
    this.fill(templateOf(texts), values)
  }

  fill(template: Template, values: readonly (string | undefined)[]): void {
    const { words, starts, lengths } = template
    const count = values.length
    let needed = template.bytesMax
    for (let i = 0; i < count; i++) {
      const value = values[i]
      if (value !== undefined) needed += value.length
    }
    if (this.at + needed > this.capacity) this.grow(needed)
    const { bytes, room, view } = this
    let { at } = this
    let variant = 0
    for (let i = 0; i < count; i++) {
      const value = values[i]
      if (value === undefined) variant++
      const end = starts[variant + 1] as number
      // The zeros behind the last byte are written over by what comes next.
      for (let word = starts[variant] as number, to = at; word < end; word++, to += WORD_BYTES) {
        view.setFloat64(to, words[word] as number, true)
      }
      at += lengths[variant] as number
      variant = 4 * i + 4
      if (value === undefined) {
        variant += 2
        continue
      }
      const { length } = value
      if (length > LOOP_LENGTH_MAX) room.latin1Write(value, at)
      else for (let j = 0; j < length; j++) bytes[at + j] = value.charCodeAt(j)
      at += length
    }
    const end = starts[variant + 1] as number
    for (let word = starts[variant] as number, to = at; word < end; word++, to += WORD_BYTES) {
      view.setFloat64(to, words[word] as number, true)
    }
    this.at = at + (lengths[variant] as number)
  }

  private grow(needed: number): void {
    const { bytes } = this
    this.resize(Math.max(this.capacity * 2, this.at + needed))
    this.bytes.set(bytes.subarray(0, this.at))
  }

  private resize(capacity: number): void {
    this.capacity = capacity
    this.room = newRoom(capacity)
    this.bytes = new Uint8Array(this.room.buffer)
    this.view = new DataView(this.room.buffer)
  }
}
