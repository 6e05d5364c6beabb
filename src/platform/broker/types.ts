import type { Loop } from '#src/platform/jobs/index.ts'
import type { Check } from '#src/platform/lifecycle/index.ts'
import type { Backoff } from '#src/platform/runtime/index.ts'
import type { PoisonMessageError } from './errors.ts'

/** A message to publish. The topics, keys and headers are those of the specification. */
export type OutgoingMessage = {
  readonly topic: string
  /** Messages of one key are delivered in the order they were published; without a key, in any order. */
  readonly key?: string | undefined
  readonly value: Uint8Array
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** When a message that we pass on was first published; otherwise now. The log in PostgreSQL ignores it. */
  readonly publishedAt?: Date | undefined
}

/** What a consumer receives. */
export type Delivery = {
  readonly topic: string
  readonly partition: number
  /** Grows within a partition, and is unique there. */
  readonly offset: bigint
  readonly key: string | undefined
  readonly value: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly publishedAt: Date
  /** 1 the first time it is handed out. Kafka forgets it with the process. */
  readonly attempt: number
  /** Why it cannot be read: no handler gets it, and it goes to `dlq`. */
  readonly failure?: PoisonMessageError
}

export type RetryPolicy = Backoff & {
  /** After this many failures a message goes to `dlq`. */
  readonly attemptsMax: number
}

export type ConsumeOptions = {
  readonly topic: string
  /** Members of a group share the partitions of a topic. A topic has one group. */
  readonly group: string
  readonly batchSizeMax: number
  /**
   * Gets messages of one partition, in order; another partition's may run at the same time. Resolving
   * settles all of them. A rejection settles none: the broker gives them again one by one, and the one that
   * keeps failing goes to `dlq`. Every message may come more than once, so effects must be keyed.
   * It calls `onProgress` while the batch waits for a counterparty whose absence is told elsewhere.
   */
  readonly handler: (batch: readonly Delivery[], onProgress: () => void) => Promise<void>
  /**
   * True for an error of the surroundings (a database that is away): the broker tries the message again,
   * without end and without counting, while its partition waits.
   */
  readonly isTransient?: (error: unknown) => boolean
  /**
   * True for such an error whose cause has a health check of its own (a counterparty that is away): waiting for it is
   * no stall of this process.
   */
  readonly isToldElsewhere?: (error: unknown) => boolean
  /**
   * Publishes a letter to `dlq` in the broker's place, together with other changes for its message: all of it, or it
   * rejects and the broker calls it again. If it is undefined, the broker publishes the letter itself.
   */
  readonly bury?: (letter: OutgoingMessage, message: Delivery, errorCode: string) => Promise<void>
  readonly retry?: RetryPolicy
  /** The pauses after such an error, which counts as any other; undefined: those of {@link retry}. */
  readonly backoffAfter?: (error: unknown) => Backoff | undefined
}

export type Consumer = {
  /** Takes no further message; resolves when the running handlers have ended and are settled. */
  drain(): Promise<void>
  /** Drains and leaves the group. */
  stop(): Promise<void>
}

/** How much of a topic waits for a group. */
export type Backlog = {
  /** Counted up to {@link backlogCountMax}, in PostgreSQL to {@link laneDepthMax} for each partition. */
  readonly depth: number
  /** The age of the oldest message that waits; 0 when none waits. */
  readonly ageSeconds: number
}

export const backlogCountMax = 100_000
/** Counting further would read a page for every message or two. */
export const laneDepthMax = 100

/** A queue as any process sees it, however many read it. */
export type QueueState = Backlog & {
  readonly topic: string
  /** Partitions that a live process reads; undefined: the broker does not tell. */
  readonly partitionsRead: number | undefined
}

export type Broker = {
  readonly kind: 'postgresql' | 'kafka'
  /** Resolves when the messages are as safe as this broker makes them. All or none, if it can. */
  publish(messages: readonly OutgoingMessage[]): Promise<void>
  consume(options: ConsumeOptions): Consumer
  backlog(topic: string, group: string): Promise<Backlog>
  /** All queues of the database as they were lately. */
  queues?(): Promise<readonly QueueState[]>
  /** Rejects when the broker does not answer. */
  ping(): Promise<void>
  /** The findings for `trilho doctor`. Works without `start`; changes nothing. */
  checks?(): Promise<readonly Check[]>
  /** One loop for each consumer. */
  loops(): readonly Loop[]
  start(): Promise<void>
  /** Stops all consumers, then closes. */
  stop(): Promise<void>
}

export const topics = {
  inboundPrimary: 'spi.inbound.primary',
  inboundSecondary: 'spi.inbound.secondary',
  outbound: 'spi.outbound',
  webhookEvents: 'webhook.events',
  deadLetters: 'dlq',
} as const

/** The reader of each topic. */
export const readers = {
  [topics.inboundPrimary]: 'spi-worker',
  [topics.inboundSecondary]: 'spi-worker',
  [topics.outbound]: 'spi-outbound',
  [topics.webhookEvents]: 'webhooks',
  /** In Kafka only: it copies letters to the database. */
  [topics.deadLetters]: 'dlq-keeper',
} as const

/** The most bytes of one message: ten signed ISO 20022 documents of the largest size we accept fit. */
export const valueBytesMax = 5 * 1024 * 1024
