import type { Socket } from 'bun'

export type GrpcLoad = {
  readonly url: string
  /** `/package.Service/Method`. */
  readonly path: string
  readonly authorization: string
  readonly request: Uint8Array
  /** Calls under way at once, on one connection. */
  readonly calls: number
}

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const frameHeadBytes = 9
const data = 0
const headers = 1
const rstStream = 3
const settings = 4
const ping = 6
const goaway = 7
const windowUpdate = 8
const endStream = 1
const ack = 1
const endHeaders = 4
/** RFC 9113, 6.9.2. */
const windowAtFirst = 65_535
const windowStep = 32_768

/**
 * Makes one unary call over and over. It speaks HTTP/2 frames to a plain socket, because the library's client costs
 * more than its server, which would then wait and wake for each call alone.
 */
export const createGrpcLoad = (load: GrpcLoad): ((times: number) => Promise<number>) => {
  const { hostname, port } = new URL(load.url)
  const headers = headerBlock(load, `${hostname}:${port}`)
  const message = Buffer.alloc(5 + load.request.length)
  message.writeUInt32BE(load.request.length, 1)
  message.set(load.request, 5)
  return async (times) => {
    const connection = new Connection(headers, message, times)
    const socket = await Bun.connect<undefined>({
      hostname,
      port: Number(port),
      socket: {
        data: (_, chunk) => connection.take(chunk),
        drain: () => connection.flush(),
        error: (_, error) => connection.outcome.reject(error),
        close: () => connection.outcome.reject(new Error('the connection was closed')),
      },
    })
    connection.start(socket, load.calls)
    try {
      return await connection.outcome.promise
    } finally {
      socket.end()
    }
  }
}

/** The calls of one connection; the sizes of the answers make the checksum. */
class Connection {
  readonly outcome = Promise.withResolvers<number>()
  private socket: Socket<undefined> | undefined
  private unread: Buffer = Buffer.alloc(0)
  private unsent: Buffer = Buffer.alloc(0)
  private window = windowAtFirst
  private waiting = 0
  private stream = 1
  private sum = 0
  private answered = 0
  private received = 0
  private toSend: number
  private toCome: number
  private readonly headers: Buffer
  private readonly message: Buffer

  constructor(headers: Buffer, message: Buffer, times: number) {
    this.headers = headers
    this.message = message
    this.toSend = times
    this.toCome = times
  }

  start(socket: Socket<undefined>, calls: number): void {
    this.socket = socket
    this.send(Buffer.concat([Buffer.from(preface), frame(settings, 0, 0, Buffer.alloc(0))]))
    this.waiting = Math.min(calls, this.toSend)
    this.sendWaiting()
  }

  take(chunk: Buffer): void {
    this.unread = this.unread.length === 0 ? chunk : Buffer.concat([this.unread, chunk])
    let at = 0
    while (at + frameHeadBytes <= this.unread.length) {
      const end = at + frameHeadBytes + this.unread.readUIntBE(at, 3)
      if (end > this.unread.length) break
      this.frame(this.unread.subarray(at, end))
      at = end
    }
    this.unread = Buffer.from(this.unread.subarray(at))
    this.sendWaiting()
  }

  flush(): void {
    this.send(Buffer.alloc(0))
  }

  private frame(bytes: Buffer): void {
    const flags = bytes.readUInt8(4)
    const payload = bytes.subarray(frameHeadBytes)
    switch (bytes.readUInt8(3)) {
      case data:
        this.answered++
        this.sum += payload.length
        this.received += payload.length
        break
      case headers:
        if ((flags & endStream) !== 0) this.ended()
        break
      case settings:
        if ((flags & ack) === 0) this.send(frame(settings, ack, 0, Buffer.alloc(0)))
        break
      case ping:
        if ((flags & ack) === 0) this.send(frame(ping, ack, 0, payload))
        break
      case windowUpdate:
        if (bytes.readUInt32BE(5) === 0) this.window += payload.readUInt32BE(0)
        break
      case rstStream:
      case goaway:
        this.outcome.reject(new Error('the server gave up'))
        break
      default:
    }
    if (this.received < windowStep) return
    const update = Buffer.alloc(4)
    update.writeUInt32BE(this.received)
    this.received = 0
    this.send(frame(windowUpdate, 0, 0, update))
  }

  private ended(): void {
    // Trailers without an answer before them mean that the call failed.
    if (this.answered-- === 0) this.outcome.reject(new Error('a call failed'))
    if (--this.toCome === 0) this.outcome.resolve(this.sum)
    if (this.toSend > 0) this.waiting++
  }

  private sendWaiting(): void {
    const frames: Buffer[] = []
    while (this.waiting > 0 && this.toSend > 0 && this.window >= this.message.length) {
      this.waiting--
      this.toSend--
      this.window -= this.message.length
      frames.push(
        frame(headers, endHeaders, this.stream, this.headers),
        frame(data, endStream, this.stream, this.message),
      )
      this.stream += 2
    }
    if (frames.length > 0) this.send(Buffer.concat(frames))
  }

  private send(bytes: Buffer): void {
    const all = this.unsent.length === 0 ? bytes : Buffer.concat([this.unsent, bytes])
    this.unsent = all.subarray(this.socket?.write(all) ?? 0)
  }
}

const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(frameHeadBytes)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/**
 * Literal fields that neither side keeps (RFC 7541, 6.2.2), each of at most 126 bytes, so one byte holds its length.
 */
const headerBlock = ({ path, authorization }: GrpcLoad, authority: string): Buffer =>
  Buffer.concat(
    Object.entries({
      ':method': 'POST',
      ':scheme': 'http',
      ':path': path,
      ':authority': authority,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization,
    }).flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]),
  )

const literal = (text: string): Buffer => {
  const bytes = Buffer.from(text)
  if (bytes.length > 126) throw new Error('a longer header needs more than one byte for its length')
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}
