import {
  type CardMessage,
  createMessagePacker,
  createPacker,
  frameBytesMaxDefault,
  headerBytes,
  writeFrame,
} from '#codecs/iso8583'
import { SendBuffer } from '#src/platform/runtime/index.ts'
import { type NetworkOptions, sendBytesMax } from './options.ts'

/** Frames that go out over one connection; those of one turn of the event loop go together. */
export class Outbound {
  private readonly buffer = new SendBuffer(sendBytesMax)
  private readonly pack: ReturnType<typeof createMessagePacker>
  private readonly framing: NetworkOptions['framing']
  private readonly header: number
  private readonly frameBytesMax: number
  private readonly write: (bytes: Uint8Array) => number
  private isFlushing = false

  /** @param write hands the kernel bytes and gives how many it took */
  constructor(
    { dialect, framing, frameBytesMax = frameBytesMaxDefault }: NetworkOptions,
    write: (bytes: Uint8Array) => number,
  ) {
    this.pack = createMessagePacker(createPacker(dialect))
    this.framing = framing
    this.header = headerBytes(framing)
    this.frameBytesMax = frameBytesMax
    this.write = write
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
   * @throws CodecError when the message cannot be packed; nothing of it is sent then
   */
  append(message: CardMessage, tpdu?: Uint8Array): boolean {
    return this.appendWith((out, at) => this.pack(message, out, at), tpdu)
  }

  /** As `append`, of a packed message. */
  appendBytes(message: Uint8Array, tpdu?: Uint8Array): boolean {
    return this.appendWith((out, at) => {
      out.set(message, at)
      return at + message.length
    }, tpdu)
  }

  /** Hands the kernel as many bytes as it takes. */
  flush(): void {
    this.buffer.flush(this.write)
  }

  clear(): void {
    this.buffer.clear()
  }

  /** @param write puts the message into the buffer and gives its end */
  private appendWith(write: (out: Uint8Array, at: number) => number, tpdu?: Uint8Array): boolean {
    const { buffer, framing, header } = this
    const room = header + this.frameBytesMax + 1
    if (!buffer.reserve(room)) return false
    const start = buffer.end
    try {
      const bodyBytes = write(buffer.bytes, start + header) - start - header
      if (bodyBytes > this.frameBytesMax)
        throw new Error('the message is longer than a frame may be')
      buffer.commit(writeFrame(framing, bodyBytes, buffer.bytes, start, tpdu))
    } catch (error) {
      buffer.bytes.fill(0, start)
      throw error
    }
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
