import { type Delivery, type OutgoingMessage, topics } from './types.ts'

/** Headers of a message in `dlq`, besides those it had. */
export const deadLetterHeaders = {
  topic: 'dlq-topic',
  partition: 'dlq-partition',
  offset: 'dlq-offset',
  group: 'dlq-group',
  errorCode: 'dlq-error-code',
  attempt: 'dlq-attempt',
  firstFailure: 'dlq-first-failure',
  /** On a message that was taken out of `dlq` and published again. */
  retried: 'dlq-retried',
} as const

export type DeadLetter = {
  readonly delivery: Delivery
  readonly group: string
  readonly errorCode: string
  readonly attempt: number
  readonly firstFailure: Date
}

/** The message as it goes to `dlq`: same key and value. Error texts may hold personal data and stay out. */
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
