import type { Socket } from 'bun'
import { CodecError } from '#codecs/bytes'
import {
  type CardMessage,
  createMessagePacker,
  createPacker,
  createParser,
  FrameDecoder,
  frameBytesMaxDefault,
  gatewayMtis,
  headerBytes,
  readAnswer,
  readMessage,
  writeFrame,
} from '#codecs/iso8583'
import { SendBuffer } from '#src/platform/runtime/index.ts'
import type { Content } from '../content/index.ts'
import { dial } from './dial.ts'
import type { Exchanges, Lane } from './exchanges.ts'
import {
  approved,
  echoTest,
  managementRequest,
  signOff,
  signOffs,
  signOn,
  signOns,
  toManagementAnswer,
} from './management.ts'
import { exchangeKey, isAnswer } from './matching.ts'
import {
  answerMsMax,
  backoffDelayMs,
  echoMissesMax,
  type NetworkOptions,
  reconnect,
  sendBytesMax,
  signOffMs,
  stableMs,
  unreadableMax,
} from './options.ts'
import type { ExchangeOutcome } from './types.ts'

/** What the connections of one network share. */
type ConnectionContext = {
  readonly options: NetworkOptions
  readonly content: Content
  readonly exchanges: Exchanges
  /** A STAN for network management that no waiting message uses. */
  readonly nextStan: () => string
  /** Called for every message except requests of network management. */
  readonly onMessage: (message: CardMessage) => void
  /** Called for a well-formed message of an unknown type. */
  readonly onUnknownType: () => void
  /** Called for a frame without a message of the dialect; with the key of the request that it answers, where it has one. */
  readonly onUnreadable: (key: number | undefined, error: CodecError) => void
  readonly onUp: () => void
  readonly onLost: () => void
  readonly onEcho: () => void
}

const stanField = 11
/** The characters of other fields are the network's business. */
const usedFields: ReadonlySet<number> = new Set([4, stanField, 37, 38, 39, 41, 49, 70])
/** Numbers that a network masks are not compared. */
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

type State = 'down' | 'connecting' | 'signing_on' | 'up' | 'closed'

/**
 * One connection of a pool. It stays open, tests whether the peer is alive, and connects again after a loss. It writes
 * requests in the order of `send`, those of one turn of the event loop together; answers come in any order.
 */
export class Connection implements Lane {
  inFlight = 0
  private state: State = 'down'
  private socket: Socket<undefined> | undefined
  private readonly context: ConnectionContext
  private readonly outgoing = new SendBuffer(sendBytesMax)
  private readonly pack: ReturnType<typeof createMessagePacker>
  private readonly parser: ReturnType<typeof createParser>
  private readonly header: number
  private readonly frameBytesMax: number
  private decoder: FrameDecoder
  private isFlushing = false
  private isSignedOff = false
  private unreadable = 0
  private attempt = 0
  private upSince = 0
  private lastInbound = 0
  private echoMisses = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private readonly write = (bytes: Uint8Array): number => this.socket?.write(bytes) ?? 0

  constructor(context: ConnectionContext) {
    const { dialect, framing, frameBytesMax = frameBytesMaxDefault } = context.options
    this.context = context
    this.pack = createMessagePacker(createPacker(dialect))
    this.parser = createParser(dialect, usedFields)
    this.header = headerBytes(framing)
    this.frameBytesMax = frameBytesMax
    this.decoder = this.newDecoder()
  }

  get isUp(): boolean {
    return this.state === 'up' && !this.isSignedOff
  }

  get sentBytes(): number {
    return this.outgoing.sent
  }

  open(): void {
    this.state = 'connecting'
    this.connect().catch((error: unknown) => this.lose(error))
  }

  /**
   * Writes a frame; undefined if the buffer is full.
   *
   * @throws CodecError when the message cannot be packed; nothing of it is sent then
   */
  send(request: CardMessage, key: number, timeoutMs: number): Promise<ExchangeOutcome> | undefined {
    const start = this.outgoing.committed
    if (!this.append(request)) return undefined
    return this.context.exchanges.add(key, request, this, start, timeoutMs)
  }

  onStalled(): void {
    this.lose(new Error('the other side does not read'))
  }

  /** Signs off and closes; no request may be pending. */
  async close(): Promise<void> {
    const wasUp = this.state === 'up'
    if (wasUp) this.state = 'closed'
    if (wasUp && this.context.options.signOn) await this.manage(signOff, signOffMs)
    this.lose(undefined)
  }

