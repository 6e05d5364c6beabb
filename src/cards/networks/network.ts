import type { CodecError } from '#codecs/bytes'
import type { CardMessage } from '#codecs/iso8583'
import { isTracing } from '#src/platform/observe/index.ts'
import { isHere } from '#src/platform/security/index.ts'
import { type Content, createContent } from '../content/index.ts'
import { LinkKeys } from '../security/index.ts'
import type { AdviceRules } from './advice-rules.ts'
import { type AnswerRules, answerCodes1987, createAnswerRules } from './answers.ts'
import { Connection } from './connection.ts'
import { Exchanges } from './exchanges.ts'
import { type LimitedLog, limitedLog } from './limited-log.ts'
import { exchangeKey, isAnswer } from './matching.ts'
import { type NetworkCounts, noCounts } from './metrics.ts'
import { connectWaitersMax, connectWaitMs, drainMs, type NetworkOptions } from './options.ts'
import type { ReconciliationRules } from './reconciliation-form.ts'
import { WrongCodes } from './secured.ts'
import { tracedExchange } from './traced.ts'
import type { AdviceReply, ExchangeOutcome, Network, NetworkHealth, Original } from './types.ts'

const stanMax = 999_999
const noConnection: ExchangeOutcome = Object.freeze({
  kind: 'not_sent',
  reason: 'no_connection',
})
const stopping: ExchangeOutcome = Object.freeze({ kind: 'not_sent', reason: 'stopping' })
const windowFull: ExchangeOutcome = Object.freeze({ kind: 'not_sent', reason: 'window_full' })
const duplicateKey: ExchangeOutcome = Object.freeze({ kind: 'not_sent', reason: 'duplicate_key' })

/**
 * A pool of connections to one card network. Does nothing until `start`.
 *
 * @throws Error for a dialect that is not of version 1987
 */
export const createNetwork = (options: NetworkOptions): Network => new ConnectionPool(options)

class ConnectionPool implements Network {
  readonly name: string
  readonly brand: string
  readonly timeoutMs: number
  readonly authorizationHours: number | undefined
  readonly advices: AdviceRules | undefined
  readonly reconciliation: ReconciliationRules | undefined
  readonly answers: AnswerRules
  readonly content: Content
  readonly keys: LinkKeys | undefined
  private readonly options: NetworkOptions
  private readonly exchanges = new Exchanges()
  private readonly connections: readonly Connection[]
  private readonly counts: NetworkCounts
  private managementStan: number
  /** Requests that wait for a connection. */
  private readonly waiting = new Set<() => void>()
  private lastEcho: NetworkHealth['lastEcho']
  private isStopping = false
  /** The place of the connection that the last request went over. */
  private lastUsed = -1
  private readonly wrongCodes = new WrongCodes()
  private readonly log: LimitedLog

  constructor(options: NetworkOptions) {
    if (options.dialect.version !== '1987') {
      throw new Error(`network ${options.name}: only dialects of version 1987`)
    }
    this.options = options
    this.log = limitedLog(options.logger)
    this.name = options.name
    this.brand = options.brand
    this.timeoutMs = options.timeoutMs
    this.authorizationHours = options.authorizationHours
    this.advices = options.advices
    this.reconciliation = options.reconciliation
    this.answers = createAnswerRules(options.answers ?? answerCodes1987)
    this.content = options.content ?? createContent(options.dialect)
    this.keys = linkKeysOf(options)
    this.counts = options.metrics?.of(options.name, () => this.health()) ?? noCounts
    // Avoids the same numbers right after a restart.
    this.managementStan = Math.floor((options.random ?? Math.random)() * stanMax)
    this.exchanges.onTimedOut = () => this.counts.timeouts.inc()
    const context = {
      options,
      content: this.content,
      exchanges: this.exchanges,
      nextStan: () => this.nextStan(),
      onMessage: (message: CardMessage) => this.take(message),
      onAdvice: (message: CardMessage) => this.takeAdvice(message),
      onUnknownType: () => this.unexpected(undefined),
      onUnreadable: (key: number | undefined, { code, offset, context: at }: CodecError) => {
        this.counts.unexpected.inc()
        const isOfRequest = key !== undefined && this.exchanges.fail(key)
        this.limitedWarn(
          { code, offset, field: at['field'] ?? null, answers_request: isOfRequest },
          'a frame of the network holds no message of its dialect',
        )
      },
      keys: this.keys,
      onRightCode: () => this.wrongCodes.right(),
      onWrongCode: (message: CardMessage) => this.wrongCode(message),
      onUnverified: (message: CardMessage, error: unknown) => this.unverified(message, error),
      onUp: () => {
        this.wakeWaiting()
        options.onUp?.()
      },
      onLost: () => this.lost(),
      onEcho: (roundTripMs: number) => {
        this.lastEcho = { at: new Date(), roundTripMs }
      },
    }
    this.connections = Array.from({ length: options.poolSize }, () => new Connection(context))
  }

