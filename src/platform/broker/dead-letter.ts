import { type Delivery, type OutgoingMessage, topics, valueBytesMax } from './types.ts'

/** Headers that a message in `dlq` has besides its own. */
export const deadLetterHeaders = {
  topic: 'dlq-topic',
  partition: 'dlq-partition',
  offset: 'dlq-offset',
  group: 'dlq-group',
  errorCode: 'dlq-error-code',
  attempt: 'dlq-attempt',
  firstFailure: 'dlq-first-failure',
  /** Bytes of the whole value, where the letter holds the beginning only. */
  cutFrom: 'dlq-bytes',
  /** Set on a message that was taken out of `dlq` and published again. */
  retried: 'dlq-retried',
} as const

/** Code of a batch of Kafka whose records nobody can read; its letter holds the batch, and no message. */
export const unreadableBatch = 'unreadable_batch'

/** Why a counterparty's answer is in `dlq`: nobody can cut it into messages; a colon and the fault may follow. */
export const unreadableAnswer = 'answer_unreadable'

/** Error codes, up to their colon, of letters that hold no message. */
export const codesOfNoMessage: readonly string[] = [unreadableBatch, unreadableAnswer]

/**
 * The most bytes that a letter may hold. When the broker refuses one size, we try the next: all that we publish,
 * then a size for topics with Kafka's own limit, and then one that fits any topic.
 */
export const letterBytesMax = [valueBytesMax, 512 * 1024, 8 * 1024] as const

export type DeadLetter = {
  readonly delivery: Delivery
  readonly group: string
  readonly errorCode: string
  readonly attempt: number
  readonly firstFailure: Date
}

/** The message as it goes to `dlq`: same key and value. We leave out error texts, which may hold personal data. */
export const deadLetterOf = (letter: DeadLetter): OutgoingMessage => ({
  topic: topics.deadLetters,
  key: letter.delivery.key,
  value: letter.delivery.value,
  headers: {
    ...letter.delivery.headers,
    [deadLetterHeaders.topic]: letter.delivery.topic,
    [deadLetterHeaders.partition]: String(letter.delivery.partition),
    [deadLetterHeaders.offset]: String(letter.delivery.offset),
    [deadLetterHeaders.group]: letter.group,
    [deadLetterHeaders.errorCode]: letter.errorCode,
    [deadLetterHeaders.attempt]: String(letter.attempt),
    [deadLetterHeaders.firstFailure]: letter.firstFailure.toISOString(),
  },
})

/** The letter with the beginning of its value. */
export const cutLetter = (letter: OutgoingMessage, bytesMax: number): OutgoingMessage => ({
  ...letter,
  value: letter.value.slice(0, bytesMax),
  headers: { ...letter.headers, [deadLetterHeaders.cutFrom]: String(letter.value.length) },
})
