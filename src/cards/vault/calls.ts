import type { Socket } from 'bun'
import { withoutSlashes } from '#src/platform/runtime/index.ts'
import type { TlsOptions } from '#src/platform/security/index.ts'
import { dial } from '../networks/dial.ts'
import { AnswerReader, type VaultAnswer } from './answer-reader.ts'

/** No more connections at once: more calls wait for one. */
const connectionsMax = 128
/** Calls beyond these would wait for longer than any caller does. */
const waitingMax = 10_000
/** Something on the way may have forgotten a connection that was unused for longer. */
const idleMsMax = 30_000

/** The answer did not come in time. */
export class CallTimeoutError extends Error {
  override readonly name = 'CallTimeoutError'
}

/** Reads what it needs of the answer, which is wiped after that. */
type Use<T> = (answer: VaultAnswer, bytes: Buffer) => T

export type VaultCalls = {
  /**
   * Sends a body of JSON to a path below the URL, and gives what `use` reads of the answer. A call is written once, but for one over a kept
   * connection that ends before a byte of an answer: the other side had closed it meanwhile (RFC 9112 section 9.3.1).
   *
   * @throws CallTimeoutError, AnswerError, Error of the connection, or where too many calls wait for one
   */
  readonly post: <T>(path: string, json: string, use: Use<T>) => Promise<T>
  readonly close: () => void
}

export type VaultCallsOptions = {
  /** Without a query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The current client certificate and key, and the authorities that may issue the server's; undefined: the usual. */
  readonly tls: (() => TlsOptions) | undefined
  /** For the whole call. */
  readonly timeoutMs: number
}

/**
 * POST to one server over HTTP/1.1, over connections of our own that are kept: a call costs half of what `fetch` costs,
 * and the answer is in a buffer that can be wiped. One call at a time goes over a connection.
 */
export const createVaultCalls = (options: VaultCallsOptions): VaultCalls => {
  const { timeoutMs } = options
  const place = placeOf(options)
  const idle: Line[] = []
  const all = new Set<Line>()
  const waiting: Call[] = []

  /** The first that waits and whose time is not over. */
  const nextWaiting = (): Call | undefined => {
    let next = waiting.shift()
    while (next?.isOver === true) next = waiting.shift()
    return next
  }

  const forget = (line: Line): void => {
    all.delete(line)
    const at = idle.indexOf(line)
    if (at !== -1) idle.splice(at, 1)
    const next = nextWaiting()
    if (next !== undefined) start(next)
  }

  const free = (line: Line): void => {
    const next = nextWaiting()
    if (next === undefined) idle.push(line)
    else line.send(next)
  }

  /** A kept connection that may still be used. */
  const kept = (): Line | undefined => {
    for (let line = idle.pop(); line !== undefined; line = idle.pop()) {
      if (line.isFresh(place.current())) return line
      line.end()
    }
    return undefined
  }

  const start = (call: Call): void => {
    const line = kept()
    if (line !== undefined) line.send(call)
    else if (all.size < connectionsMax) {
      new Line(place, { all, free, forget, start }).open(call, timeoutMs)
    } else if (waiting.length < waitingMax) waiting.push(call)
    else call.failed(new Error('too many calls wait for a connection'))
  }

  return {
    post: <T>(path: string, json: string, use: Use<T>) => {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const request = `POST ${place.pathname}${path}${place.head}${Buffer.byteLength(json)}\r\n\r\n${json}`
      const take: Take = (answer, bytes) => resolve(use(answer, bytes))
      start(new Call(request, take, reject, timeoutMs))
      return promise
    },
    close: () => {
      for (const call of waiting.splice(0)) call.failed(new Error('the connections were ended'))
      for (const line of all) line.end()
    },
  }
}

type Place = {
  readonly host: string
  readonly port: number
  readonly pathname: string
  /** The head of every request behind its path, up to the length of its body. */
  readonly head: string
  /** Undefined without TLS. */
  readonly current: () => TlsOptions | undefined
}

const usual: TlsOptions = {}

const placeOf = ({ url, headers, tls }: VaultCallsOptions): Place => {
  const { protocol, hostname, host, port, pathname } = new URL(url)
  const isSecure = protocol === 'https:'
  // Refuses what would end a field before its time.
  const fields = [...new Headers(headers)].map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port || (isSecure ? 443 : 80)),
    pathname: withoutSlashes(pathname),
    head: ` HTTP/1.1\r\nhost: ${host}\r\n${fields.join('')}content-length: `,
    current: isSecure ? (tls ?? (() => usual)) : () => undefined,
  }
}

