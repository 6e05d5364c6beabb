import {
  type CardMessage,
  createMessagePacker,
  createPacker,
  frameBytesMaxDefault,
  headerBytes,
  writeFrame,
} from '#codecs/iso8583'
import { SendBuffer } from '#src/platform/runtime/index.ts'
import { checkedFields, type NetworkOptions, sendBytesMax } from './options.ts'

/** Where the frames of one turn begin in the stream, and when the first of them is too late. */
type Turn = { readonly start: number; endsAtMs: number }

/**
 * Frames that go out over one connection; those of one turn of the event loop go together. A frame whose time is over
 * before the kernel has all of it does not go: this process may have stood still, and others take back what they think
 * abandoned. What comes behind it cannot go either.
 */
export class Outbound {
  private readonly buffer = new SendBuffer(sendBytesMax)
  private readonly pack: ReturnType<typeof createMessagePacker>
  private readonly packAnswer: ReturnType<typeof createMessagePacker>
  private readonly framing: NetworkOptions['framing']
  private readonly header: number
  private readonly frameBytesMax: number
  private readonly write: (bytes: Uint8Array) => number
  private readonly onStale: () => void
  private isFlushing = false
  private isStale = false
  /** The turns whose bytes the kernel does not have in full. */
  private readonly turns: Turn[] = []

  /**
   * @param write hands the kernel bytes and gives how many it took
   * @param onStale called once if a frame is too late, until `clear`
   */
  constructor(
    { dialect, framing, frameBytesMax = frameBytesMaxDefault }: NetworkOptions,
    write: (bytes: Uint8Array) => number,
    onStale: () => void,
  ) {
    this.pack = createMessagePacker(createPacker(dialect))
    this.packAnswer = createMessagePacker(createPacker(dialect, checkedFields))
    this.framing = framing
    this.header = headerBytes(framing)
    this.frameBytesMax = frameBytesMax
    this.write = write
    this.onStale = onStale
  }

  /** Bytes since the start of the stream, and how many of them the kernel took. */
  get committed(): number {
    return this.buffer.committed
  }

  get sent(): number {
    return this.buffer.sent
  }

  /**
   * Appends a frame; false if there is no room.
   *
   * @param withinMs the kernel must have it
   * @throws CodecError when the message cannot be packed; nothing of it is sent then
   */
  append(message: CardMessage, withinMs: number): boolean {
    return this.appendWith((out, at) => this.pack(message, out, at), withinMs, undefined)
  }

  /** As `append`, for an answer: it repeats fields of the request as they were read. */
  appendAnswer(message: CardMessage, withinMs: number, tpdu: Uint8Array | undefined): boolean {
    return this.appendWith((out, at) => this.packAnswer(message, out, at), withinMs, tpdu)
  }

  /** As `append`, for a packed message. */
  appendBytes(message: Uint8Array, withinMs: number, tpdu?: Uint8Array): boolean {
    return this.appendWith(
      (out, at) => {
        out.set(message, at)
        return at + message.length
      },
      withinMs,
      tpdu,
    )
  }

  /** Hands the kernel as many bytes as it takes. */
  flush(): void {
    const { buffer, turns } = this
    if (this.isStale || turns.length === 0) return
    const now = performance.now()
    if (turns.some(({ endsAtMs }) => now >= endsAtMs)) {
      this.isStale = true
      this.onStale()
      return
    }
    buffer.flush(this.write)
    if (buffer.pendingBytes === 0) turns.length = 0
    while ((turns[1]?.start ?? Number.POSITIVE_INFINITY) <= buffer.sent) turns.shift()
  }

  clear(): void {
    this.buffer.clear()
    this.turns.length = 0
    this.isStale = false
  }

  private noteTurn(start: number, endsAtMs: number): void {
    const last = this.turns.at(-1)
    if (last === undefined || !this.isFlushing) this.turns.push({ start, endsAtMs })
    else last.endsAtMs = Math.min(last.endsAtMs, endsAtMs)
  }

  /** @param write puts the message into the buffer and gives its end */
  private appendWith(
    write: (out: Uint8Array, at: number) => number,
    withinMs: number,
    tpdu: Uint8Array | undefined,
  ): boolean {
    const { buffer, framing, header } = this
    const room = header + this.frameBytesMax + 1
    if (!buffer.reserve(room)) return false
    const start = buffer.end
    const startsAt = buffer.committed
    try {
      const bodyBytes = write(buffer.bytes, start + header) - start - header
      if (bodyBytes > this.frameBytesMax)
        throw new Error('the message is longer than a frame may be')
      buffer.commit(writeFrame(framing, bodyBytes, buffer.bytes, start, tpdu))
    } catch (error) {
      buffer.bytes.fill(0, start)
      throw error
    }
    this.noteTurn(startsAt, performance.now() + withinMs)
    if (!this.isFlushing) {
      this.isFlushing = true
      setImmediate(() => {
        this.isFlushing = false
        this.flush()
      })
    }
    return true
  }
}
