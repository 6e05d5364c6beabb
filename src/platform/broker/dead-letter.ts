import { type Delivery, type OutgoingMessage, topics } from './types.ts'

/** Headers that a message in `dlq` has besides its own. */
export const deadLetterHeaders = {
  topic: 'dlq-topic',
  partition: 'dlq-partition',
  offset: 'dlq-offset',
  group: 'dlq-group',
  errorCode: 'dlq-error-code',
  attempt: 'dlq-attempt',
  firstFailure: 'dlq-first-failure',
  /** Set on a message that was taken out of `dlq` and published again. */
  retried: 'dlq-retried',
} as const

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
