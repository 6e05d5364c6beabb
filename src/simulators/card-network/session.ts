import type { Socket } from 'bun'
import {
  type CardMessage,
  createMessagePacker,
  createPacker,
  createParser,
  type Dialect,
  FrameDecoder,
  type Framing,
  frameBytesMaxDefault,
  headerBytes,
  readMessage,
  writeFrame,
} from '#codecs/iso8583'
import { SendBuffer } from '#src/platform/runtime/index.ts'
import { packSealed, type SimulatedKeys } from './link-security.ts'

/** Answers that wait for the kernel on one connection; the network cuts off a peer that does not read. */
const sendBytesMax = 8_388_608
const garbage = new TextEncoder().encode('this is no message of ISO 8583')

/** One connection of a gateway to the simulated network. */
export class Session {
  private readonly socket: Socket<Session | undefined>
  private readonly framing: Framing
  private readonly dialect: Dialect
  private readonly keys: SimulatedKeys | undefined
  private readonly outgoing = new SendBuffer(sendBytesMax)
  private readonly pack: ReturnType<typeof createMessagePacker>
  private readonly decoder: FrameDecoder
  private isFlushing = false
  private isClosed = false
  private readonly write = (bytes: Uint8Array): number => this.socket.write(bytes)

  constructor(
    socket: Socket<Session | undefined>,
    dialect: Dialect,
    framing: Framing,
    /** The message and its TPDU belong to the taker. */
    take: (message: CardMessage, tpdu: Uint8Array) => void,
    /** The keys of codes on messages about payments; undefined: they have no codes. */
    keys?: SimulatedKeys,
  ) {
    this.socket = socket
    this.framing = framing
    this.dialect = dialect
    this.keys = keys
    this.pack = createMessagePacker(createPacker(dialect))
    const parser = createParser(dialect)
    this.decoder = new FrameDecoder(framing, {
      message: (bytes, start, end, tpdu) => {
        if (this.isClosed) return
        parser.parse(bytes, start, end)
        if (keys !== undefined && !parser.mti.startsWith('08')) {
          const field = parser.has(128) ? 128 : 64
          const data = bytes.subarray(start, parser.offset(field))
          // A network does not answer a message that somebody else may have written.
          if (!keys.isRight(data, parser.copy(field) ?? new Uint8Array(0))) return
        }
        take(readMessage(parser), new Uint8Array(tpdu))
      },
      keepAlive: () => undefined,
    })
  }

  /** @throws CodecError for what is no message of the dialect */
  receive(chunk: Uint8Array): void {
    try {
      this.decoder.push(chunk)
    } finally {
      chunk.fill(0)
    }
  }

  /** Sends the message to where `tpdu` came from, and wipes it; does nothing once closed. */
  send(message: CardMessage, tpdu: Uint8Array = new Uint8Array(0)): void {
    const start = this.begin()
    if (start === undefined) return
    const { outgoing, framing } = this
    const from = start + headerBytes(framing)
    const { keys, dialect } = this
    const end =
      keys === undefined || message.mti.startsWith('08')
        ? this.pack(message, outgoing.bytes, from)
        : packSealed(message, dialect, keys, this.pack, outgoing.bytes, from)
    message.wipe()
    this.commit(start, end - from, tpdu)
  }

  /** A frame that holds no message. */
  sendGarbage(): void {
    const start = this.begin()
    if (start === undefined) return
    this.outgoing.bytes.set(garbage, start + headerBytes(this.framing))
    this.commit(start, garbage.length, new Uint8Array(0))
  }

  flush(): void {
    if (!this.isClosed) this.outgoing.flush(this.write)
  }

  /** Closes at once and drops what waits. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.outgoing.clear()
    this.decoder.clear()
    this.socket.terminate()
  }

  private begin(): number | undefined {
    if (this.isClosed) return undefined
    if (this.outgoing.reserve(headerBytes(this.framing) + frameBytesMaxDefault + 1)) {
      return this.outgoing.end
    }
    this.close()
    return undefined
  }

  private commit(start: number, bodyBytes: number, tpdu: Uint8Array): void {
    const reply =
      tpdu.length === 5
        ? Uint8Array.of(tpdu[0]!, tpdu[3]!, tpdu[4]!, tpdu[1]!, tpdu[2]!)
        : undefined
    this.outgoing.commit(writeFrame(this.framing, bodyBytes, this.outgoing.bytes, start, reply))
    if (this.isFlushing) return
    this.isFlushing = true
    setImmediate(() => {
      this.isFlushing = false
      this.flush()
    })
  }
}
