import type { Socket } from 'bun'
import {
  CardMessage,
  createMessagePacker,
  createPacker,
  createParser,
  dialects,
  FrameDecoder,
  type Framing,
  framings,
  headerBytes,
  readMessage,
  writeFrame,
} from '#codecs/iso8583'
import { SendBuffer } from '#src/platform/runtime/index.ts'
import { freePort } from './free-port.ts'

/** One connection as the other side of a gateway sees it. */
export type RawConnection = {
  readonly socket: Socket<undefined>
  readonly received: CardMessage[]
  /** Bytes that came, before anything is made of them. */
  readonly receivedBytes: () => number
  /** Writes all of it, as the gateway reads. */
  readonly send: (bytes: Uint8Array) => void
  isOpen: boolean
}

export type RawPeer = Disposable & {
  readonly port: number
  readonly connections: RawConnection[]
  /** All connections' messages, in the order of coming. */
  readonly received: CardMessage[]
}

const sendBytesMax = 67_108_864
const dialect = dialects['ascii']!
const pack = createMessagePacker(createPacker(dialect))
const loosePack = createMessagePacker(createPacker(dialect, new Set()))

/** The message as a frame of its own. */
export const frameOf = (
  message: CardMessage,
  framing: Framing = framings['binary-2'],
  tpdu?: Uint8Array,
  by = pack,
): Uint8Array => {
  const out = new Uint8Array(20_000)
  const header = headerBytes(framing)
  const end = by(message, out, header)
  return out.slice(0, writeFrame(framing, end - header, out, 0, tpdu))
}

/** The same of one whose fields may hold what is not of their type. */
export const looseFrameOf = (message: CardMessage): Uint8Array =>
  frameOf(message, undefined, undefined, loosePack)

/** The answer that approves a request. */
export const approvalOf = (request: CardMessage): CardMessage => {
  const mti = `${request.mti.slice(0, 2)}10` as CardMessage['mti']
  return Object.assign(new CardMessage(), request, { mti, responseCode: '00' })
}

export const management = (networkCode: string, stan = '000001'): CardMessage =>
  Object.assign(new CardMessage(), {
    mti: '0800',
    transmissionDateTime: '1120120000',
    stan,
    networkCode,
  })

/** A server over plain sockets that does what the test says, message by message. */
export const createRawPeer = (
  onMessage: (
    connection: RawConnection,
    message: CardMessage,
    tpdu: Uint8Array,
  ) => void | Promise<void>,
  options: {
    readonly framing?: Framing
    /** The fields whose characters it checks; all when not given. */
    readonly checked?: ReadonlySet<number>
    readonly onOpen?: (connection: RawConnection) => void
  } = {},
): RawPeer => {
  const { framing = framings['binary-2'] } = options
  const connections: RawConnection[] = []
  const received: CardMessage[] = []
  const decoders = new Map<Socket<undefined>, FrameDecoder>()
  const buffers = new Map<Socket<undefined>, SendBuffer>()
  const bytes = new Map<Socket<undefined>, number>()
  const find = (socket: Socket<undefined>) => connections.find((one) => one.socket === socket)
  const listener = Bun.listen<undefined>({
    hostname: '127.0.0.1',
    port: freePort(),
    socket: {
      open: (socket) => {
        const outgoing = new SendBuffer(sendBytesMax)
        buffers.set(socket, outgoing)
        const connection: RawConnection = {
          socket,
          received: [],
          receivedBytes: () => bytes.get(socket) ?? 0,
          send: (sent) => {
            if (!outgoing.reserve(sent.length)) throw new Error('the test sends too much')
            outgoing.bytes.set(sent, outgoing.end)
            outgoing.commit(outgoing.end + sent.length)
            outgoing.flush((some) => socket.write(some))
          },
          isOpen: true,
        }
        connections.push(connection)
        const parser = createParser(dialect, options.checked)
        const decoder = new FrameDecoder(framing, {
          message: (from, start, end, tpdu) => {
            const message = readMessage(parser.parse(from, start, end))
            connection.received.push(message)
            received.push(message)
            const done = onMessage(connection, message, tpdu.slice())
            done?.catch((error: unknown) => {
              throw error
            })
          },
          keepAlive: () => undefined,
        })
        decoders.set(socket, decoder)
        options.onOpen?.(connection)
      },
      data: (socket, chunk) => {
        bytes.set(socket, (bytes.get(socket) ?? 0) + chunk.length)
        decoders.get(socket)?.push(chunk)
      },
      drain: (socket) => void buffers.get(socket)?.flush((some) => socket.write(some)),
      close: (socket) => {
        const connection = find(socket)
        if (connection !== undefined) connection.isOpen = false
      },
    },
  })
  return {
    port: listener.port,
    connections,
    received,
    [Symbol.dispose]: () => listener.stop(true),
  }
}
