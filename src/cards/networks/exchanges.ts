import type { CardMessage } from '#codecs/iso8583'
import { agrees, cardDigest, exchangeKey, isManagementKey, someTransactionKey } from './matching.ts'
import { TimingWheel, WheelEntry } from './timing-wheel.ts'
import type { ExchangeOutcome } from './types.ts'

const timedOut: ExchangeOutcome = Object.freeze({ kind: 'timed_out' })
const unreadable: ExchangeOutcome = Object.freeze({ kind: 'unreadable' })
const connectionLost: ExchangeOutcome = Object.freeze({ kind: 'connection_lost' })
const notSent: ExchangeOutcome = Object.freeze({
  kind: 'not_sent',
  reason: 'connection_lost_unsent',
})

/** The connection that a request went over. */
export type Lane = {
  inFlight: number
  /** Bytes of its stream that the kernel took. */
  readonly sentBytes: number
  /** Called if the kernel took no byte of a request in its whole time: nobody reads at the other end. */
  onStalled(): void
  /** Called if a transaction that was sent had no answer in its time. */
  onUnanswered(): void
}

/** What an answer has to agree with. */
export type Identity = {
  readonly terminalId: string | undefined
  readonly rrn: string | undefined
  readonly card: bigint | undefined
}

/** Take it before the request is wiped. */
export const identityOf = ({ terminalId, rrn, pan }: CardMessage): Identity => ({
  terminalId,
  rrn,
  card: cardDigest(pan),
})

/** One request that waits for its answer. */
class PendingExchange extends WheelEntry {
  readonly key: number
  readonly terminalId: string | undefined
  readonly rrn: string | undefined
  readonly card: bigint | undefined
  readonly lane: Lane
  /** Where its frame begins in the lane's stream. */
  readonly startOffset: number
  readonly resolve: (outcome: ExchangeOutcome) => void
  private readonly owner: Exchanges

  constructor(
    owner: Exchanges,
    key: number,
    { terminalId, rrn, card }: Identity,
    lane: Lane,
    startOffset: number,
    resolve: (outcome: ExchangeOutcome) => void,
  ) {
    super()
    this.owner = owner
    this.key = key
    this.terminalId = terminalId
    this.rrn = rrn
    this.card = card
    this.lane = lane
    this.startOffset = startOffset
    this.resolve = resolve
  }

  get isSent(): boolean {
    return this.startOffset < this.lane.sentBytes
  }

  override onTimeout(): void {
    // After a long pause of the event loop its frame may not have been offered to the kernel; now it is too late.
    const { lane, isSent } = this
    const isUnanswered = isSent && !isManagementKey(this.key)
    if (isUnanswered) this.owner.onTimedOut()
    this.owner.end(this, isSent ? timedOut : notSent)
    if (!isSent) lane.onStalled()
    else if (isUnanswered) lane.onUnanswered()
  }
}

/** Requests without an answer whose connection is remembered; the oldest are forgotten. */
const unansweredMax = 4_096

/** `other`: it names another message than the one that waits under its number. */
type MatchResult = 'matched' | 'unknown' | 'mismatch' | 'other'

/** The requests of one network that wait for answers, on all its connections. */
export class Exchanges {
  private readonly pending = new Map<number, PendingExchange>()
  private readonly unanswered = new Map<number, Lane>()
  /** Keys of requests that wait for their code. */
  private readonly reserved = new Set<number>()
  private readonly wheel = new TimingWheel()
  private transactions = 0
  /** Called for each transaction that was sent and not answered. */
  onTimedOut: () => void = () => undefined
  /** Called whenever the last transaction ended. */
  onIdle: () => void = () => undefined

  /** Transactions that wait; network management does not count. */
  get size(): number {
    return this.transactions
  }

  has(key: number): boolean {
    return this.pending.has(key) || this.reserved.has(key)
  }

  hasStan(stan: string): boolean {
    return this.transactions > 0 && someTransactionKey(stan, (key) => this.has(key))
  }

  /** Keeps the key and a place of the lane for a request that is not written yet, until `release`. */
  reserve(key: number, lane: Lane): void {
    this.reserved.add(key)
    lane.inFlight++
    this.transactions++
  }

  /** Ends the reservation; if the request was written, only after `add`. */
  release(key: number, lane: Lane): void {
    this.reserved.delete(key)
    lane.inFlight--
    this.transactions--
    if (this.transactions === 0) this.onIdle()
  }

  /** Begins to wait; the caller makes sure that nothing waits under `key`. */
  add(
    key: number,
    identity: Identity,
    lane: Lane,
    startOffset: number,
    timeoutMs: number,
  ): Promise<ExchangeOutcome> {
    const { promise, resolve } = Promise.withResolvers<ExchangeOutcome>()
    const exchange = new PendingExchange(this, key, identity, lane, startOffset, resolve)
    this.pending.set(key, exchange)
    lane.inFlight++
    if (!isManagementKey(key)) this.transactions++
    this.wheel.add(exchange, timeoutMs)
    return promise
  }

  /** Gives the answer to the request that it belongs to, if there is one. */
  answer(response: CardMessage): MatchResult {
    const card = cardDigest(response.pan)
    response.pan?.fill(0)
    response.pan = undefined
    const exchange = this.pending.get(exchangeKey(response.mti, response.stan))
    if (exchange === undefined) return 'unknown'
    const isOfTerminal = agrees(exchange.terminalId, response.terminalId)
    if (!agrees(exchange.rrn, response.rrn)) return 'other'
    if (!isOfTerminal) return response.rrn === undefined ? 'other' : 'mismatch'
    if (card !== undefined && card !== exchange.card) return 'mismatch'
    this.end(exchange, { kind: 'answered', response })
    return 'matched'
  }

  /** An answer came that cannot be read. @returns whether somebody waits for it */
  fail(key: number): boolean {
    const exchange = this.pending.get(key)
    if (exchange !== undefined) this.end(exchange, unreadable)
    return exchange !== undefined
  }

  /** The connection is gone: no answer can come over it. */
  failLane(lane: Lane): void {
    for (const exchange of [...this.pending.values()]) {
      if (exchange.lane === lane) this.end(exchange, exchange.isSent ? connectionLost : notSent)
    }
  }

  /** The connection of a request that was sent and not answered; undefined if it is long ago. */
  laneOfUnanswered(key: number): Lane | undefined {
    return this.unanswered.get(key)
  }

  private remember({ key, lane }: PendingExchange): void {
    this.unanswered.delete(key)
    this.unanswered.set(key, lane)
    if (this.unanswered.size <= unansweredMax) return
    const [oldest] = this.unanswered.keys()
    if (oldest !== undefined) this.unanswered.delete(oldest)
  }

  end(exchange: PendingExchange, outcome: ExchangeOutcome): void {
    if (outcome === timedOut || outcome === unreadable) this.remember(exchange)
    this.pending.delete(exchange.key)
    this.wheel.remove(exchange)
    exchange.lane.inFlight--
    exchange.resolve(outcome)
    if (isManagementKey(exchange.key)) return
    this.transactions--
    if (this.transactions === 0) this.onIdle()
  }
}