type Take = (answer: VaultAnswer, bytes: Buffer) => void

/** A request, and who waits for its answer. */
class Call {
  isOver = false
  line: Line | undefined = undefined
  readonly request: string
  private readonly take: Take
  private readonly reject: (error: Error) => void
  private readonly timer: Timer

  constructor(request: string, take: Take, reject: (error: Error) => void, timeoutMs: number) {
    this.request = request
    this.take = take
    this.reject = reject
    this.timer = setTimeout(() => {
      const { line } = this
      this.failed(new CallTimeoutError('no answer in time'))
      line?.end()
    }, timeoutMs)
  }

  answered(answer: VaultAnswer, bytes: Buffer): void {
    if (this.ends()) this.take(answer, bytes)
  }

  failed(error: Error): void {
    if (this.ends()) this.reject(error)
  }

  private ends(): boolean {
    if (this.isOver) return false
    this.isOver = true
    clearTimeout(this.timer)
    return true
  }
}

type Pool = {
  readonly all: Set<Line>
  readonly free: (line: Line) => void
  readonly forget: (line: Line) => void
  readonly start: (call: Call) => void
}

/** One connection. */
class Line {
  private readonly reader = new AnswerReader()
  private readonly tls: TlsOptions | undefined
  private socket: Socket<undefined> | undefined = undefined
  private call: Call | undefined = undefined
  private answers = 0
  private usedMs = performance.now()
  private isOver = false
  private readonly place: Place
  private readonly pool: Pool

  constructor(place: Place, pool: Pool) {
    this.place = place
    this.pool = pool
    this.tls = place.current()
    pool.all.add(this)
  }

  /** Whether another request may go over it, with this material. */
  isFresh(tls: TlsOptions | undefined): boolean {
    return this.tls === tls && performance.now() - this.usedMs < idleMsMax
  }

  open(call: Call, timeoutMs: number): void {
    this.call = call
    call.line = this
    const { host, port } = this.place
    const { tls } = this
    const to = { host, port, ...(tls === undefined ? {} : { tls: { current: () => tls } }) }
    const lost = () => this.lost(new Error('the connection was closed'))
    dial(to, timeoutMs, {
      open: (socket) => {
        this.socket = socket
      },
      data: (socket, piece) => this.read(socket, piece),
      drain: () => undefined,
      close: lost,
    }).then(
      (socket) => (this.isOver ? void socket.terminate() : this.begin(call)),
      (error: Error) => this.lost(error),
    )
  }

  private begin(call: Call): void {
    if (!call.isOver) this.send(call)
  }

  send(call: Call): void {
    this.call = call
    call.line = this
    this.usedMs = performance.now()
    const { request } = call
    const written = this.socket?.write(request) ?? -1
    // Less than a kernel's buffer: what does not fit into an empty one cannot be sent at all.
    if (written < Buffer.byteLength(request)) this.lost(new Error('the connection takes nothing'))
  }

  end(): void {
    this.lost(new Error('the connection was ended'))
  }

  private read(socket: Socket<undefined>, piece: Uint8Array): void {
    if (this.socket !== socket || this.isOver) {
      piece.fill(0)
      return
    }
    try {
      const answer = this.reader.take(piece)
      if (this.call === undefined) throw new Error('an answer that nobody has asked for')
      if (answer !== undefined) this.finish(answer)
    } catch (error) {
      this.lost(error as Error)
    }
  }

  private finish(answer: VaultAnswer): void {
    const { call, reader } = this
    this.call = undefined
    try {
      call?.answered(answer, reader.bytes)
    } finally {
      reader.clear()
    }
    this.answers++
    if (answer.isKept) this.pool.free(this)
    else this.end()
  }

  private lost(error: Error): void {
    if (this.isOver) return
    const { call, reader, socket } = this
    const last = reader.end()
    if (last !== undefined && call !== undefined) {
      this.finish(last)
      return
    }
    this.isOver = true
    this.call = undefined
    const isAgain = this.answers > 0 && !reader.hasBegun
    reader.clear()
    this.pool.forget(this)
    socket?.terminate()
    if (call === undefined) return
    if (isAgain && !call.isOver) this.pool.start(call)
    else call.failed(error)
  }
}
