import type { CardMessage } from '#codecs/iso8583'

/** What became of one request to a card network. */
export type ExchangeOutcome =
  /** The response is the caller's, who wipes it: it may repeat the card number. */
  | { readonly kind: 'answered'; readonly response: CardMessage }
  /** No byte was written: no healthy connection, or every window is full. */
  | {
      readonly kind: 'not_sent'
      readonly reason: 'no_connection' | 'window_full' | 'duplicate_key'
    }
  /** Written, and the time is up: the network may have acted on it. */
  | { readonly kind: 'timed_out' }
  /** At least partly written, and the connection was lost. */
  | { readonly kind: 'connection_lost' }

export type LateAnswer = {
  readonly network: string
  readonly response: CardMessage
  readonly receivedAt: Date
}

export type NetworkHealth = {
  readonly name: string
  readonly connectionsUp: number
  readonly connectionsMax: number
  /** Transactions that wait for their answer. */
  readonly inFlight: number
  readonly lastEchoAt: Date | undefined
}

/** One card network: a pool of multiplexed connections. */
export type Network = {
  /** Of configuration: `neta`, `netb`. */
  readonly name: string
  /** Lower case, as shown to callers: `visa`. */
  readonly brand: string
  /** How long a message of this network may take, of configuration. */
  readonly timeoutMs: number
  /** True when messages of its dialect can carry the data element. */
  hasField(de: number): boolean
  /**
   * Writes the request once and waits for its answer; never writes it twice. The frame is on its way, or refused,
   * when the call returns: the caller may wipe the request then.
   *
   * @throws CodecError when the request cannot be written in the network's dialect; Error when it has no STAN
   */
  exchange(request: CardMessage, timeoutMs: number): Promise<ExchangeOutcome>
  /** True while a request with this STAN waits: such a STAN must not be given to another. */
  isPending(stan: string): boolean
  health(): NetworkHealth
  /** Opens the connections, and keeps them open; once. */
  start(): void
  /** No new requests; waits for what is pending, signs off, closes; bounded. */
  stop(): Promise<void>
}