  private async connect(): Promise<void> {
    const { options } = this.context
    const socket = await dial(options, options.answerMs ?? answerMsMax, {
      open: (opened) => {
        if (this.state === 'connecting') this.socket = opened
      },
      data: (from, chunk) => {
        if (from === this.socket) this.receive(chunk)
      },
      drain: (from) => {
        if (from === this.socket) this.flush()
      },
      close: (from) => {
        if (from === this.socket) this.lose(new Error('the connection was closed'))
      },
    })
    if (this.socket !== socket) {
      // Stopped meanwhile.
      socket.terminate()
      return
    }
    this.lastInbound = performance.now()
    this.isSignedOff = false
    this.unreadable = 0
    if (options.signOn) await this.signOn(socket)
    if (this.socket !== socket) return
    this.state = 'up'
    this.upSince = performance.now()
    if (options.echoMs > 0) this.watchSilence(options.echoMs)
    options.logger.info({ network: options.name }, 'connection to the card network is up')
    this.context.onUp()
  }

  private async signOn(socket: Socket<undefined>): Promise<void> {
    this.state = 'signing_on'
    const { answerMs = answerMsMax } = this.context.options
    const outcome = await this.manage(signOn, answerMs)
    if (outcome.kind === 'answered' && outcome.response.responseCode === approved) return
    if (this.socket === socket) this.lose(new Error('the network did not accept the sign-on'))
  }

  private async manage(networkCode: string, timeoutMs: number): Promise<ExchangeOutcome> {
    const { content, nextStan } = this.context
    const request = managementRequest(content, networkCode, nextStan(), new Date())
    const sent = this.send(request, exchangeKey(request.mti, request.stan), timeoutMs)
    return (await sent) ?? { kind: 'not_sent', reason: 'window_full' }
  }

  private append(message: CardMessage, tpdu?: Uint8Array): boolean {
    const { outgoing, header } = this
    const { framing } = this.context.options
    const room = header + this.frameBytesMax + 1
    if (!outgoing.reserve(room)) return false
    const start = outgoing.end
    try {
      const bodyBytes = this.pack(message, outgoing.bytes, start + header) - start - header
      if (bodyBytes > this.frameBytesMax)
        throw new Error('the message is longer than a frame may be')
      outgoing.commit(writeFrame(framing, bodyBytes, outgoing.bytes, start, tpdu))
    } catch (error) {
      outgoing.bytes.fill(0, start)
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

  /** Hands the kernel as many bytes as it takes. */
  flush(): void {
    if (this.socket !== undefined) this.outgoing.flush(this.write)
  }

  private newDecoder(): FrameDecoder {
    return new FrameDecoder(
      this.context.options.framing,
      {
        message: (bytes, start, end, tpdu) => this.take(bytes, start, end, tpdu),
        keepAlive: () => undefined,
      },
      this.frameBytesMax,
    )
  }

  private receive(chunk: Uint8Array): void {
    this.lastInbound = performance.now()
    this.echoMisses = 0
    try {
      this.decoder.push(chunk)
    } catch (error) {
      this.lose(error)
    } finally {
      // Answers repeat the card number.
      chunk.fill(0)
    }
  }

  private take(bytes: Uint8Array, start: number, end: number, tpdu: Uint8Array): void {
    if (this.socket === undefined) return
    try {
      this.takeMessage(this.read(bytes, start, end), tpdu)
      this.unreadable = 0
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      this.takeUnreadable(error)
    }
  }

  /** The frame's bounds are sound, so what follows can be read: only one exchange is unknown. */
  private takeUnreadable(error: CodecError): void {
    const { parser } = this
    const mti = gatewayMtis.find((one) => one === parser.mti)
    const stan = parser.has(stanField) ? parser.text(stanField) : undefined
    const key = mti !== undefined && isAnswer(mti) ? exchangeKey(mti, stan) : -1
    this.context.onUnreadable(key < 0 ? undefined : key, error)
    if (++this.unreadable < unreadableMax) return
    this.lose(new Error(`${unreadableMax} frames in a row hold no message of the dialect`))
  }

  private takeMessage(message: CardMessage | undefined, tpdu: Uint8Array): void {
    if (message === undefined) this.context.onUnknownType()
    else if (message.mti === '0800') this.answerManagement(message, tpdu)
    else {
      if (this.state === 'up' && message.mti !== '0810') this.attempt = 0
      this.context.onMessage(message)
    }
  }

  private read(bytes: Uint8Array, start: number, end: number): CardMessage | undefined {
    this.parser.parse(bytes, start, end)
    try {
      // The answer to a request of network management repeats all its fields.
      if (this.parser.mti === '0800') return readMessage(this.parser)
      const answer = readAnswer(this.parser)
      // To be compared with that of the request.
      const pan = this.parser.copy(2)
      if (pan?.every(isDigit) === true) answer.pan = pan
      else pan?.fill(0)
      const { keeper } = this.context.content
      if (keeper !== undefined) answer.more = this.keep(keeper.fields)
      return answer
    } catch (error) {
      if (error instanceof CodecError && error.code === 'iso8583_mti_unsupported') return undefined
      throw error
    }
  }

  private keep(fields: ReadonlySet<number>): Map<number, Uint8Array> {
    const kept = new Map<number, Uint8Array>()
    for (const de of fields) {
      const bytes = this.parser.copy(de)
      if (bytes !== undefined) kept.set(de, bytes)
    }
    return kept
  }

  private answerManagement(request: CardMessage, tpdu: Uint8Array): void {
    // Destination and source change places.
    const reply =
      tpdu.length === 5
        ? Uint8Array.of(tpdu[0]!, tpdu[3]!, tpdu[4]!, tpdu[1]!, tpdu[2]!)
        : undefined
    const { networkCode = '' } = request
    if (!this.append(toManagementAnswer(request), reply)) this.onStalled()
    if (signOffs.has(networkCode)) this.signedOff(true)
    else if (signOns.has(networkCode)) this.signedOff(false)
  }

  /** After the network's sign-off, its connection takes no requests until its sign-on. */
  private signedOff(isSignedOff: boolean): void {
    this.isSignedOff = isSignedOff
    if (this.isUp) this.context.onUp()
    const { logger, name } = this.context.options
    logger.warn(
      { network: name },
      isSignedOff ? 'the card network has signed off' : 'the card network has signed on',
    )
  }

  /** Checks after `waitMs` whether anything came from the other side. */
  private watchSilence(waitMs: number): void {
    const { socket } = this
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      if (this.socket !== socket) return
      const { echoMs } = this.context.options
      const silentMs = performance.now() - this.lastInbound
      if (silentMs < echoMs - 1) this.watchSilence(echoMs - silentMs)
      else this.echo(socket).catch((error: unknown) => this.lose(error))
    }, waitMs)
  }

