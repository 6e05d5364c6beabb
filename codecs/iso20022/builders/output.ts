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

/** Room for dozens of messages, which share its memory, or for one batch of dozens. */
export const ROOM_BYTES = 65_536
/** Room for larger batches that is kept from one to the next: of a batch of 500. */
const KEPT_BYTES_MAX = 1_048_576
/** Shorter text is written faster by a loop than by a call. */
const LOOP_LENGTH_MAX = 12

/** The same memory, as each way of writing wants it. */
type Room = {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly view: DataView
  /** Writes text of one byte per character; Node.js and Bun have it, their types do not. */
  readonly buffer: Buffer<ArrayBuffer> & { latin1Write(text: string, at: number): number }
}

/** Not filled with zeros: what is handed out was written. */
const newRoom = (length: number): Room => {
  const buffer = Buffer.allocUnsafeSlow(length) as Room['buffer']
  return { buffer, bytes: new Uint8Array(buffer.buffer), view: new DataView(buffer.buffer) }
}

/**
 * Bytes of canonical XML (Canonical XML 1.0, 2.3): no white space, no self-closing tags, attributes in order. One
 * is used for message after message.
 *
 * Values are text that is ready: escaped, and of one character per byte of UTF-8 (as {@link xmlText} makes it).
 */
export class XmlOutput {
  private room = newRoom(ROOM_BYTES)
  /** For what does not fit into the usual room. */
  private batchRoom: Room | undefined
  /** Where the message begins: those before it stay where they were written. */
  private start = 0
  private at = 0

  /** Starts another message. */
  clear(): void {
    this.start = this.at
    if (this.room !== this.batchRoom) return
    if (this.room.bytes.length > KEPT_BYTES_MAX) this.batchRoom = undefined
    this.enter(newRoom(ROOM_BYTES))
  }

  /** Bytes written of the message. */
  get length(): number {
    return this.at - this.start
  }

  /** What is written, for good. Only a batch is copied: a copy takes a seventh of the time of a small message. */
  result(): Uint8Array<ArrayBuffer> {
    const { room, start, at } = this
    return room === this.batchRoom ? room.bytes.slice(start, at) : room.bytes.subarray(start, at)
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
    if (this.at + needed > this.room.bytes.length) this.move(needed)
    const { bytes, view, buffer } = this.room
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
      if (length > LOOP_LENGTH_MAX) buffer.latin1Write(value, at)
      else for (let j = 0; j < length; j++) bytes[at + j] = value.charCodeAt(j)
      at += length
    }
    const end = starts[variant + 1] as number
    for (let word = starts[variant] as number, to = at; word < end; word++, to += WORD_BYTES) {
      view.setFloat64(to, words[word] as number, true)
    }
    this.at = at + (lengths[variant] as number)
  }

  /** Goes on where there is room for so many bytes more. */
  private move(needed: number): void {
    const bytes = this.length + needed
    if (bytes <= ROOM_BYTES) {
      this.enter(newRoom(ROOM_BYTES))
      return
    }
    if (this.batchRoom === undefined || this.batchRoom.bytes.length < bytes) {
      this.batchRoom = newRoom(2 * bytes)
    }
    this.enter(this.batchRoom)
  }

  /** Takes along what is written of the message. */
  private enter(room: Room): void {
    const written = this.room.bytes.subarray(this.start, this.at)
    room.bytes.set(written)
    this.room = room
    this.start = 0
    this.at = written.length
  }
}
