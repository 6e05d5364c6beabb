import { deadLetterHeaders, topics, valueBytesMax } from '#src/platform/broker/index.ts'
import type { UncutAnswerError } from '../../link/errors.ts'
import type { Channel } from '../../messages/index.ts'
import { type InboundMessage, inboundHeaders, inboundTopics } from './message.ts'

/** Headers of a dead letter that holds what the interface answered, beside those that all have. */
const answerHeaders = {
  status: 'answer-status',
  /** As JSON, an array of name and value. */
  headers: 'answer-headers',
  /** Bytes of the whole, where the letter holds the beginning only. */
  cutFrom: 'answer-bytes',
} as const

const group = 'spi-pull'
const headerCharactersMax = 8_192
const code = 'answer_unreadable'
const refusedCode = 'message_not_published'

/** The bytes, compressed where the broker takes them so only; of what is larger still, the beginning. */
const held = (bytes: Uint8Array): Pick<InboundMessage, 'value' | 'headers'> => {
  // The broker refuses a message without a value.
  if (bytes.length === 0) return { value: new Uint8Array([0x0a]), headers: sizeOf(bytes) }
  if (bytes.length <= valueBytesMax) return { value: bytes, headers: {} }
  const compressed = Bun.zstdCompressSync(bytes)
  const zstd = { [inboundHeaders.encoding]: 'zstd' }
  if (compressed.length <= valueBytesMax) return { value: compressed, headers: zstd }
  return { value: bytes.slice(0, valueBytesMax), headers: sizeOf(bytes) }
}

const sizeOf = ({ length }: Uint8Array) => ({ [answerHeaders.cutFrom]: String(length) })

const aboutLetter = (channel: Channel, errorCode: string, attempt: number) => ({
  [deadLetterHeaders.topic]: inboundTopics[channel],
  [deadLetterHeaders.group]: group,
  [deadLetterHeaders.errorCode]: errorCode,
  [deadLetterHeaders.attempt]: String(attempt),
  [deadLetterHeaders.firstFailure]: new Date().toISOString(),
})

/** What the interface answered, for people: it could not be cut into messages, or not in whole. */
export const letterOf = (
  { answer, code: reason, digest }: UncutAnswerError,
  channel: Channel,
  attempt: number,
): InboundMessage => {
  const { value, headers } = held(answer.body)
  return {
    topic: topics.deadLetters,
    key: digest,
    value,
    headers: {
      ...headers,
      [answerHeaders.status]: String(answer.status),
      [answerHeaders.headers]: JSON.stringify([...answer.headers]).slice(0, headerCharactersMax),
      [inboundHeaders.channel]: channel,
      [inboundHeaders.receivedAt]: new Date().toISOString(),
      ...aboutLetter(channel, `${code}:${reason}`, attempt),
    },
  }
}

/** A message that the broker takes neither as it is nor compressed. */
export const letterOfRefused = (
  message: InboundMessage,
  channel: Channel,
  attempt: number,
): InboundMessage => {
  const { value, headers } = held(message.value)
  const about = aboutLetter(channel, refusedCode, attempt)
  return {
    topic: topics.deadLetters,
    key: message.key,
    value,
    headers: { ...message.headers, ...headers, ...about },
  }
}