  private async echo(socket: Socket<undefined> | undefined): Promise<void> {
    const { echoMs, answerMs = answerMsMax } = this.context.options
    const askedAt = performance.now()
    const outcome = await this.manage(echoTest, Math.min(echoMs, answerMs))
    if (this.socket !== socket) return
    if (outcome.kind === 'answered') this.context.onEcho()
    // Whatever came in between is a sign of life too.
    if (this.lastInbound < askedAt && ++this.echoMisses >= echoMissesMax) {
      this.lose(new Error('the network does not answer echo tests'))
      return
    }
    this.watchSilence(this.lastInbound < askedAt ? 0 : echoMs)
  }

  /** Ends the connection in any state; without `reason` for good. */
  private lose(reason: unknown): void {
    if (this.state === 'down' || (this.state === 'closed' && this.socket === undefined)) {
      if (reason === undefined) this.state = 'closed'
      clearTimeout(this.timer)
      return
    }
    const { socket } = this
    const { exchanges, options } = this.context
    const isFinal = reason === undefined || this.state === 'closed'
    if (isFinal) this.flush()
    if (this.state === 'up' && performance.now() - this.upSince > stableMs) this.attempt = 0
    this.state = isFinal ? 'closed' : 'down'
    this.socket = undefined
    clearTimeout(this.timer)
    exchanges.failLane(this)
    if (isFinal) socket?.end()
    else socket?.terminate()
    this.outgoing.clear()
    this.decoder.clear()
    this.decoder = this.newDecoder()
    this.echoMisses = 0
    if (isFinal) return
    this.context.onLost()
    const delayMs = backoffDelayMs(
      this.attempt++,
      options.reconnect ?? reconnect,
      options.random ?? Math.random,
    )
    options.logger.warn(
      {
        network: options.name,
        reason: reason instanceof Error ? reason.message : '',
        retryInMs: Math.round(delayMs),
      },
      'no connection to the card network',
    )
    this.timer = setTimeout(() => this.open(), delayMs)
  }
}
