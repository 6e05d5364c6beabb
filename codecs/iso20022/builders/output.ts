import { compileTemplate, type Template } from './template.ts'
import { type Content, lengthOf, startOf, valueView } from './values.ts'
import { wordBytes } from './words.ts'

/** Templates by their place in the source; there is a fixed number. */
const compiled = new Map<TemplateStringsArray, Template>()

const templateOf = (texts: TemplateStringsArray): Template => {
  const known = compiled.get(texts)
  if (known !== undefined) return known
  const fresh = newTemplate(texts)
  compiled.set(texts, fresh)
  return fresh
}

/** Room for dozens of messages, which share its memory, or for one batch of dozens. */
export const roomBytes = 65_536
/** Room for larger batches that is kept from one to the next: of a batch of 500. */
const keptBytesMax = 1_048_576
/** The same memory, as each way of writing wants it. */
type Room = { readonly bytes: Uint8Array<ArrayBuffer>; readonly view: DataView }

/** Not filled with zeros: what is handed out was written. */
const newRoom = (length: number): Room => {
  const { buffer } = Buffer.allocUnsafeSlow(length)
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) }
}

/** What is written behind the last byte is written over by what comes next. */
const writeContent = (content: Content, room: DataView, start: number): number => {
  let at = start
  if (typeof content === 'string') {
    for (let i = 0; i < content.length; i++) room.setUint8(at++, content.charCodeAt(i))
    return at
  }
  const end = at + lengthOf(content)
  for (let from = startOf(content); at < end; at += wordBytes, from += wordBytes) {
    room.setFloat64(at, valueView.getFloat64(from, true), true)
  }
  return end
}

export const newTemplate = (texts: readonly string[]): Template =>
  compileTemplate(texts, writeContent)

/**
 * Bytes of canonical XML (Canonical XML 1.0, 2.3): no white space, no self-closing tags, attributes in order. One
 * is used for message after message.
 */
export class XmlOutput {
  private room = newRoom(roomBytes)
  /** For what does not fit into the usual room. */
  private batchRoom: Room | undefined
  /** Where the message begins: those before it stay where they were written. */
  private start = 0
  private at = 0

  /** Starts another message. */
  clear(): void {
    this.start = this.at
    if (this.room !== this.batchRoom) return
    if (this.room.bytes.length > keptBytesMax) this.batchRoom = undefined
    this.enter(newRoom(roomBytes))
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
  write(texts: TemplateStringsArray, ...contents: (Content | undefined)[]): void {
    this.fill(templateOf(texts), contents)
  }

  fill(template: Template, contents: readonly (Content | undefined)[]): void {
    let needed = template.bytesMax
    for (let i = 0; i < contents.length; i++) {
      const content = contents[i]
      if (content !== undefined) needed += lengthOf(content)
    }
    if (this.at + needed > this.room.bytes.length) this.move(needed)
    this.at = template.write(this.room.view, this.at, contents)
  }

  /** Goes on where there is room for so many bytes more. */
  private move(needed: number): void {
    const bytes = this.length + needed
    if (bytes <= roomBytes) {
      this.enter(newRoom(roomBytes))
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