  exchange(request: CardMessage, timeoutMs: number, follows?: Original): Promise<ExchangeOutcome> {
    if (!isTracing()) return this.send(request, timeoutMs, follows)
    return tracedExchange(this.options, request, () => this.send(request, timeoutMs, follows))
  }

  private send(
    request: CardMessage,
    timeoutMs: number,
    follows: Original | undefined,
  ): Promise<ExchangeOutcome> {
    const key = exchangeKey(request.mti, request.stan)
    if (key < 0) return Promise.reject(new Error('the request has no STAN of six digits'))
    if (this.exchanges.has(key)) return Promise.resolve(duplicateKey)
    const connection = this.laneAfter(follows) ?? this.leastLoaded()
    if (connection === undefined) return Promise.resolve(this.isStopping ? stopping : noConnection)
    if (connection.inFlight >= this.options.window) return Promise.resolve(windowFull)
    try {
      return connection.send(request, key, timeoutMs) ?? Promise.resolve(windowFull)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  whenUp(): Promise<void> | undefined {
    if (this.isStopping || this.connections.some(({ isUp }) => isUp)) return undefined
    if (this.waiting.size >= connectWaitersMax) return undefined
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, this.options.connectWaitMs ?? connectWaitMs)
      this.waiting.add(wake)
    })
  }

  isAway(): boolean {
    return this.connections.every(({ isAway }) => isAway)
  }

  private wakeWaiting(): void {
    for (const wake of [...this.waiting]) wake()
  }

  isPending(stan: string): boolean {
    return this.exchanges.hasStan(stan)
  }

  health(): NetworkHealth {
    return {
      name: this.name,
      connectionsUp: this.connections.filter(({ isUp }) => isUp).length,
      connectionsMax: this.connections.length,
      inFlight: this.exchanges.size,
      inFlightMax: this.connections.length * this.options.window,
      lastEcho: this.lastEcho,
    }
  }

  start(): void {
    const { tls, host, name, logger } = this.options
    tls?.watch()
    if (tls === undefined && !isHere(host)) {
      logger.warn(
        { network: name },
        'the card network is reached without TLS: card numbers pass in clear',
      )
    }
    for (const connection of this.connections) connection.open()
  }

  async stop(): Promise<void> {
    this.isStopping = true
    this.wakeWaiting()
    await this.idle(this.options.drainMs ?? drainMs)
    await Promise.all(this.connections.map((connection) => connection.close()))
    this.options.tls?.stop()
  }

  /** Equals take turns: one that swallows what it is sent does not get all there is. */
  private leastLoaded(): Connection | undefined {
    if (this.isStopping) return undefined
    const { connections, lastUsed } = this
    let least = Number.POSITIVE_INFINITY
    for (let step = 1; step <= connections.length; step++) {
      const at = (lastUsed + step) % connections.length
      const connection = connections[at]!
      const load = connection.isUp ? loadOf(connection, this.options.window) : least
      if (load >= least) continue
      least = load
      this.lastUsed = at
    }
    return least === Number.POSITIVE_INFINITY ? undefined : connections[this.lastUsed]
  }

  /** The connection that the earlier request went over, if it takes requests. */
  private laneAfter(follows: Original | undefined): Connection | undefined {
    if (follows === undefined || this.isStopping) return undefined
    const lane = this.exchanges.laneOfUnanswered(exchangeKey(follows.mti, follows.stan))
    return this.connections.find((connection) => connection === lane && connection.isUp)
  }

  private lost(): void {
    this.counts.reconnects.inc()
    if (!this.connections.some(({ isUp }) => isUp)) this.keys?.doubt()
  }

  private idle(timeoutMs: number): Promise<void> {
    if (this.exchanges.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs)
      this.exchanges.onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  private nextStan(): string {
    do this.managementStan = (this.managementStan % stanMax) + 1
    while (this.exchanges.has(exchangeKey('0800', String(this.managementStan).padStart(6, '0'))))
    return String(this.managementStan).padStart(6, '0')
  }

  private take(message: CardMessage): void {
    if (!isAnswer(message.mti)) {
      this.unexpected(message)
      return
    }
    switch (this.exchanges.answer(message)) {
      case 'matched':
        return
      case 'mismatch':
        this.mismatched(message)
        break
      case 'other':
        this.mismatched(message)
        this.handOn(message)
        break
      case 'unknown':
        this.late(message)
    }
    message.wipe()
  }

  private takeAdvice(message: CardMessage): Promise<AdviceReply | undefined> {
    const { name, onAdvice } = this.options
    if (onAdvice !== undefined) return onAdvice({ network: name, message })
    this.unexpected(message)
    return Promise.resolve(undefined)
  }

  /** We do not trust it, whoever sent it; the exchange that it answers ends unknown. */
  private wrongCode(message: CardMessage): void {
    this.counts.wrongCodes.inc()
    this.warn(message, 'the message authentication code of a message is wrong')
    this.disregard(message)
    if (this.keys?.exchange?.asks === true && this.wrongCodes.wrong()) this.askForKeys(this.keys)
  }

  private askForKeys(keys: LinkKeys): void {
    const { name: network, logger } = this.options
    keys.doubt()
    logger.warn({ network }, 'the keys of the card network are asked for anew: its codes are wrong')
    this.leastLoaded()
      ?.obtainKeys()
      .catch((err: unknown) => logger.error({ network, err }, 'the keys were not asked for'))
  }

  /** It may be the network's, but the exchange that it answers ends unknown all the same. */
  private unverified(message: CardMessage, err: unknown): void {
    this.counts.unverified.inc()
    const { mti, stan, rrn } = message
    this.limitedWarn(
      { mti, stan, rrn, err },
      'the message authentication code of a message was not verified',
    )
    this.disregard(message)
  }

  private disregard(message: CardMessage): void {
    if (isAnswer(message.mti)) this.exchanges.fail(exchangeKey(message.mti, message.stan))
    message.wipe()
  }

  private mismatched(message: CardMessage): void {
    this.counts.mismatches.inc()
    this.warn(message, 'an answer has the STAN of a request, but another card, terminal or RRN')
  }

  private late(response: CardMessage): void {
    this.counts.lateAnswers.inc()
    this.warn(response, 'an answer came for which no request waits')
    this.handOn(response)
  }

  /** To whoever finds the owner of an answer that nobody waits for. */
  private handOn(response: CardMessage): void {
    if (response.mti === '0810') return
    try {
      this.options.onLateAnswer?.({ network: this.name, response, receivedAt: new Date() })
    } catch (err) {
      this.options.logger.error({ network: this.name, err }, 'a late answer was not taken')
    }
  }

  private unexpected(message: CardMessage | undefined): void {
    this.counts.unexpected.inc()
    this.warn(message, 'a message of the network has no meaning here')
    message?.wipe()
  }

  private warn(message: CardMessage | undefined, text: string): void {
    this.limitedWarn({ mti: message?.mti, stan: message?.stan, rrn: message?.rrn }, text)
  }

  private limitedWarn(fields: Readonly<Record<string, unknown>>, text: string): void {
    this.log.warn({ network: this.name, ...fields }, text)
  }
}

/** A connection that did not answer the last transactions comes after the others, and a full one comes last. */
const loadOf = ({ inFlight, liveness }: Connection, window: number): number => {
  if (inFlight >= window) return inFlight + 2 * window
  return liveness.isPassedOver(inFlight) ? inFlight + window : inFlight
}

/** How many time-outs a key is honoured after the next one is in use. */
const honouredTimeouts = 2

const linkKeysOf = (options: NetworkOptions): LinkKeys | undefined => {
  const { name, security, module, timeoutMs, logger, keyStore } = options
  if (security === undefined) return undefined
  if (module === undefined) throw new Error(`network ${name}: its keys need CARDGW_SECURITY_MODULE`)
  return new LinkKeys({
    network: name,
    security,
    module,
    logger,
    store: keyStore,
    honourMs: timeoutMs * honouredTimeouts,
    waitMs: timeoutMs,
  })
}
