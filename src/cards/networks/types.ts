import type { CardMessage, GatewayMti } from '#codecs/iso8583'
import type { Content } from '../content/index.ts'
import type { LinkKeys } from '../security/index.ts'
import type { AdviceRules } from './advice-rules.ts'
import type { AnswerRules } from './answers.ts'
import type { ReconciliationRules } from './reconciliation-form.ts'

/** The outcome of one request to a card network. */
export type ExchangeOutcome =
  /** The caller owns the response and wipes it, because it may repeat the card number. */
  | { readonly kind: 'answered'; readonly response: CardMessage }
  /**
   * No byte was written. Only `no_connection` says that the network is away: what had a connection may have lost that
   * one alone.
   */
  | {
      readonly kind: 'not_sent'
      readonly reason:
        | 'no_connection'
        | 'connection_lost_unsent'
        | 'stopping'
        | 'window_full'
        | 'duplicate_key'
        | 'security_module'
    }
  /** The request was written and the time is up: the network may have acted on it. */
  | { readonly kind: 'timed_out' }
  /** Its answer cannot be read, or its code is wrong. */
  | { readonly kind: 'unreadable' }
  /** The connection was lost after at least part of the request was written. */
  | { readonly kind: 'connection_lost' }

export type LateAnswer = {
  readonly network: string
  readonly response: CardMessage
  readonly receivedAt: Date
}

/** What a network tells of its own accord; the message is wiped after it was taken. */
type NetworkAdvice = { readonly network: string; readonly message: CardMessage }

/** The response code of an answer to an advice, and what else is in it. */
export type AdviceReply =
  | string
  | { readonly code: string; readonly fields: ReadonlyMap<number, string> }

/** Gives the answer; undefined if it could not be kept: then the network is to tell it again. */
export type TakeAdvice = (advice: NetworkAdvice) => Promise<AdviceReply | undefined>

/** By name, and with DE 15: its business day ends. Gives false if that could not be kept: then the network is to tell it again. */
export type TakeCutOver = (network: string, settlementDate: string | undefined) => Promise<boolean>

export type NetworkHealth = {
  readonly name: string
  readonly connectionsUp: number
  readonly connectionsMax: number
  /** Transactions that wait for their answer. */
  readonly inFlight: number
  /** The windows of all its connections. */
  readonly inFlightMax: number
  readonly lastEcho: { readonly at: Date; readonly roundTripMs: number } | undefined
}

/** Type and STAN of an earlier request. */
export type Original = { readonly mti: GatewayMti; readonly stan: string }

/** One card network: a pool of multiplexed connections. */
export type Network = {
  /** From the configuration: `neta`, `netb`. */
  readonly name: string
  /** Lower case, as shown to callers: `visa`. */
  readonly brand: string
  /** From the configuration: how long a message of this network may take. */
  readonly timeoutMs: number
  /** From the configuration: hours after which what is not captured is released; undefined: never. */
  readonly authorizationHours: number | undefined
  /** What we decide here while it is away; undefined: nothing. */
  readonly advices: AdviceRules | undefined
  /** How business days are compared with it; undefined: they are not. */
  readonly reconciliation: ReconciliationRules | undefined
  /** The meaning of its response codes. */
  readonly answers: AnswerRules
  /** The content of its messages. */
  readonly content: Content
  /** Undefined: it has no keys. */
  readonly keys: Pick<LinkKeys, 'hasPinSource' | 'translatePin' | 'look'> | undefined
  /**
   * Writes the request exactly once and waits for its answer. The frame is on its way, or refused, when the call
   * returns, so the caller may wipe the request then.
   *
   * @param follows an earlier request without an answer: the new one goes over its connection while that is up, so
   *   that it does not overtake it
   * @throws CodecError when the request cannot be written in the network's dialect; Error when it has no STAN
   */
  exchange(request: CardMessage, timeoutMs: number, follows?: Original): Promise<ExchangeOutcome>
  /**
   * Waits for a connection, for a moment, while none is up; undefined when there is nothing to wait for. Whether one
   * came, `exchange` tells.
   */
  whenUp(): Promise<void> | undefined
  /**
   * Whether no connection is up, and that is the network's doing: each has failed to come up, or back, or was signed off by
   * it. What has only just begun to connect, or was lost a moment ago, says nothing of it.
   */
  isAway(): boolean
  /** True while a request with this STAN waits; no other request may use it then. */
  isPending(stan: string): boolean
  health(): NetworkHealth
  /** Opens the connections, and keeps them open; once. */
  start(): void
  /** Takes no new requests, waits for pending ones, signs off and closes, within bounded time. */
  stop(): Promise<void>
}
