import { deadLetterHeaders, topics, unreadableAnswer } from '#src/platform/broker/index.ts'
import type { UncutAnswerError } from '../../link/errors.ts'
import type { Channel } from '../../messages/index.ts'
import { type InboundMessage, inboundHeaders, inboundTopics, inboundXmlOf } from './message.ts'

/** Headers of a dead letter that holds what the interface answered, beside those that all have. */
const answerHeaders = {
  status: 'answer-status',
  /** As JSON, an array of name and value. */
  headers: 'answer-headers',
} as const

const group = 'spi-pull'
const headerCharactersMax = 8_192
const refusedCode = 'message_not_published'

/** A message for `dlq`. Its value is bounded, because the broker may take less than we publish. */
export type Letter = {
  readonly key: string | undefined
  readonly within: (bytesMax: number) => InboundMessage
}

/** The bytes, compressed where the broker takes them so only; of what is larger still, the beginning. */
const held = (bytes: Uint8Array, bytesMax: number): Pick<InboundMessage, 'value' | 'headers'> => {
  // The broker refuses a message without a value.
  if (bytes.length === 0) return { value: new Uint8Array([0x0a]), headers: sizeOf(bytes) }
  if (bytes.length <= bytesMax) return { value: bytes, headers: {} }
  const compressed = Bun.zstdCompressSync(bytes)
  const zstd = { [inboundHeaders.encoding]: 'zstd' }
  if (compressed.length <= bytesMax) return { value: compressed, headers: zstd }
  return { value: bytes.slice(0, bytesMax), headers: sizeOf(bytes) }
}

const sizeOf = ({ length }: Uint8Array) => ({ [deadLetterHeaders.cutFrom]: String(length) })

const aboutLetter = (channel: Channel, errorCode: string, attempt: number) => ({
  [deadLetterHeaders.topic]: inboundTopics[channel],
  [deadLetterHeaders.group]: group,
  [deadLetterHeaders.errorCode]: errorCode,
  [deadLetterHeaders.attempt]: String(attempt),
  [deadLetterHeaders.firstFailure]: new Date().toISOString(),
})

/** What the interface answered, for people: it could not be cut into messages, or not in whole. */
export const answerLetter = (
  { answer, code: reason, digest }: UncutAnswerError,
  channel: Channel,
  attempt: number,
): Letter => {
  const about = {
    [answerHeaders.status]: String(answer.status),
    [answerHeaders.headers]: JSON.stringify([...answer.headers]).slice(0, headerCharactersMax),
    [inboundHeaders.channel]: channel,
    [inboundHeaders.receivedAt]: new Date().toISOString(),
    ...aboutLetter(channel, `${unreadableAnswer}:${reason}`, attempt),
  }
  return letterWith(digest, answer.body, about)
}

/** A message that the broker takes neither as it is nor compressed. */
export const refusedLetter = (
  message: InboundMessage,
  channel: Channel,
  attempt: number,
): Letter => {
  // The value is compressed again, or cut, so this header no longer fits.
  const { [inboundHeaders.encoding]: _, ...headers } = message.headers
  const about = { ...headers, ...aboutLetter(channel, refusedCode, attempt) }
  return letterWith(message.key, inboundXmlOf(message), about)
}

const letterWith = (
  key: string | undefined,
  bytes: Uint8Array,
  about: InboundMessage['headers'],
): Letter => ({
  key,
  within: (bytesMax) => {
    const { value, headers } = held(bytes, bytesMax)
    return { topic: topics.deadLetters, key, value, headers: { ...about, ...headers } }
  },
})
