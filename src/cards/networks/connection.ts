import type { Socket } from 'bun'
import { CodecError } from '#codecs/bytes'
import { type CardMessage, FrameDecoder, frameBytesMaxDefault } from '#codecs/iso8583'
import { backoffMs } from '#src/platform/runtime/index.ts'
import { messageFeeFields } from '../reconciliation/fees.ts'
import type { LinkKeys } from '../security/index.ts'
import { Advices, isAdvice } from './advices.ts'
import type { ConnectionContext } from './connection-context.ts'
import { dial } from './dial.ts'
import { identityOf, type Lane } from './exchanges.ts'
import { Inbound, replyTpdu, type SealedBytes } from './inbound.ts'
import { Liveness } from './liveness.ts'
import {
  approved,
  cutOver,
  echoTest,
  managementRequest,
  signOff,
  signOffs,
  signOn,
  signOns,
  toManagementAnswer,
  withoutFields,
} from './management.ts'
import { exchangeKey, isManagementKey } from './matching.ts'
import { answerMsMax, reconnect, signOffMs, stableMs, unreadableMax } from './options.ts'
import { Outbound } from './outbound.ts'
import { createSealer, fieldReaderOf, type Sealer } from './sealing.ts'
import { areKeysConfirmed, isSealedRight, keysIn, sendSealed } from './secured.ts'
import type { ExchangeOutcome } from './types.ts'

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
  private readonly outbound: Outbound
  private readonly inbound: Inbound
  private readonly sealer: Sealer | undefined
  private readonly frameBytesMax: number
  private decoder: FrameDecoder
  private isSignedOff = false
  /** The last attempt to connect failed, and none has been up since. */
  private hasFailed = false
  private unreadable = 0
  private readonly advices: Advices
  private attempt = 0
  private upSince = 0
  readonly liveness: Liveness
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(context: ConnectionContext) {
    const { dialect, frameBytesMax = frameBytesMaxDefault } = context.options
    const { content, keys } = context
    this.context = context
    this.outbound = new Outbound(
      context.options,
      (bytes) => this.socket?.write(bytes) ?? 0,
      () => this.lose(new Error('a message waited for longer than its answer may take')),
    )
    // Fees are compared with those of the day.
    const fees = context.options.reconciliation === undefined ? [] : messageFeeFields
    const kept = new Set([...(content.keeper?.fields ?? []), ...fees])
    this.inbound = new Inbound(dialect, kept, keys?.fields ?? new Set())
    this.sealer = keys?.hasMac === true ? createSealer(dialect, frameBytesMax) : undefined
    this.advices = new Advices(context)
    this.liveness = new Liveness(context.options, {
      ask: (timeoutMs) => this.manage(echoTest, timeoutMs),
      onEcho: context.onEcho,
      onGone: (reason) => this.lose(reason),
    })
    this.frameBytesMax = frameBytesMax
    this.decoder = this.newDecoder()
  }

  get isUp(): boolean {
    return this.state === 'up' && !this.isSignedOff
  }

  /** Away by the network's doing: it has signed off, or an attempt to connect has failed. One that was just lost may come back. */
  get isAway(): boolean {
    return this.state === 'up' ? this.isSignedOff : this.hasFailed
  }

  get sentBytes(): number {
    return this.outbound.sent
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
    const { exchanges, keys } = this.context
    if (keys !== undefined && this.sealer !== undefined && !isManagementKey(key)) {
      const { sealer, socket, outbound } = this
      const secured = {
        keys,
        sealer,
        exchanges,
        options: this.context.options,
        lane: this,
        place: () => (this.socket === socket && this.isUp ? outbound.committed : undefined),
        append: (bytes: Uint8Array, withinMs: number) => outbound.appendBytes(bytes, withinMs),
      }
      return sendSealed(secured, request, key, timeoutMs)
    }
    const start = this.outbound.committed
    if (!this.outbound.append(request, timeoutMs)) return undefined
    return exchanges.add(key, identityOf(request), this, start, timeoutMs)
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
    this.liveness.heard()
    this.isSignedOff = false
    this.unreadable = 0
    if (options.signOn) await this.signOn(socket)
    if (this.socket !== socket || !(await this.obtainKeys())) return
    this.state = 'up'
    this.upSince = performance.now()
    this.liveness.start()
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

  /** Where the network gives keys to who asks: before any traffic, and if it may have forgotten them. @returns whether the connection may go on */
  async obtainKeys(): Promise<boolean> {
    const { socket } = this
    const { keys } = this.context
    if (keys === undefined) return true
    const { answerMs = answerMsMax } = this.context.options
    const code = keys.exchange?.networkCode ?? ''
    const hasKeys = await keys.obtain(async () =>
      keysIn(await this.manage(code, answerMs), this.context.options),
    )
    if (this.socket !== socket) return false
    if (!hasKeys) this.lose(new Error('the network gave no keys'))
    return hasKeys
  }

  private async manage(networkCode: string, timeoutMs: number): Promise<ExchangeOutcome> {
    const { content, nextStan } = this.context
    const request = managementRequest(content, networkCode, nextStan(), new Date())
    const sent = this.send(request, exchangeKey(request.mti, request.stan), timeoutMs)
    return (await sent) ?? { kind: 'not_sent', reason: 'window_full' }
  }

  /** Hands the kernel as many bytes as it takes. */
  flush(): void {
    if (this.socket !== undefined) this.outbound.flush()
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
    this.liveness.heard()
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
      const message = this.inbound.read(bytes, start, end)
      if (message === undefined) this.context.onUnknownType()
      else if (message.mti === '0800') this.answerManagement(message, replyTpdu(tpdu))
      else if (isAdvice(message.mti)) {
        const sealed = this.sealer && this.inbound.sealed(bytes, start, end)
        this.takeAdvice(message, sealed, tpdu)
      } else this.takeAnswer(message, bytes, start, end)
      this.unreadable = 0
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      this.takeUnreadable(error)
    }
  }

  /** The frame's bounds are sound, so what follows can be read: only one exchange is unknown. */
  private takeUnreadable(error: CodecError): void {
    this.context.onUnreadable(this.inbound.answeredKey(), error)
    if (++this.unreadable < unreadableMax) return
    this.lose(new Error(`${unreadableMax} frames in a row hold no message of the dialect`))
  }

  private takeAnswer(message: CardMessage, bytes: Uint8Array, start: number, end: number): void {
    const { keys, onMessage } = this.context
    const isPayment = message.mti !== '0810'
    if (this.state === 'up' && isPayment) this.attempt = 0
    if (isPayment) this.liveness.answered()
    if (keys === undefined || this.sealer === undefined || !isPayment) onMessage(message)
    else void this.takeSealed(keys, message, this.inbound.sealed(bytes, start, end))
  }

  /** An answer counts once its code was found right. */
  private async takeSealed(
    keys: LinkKeys,
    message: CardMessage,
    sealed: SealedBytes | undefined,
  ): Promise<void> {
    if (await isSealedRight(keys, message, sealed, this.context)) this.context.onMessage(message)
  }

  private takeAdvice(
    message: CardMessage,
    sealed: SealedBytes | undefined,
    tpdu: Uint8Array,
  ): void {
    const { socket, outbound } = this
    const { timeoutMs } = this.context.options
    const reply = replyTpdu(tpdu)
    void this.advices.take(message, sealed, (answer) => {
      if (this.socket !== socket) return
      const isRoom =
        answer instanceof Uint8Array
          ? outbound.appendBytes(answer, timeoutMs, reply)
          : outbound.appendAnswer(answer, timeoutMs, reply)
      if (!isRoom) this.onStalled()
    })
  }

  private answerManagement(request: CardMessage, reply: Uint8Array | undefined): void {
    const { networkCode = '' } = request
    const { keys, options } = this.context
    if (keys !== undefined && networkCode === keys.exchange?.networkCode) {
      this.logged(this.takeKeys(keys, request, reply))
    } else if (networkCode === cutOver && options.reconciliation?.isByNetwork === true) {
      this.logged(this.takeCutOver(request, reply))
    } else {
      if (signOffs.has(networkCode)) this.signedOff(true)
      this.reply(toManagementAnswer(request), reply)
      if (signOns.has(networkCode)) this.signedOff(false)
    }
  }

  private logged(work: Promise<void>): void {
    const { logger, name } = this.context.options
    const text = 'a request of network management was not answered'
    work.catch((err: unknown) => logger.error({ network: name, err }, text))
  }

  /** Answers the network's own message; the connection ends where there is no room. */
  private reply(answer: CardMessage, tpdu: Uint8Array | undefined): boolean {
    const isRoom = this.outbound.appendAnswer(answer, this.context.options.timeoutMs, tpdu)
    if (!isRoom) this.onStalled()
    return isRoom
  }

  /** Answered once it is kept: the network tells it again otherwise. */
  private async takeCutOver(request: CardMessage, reply: Uint8Array | undefined): Promise<void> {
    const { socket } = this
    const isKept = await this.context.options.onCutOver?.(request.settlementDate)
    if (isKept !== true || this.socket !== socket) return
    this.reply(toManagementAnswer(request), reply)
  }

  /**
   * The new keys are used from the answer on, as before it the network does not know that we have them; or once the
   * network has answered our confirmation, where it waits for one.
   */
  private async takeKeys(keys: LinkKeys, request: CardMessage, tpdu?: Uint8Array): Promise<void> {
    const { socket } = this
    const { options } = this.context
    const { code, use } = await keys.take(fieldReaderOf(request, options.dialect))
    if (this.socket !== socket) return
    const answer = toManagementAnswer(withoutFields(request, keys.fields), code)
    if (!this.reply(answer, tpdu)) return
    const { confirmationCode } = keys.exchange ?? {}
    if (code !== approved) return
    const ask = async (): Promise<ExchangeOutcome | undefined> =>
      this.socket === socket
        ? this.manage(confirmationCode ?? '', options.answerMs ?? answerMsMax)
        : undefined
    if (confirmationCode === undefined || (await areKeysConfirmed(ask, options))) use()
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

  onUnanswered(): void {
    if (this.state === 'up') this.liveness.onUnanswered()
  }

  /** Ends the connection in any state; without `reason` for good. */
  private lose(reason: unknown): void {
    if (this.state === 'down' || (this.state === 'closed' && this.socket === undefined)) {
      // A chunk may hold two faults; after the first, the next connection is timed already.
      if (reason !== undefined) return
      this.state = 'closed'
      clearTimeout(this.timer)
      return
    }
    const { socket } = this
    const { exchanges, options } = this.context
    const isFinal = reason === undefined || this.state === 'closed'
    this.hasFailed = this.state !== 'up' || this.isSignedOff
    if (isFinal) this.flush()
    if (this.state === 'up' && performance.now() - this.upSince > stableMs) this.attempt = 0
    this.state = isFinal ? 'closed' : 'down'
    this.socket = undefined
    clearTimeout(this.timer)
    this.liveness.stop()
    exchanges.failLane(this)
    if (isFinal) socket?.end()
    else socket?.terminate()
    this.outbound.clear()
    this.decoder.clear()
    this.decoder = this.newDecoder()
    if (isFinal) return
    this.context.onLost()
    const delayMs = backoffMs(++this.attempt, options.reconnect ?? reconnect, options.random)
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
