import { valueBytesMax } from '#src/platform/broker/index.ts'
import type { PulledMessage } from '../../link/types.ts'
import type { Channel } from '../../messages/index.ts'

/** Headers of messages on `spi.inbound.primary` and `spi.inbound.secondary`; the value is the XML as received. */
export const inboundHeaders = {
  /** PI-ResourceId; absent if the message came without one. */
  resourceId: 'resource-id',
  /** `zstd` if the XML is larger than the broker takes; absent otherwise. */
  encoding: 'content-encoding',
  channel: 'channel',
  /** ISO 8601, when we fetched it. */
  receivedAt: 'received-at',
  traceparent: 'traceparent',
} as const

export const inboundTopics: Readonly<Record<Channel, string>> = {
  PRIMARY: 'spi.inbound.primary',
  SECONDARY: 'spi.inbound.secondary',
}

const compressed = 'zstd'

export type InboundMessage = {
  readonly topic: string
  readonly key: string | undefined
  readonly value: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** Builds what goes to the broker for a pulled message. */
export const inboundMessageOf = (
  { resourceId, xml }: PulledMessage,
  channel: Channel,
  receivedAt: Date,
): InboundMessage => {
  const isLarge = xml.length > valueBytesMax
  return {
    topic: inboundTopics[channel],
    key: keyOf(xml) ?? resourceId,
    value: isLarge ? Bun.zstdCompressSync(xml) : xml,
    headers: {
      ...(resourceId === undefined ? {} : { [inboundHeaders.resourceId]: resourceId }),
      ...(isLarge ? { [inboundHeaders.encoding]: compressed } : {}),
      [inboundHeaders.channel]: channel,
      [inboundHeaders.receivedAt]: receivedAt.toISOString(),
    },
  }
}

/** Returns the XML as received. */
export const inboundXmlOf = ({
  value,
  headers,
}: Pick<InboundMessage, 'value' | 'headers'>): Uint8Array =>
  headers[inboundHeaders.encoding] === compressed ? Bun.zstdDecompressSync(value) : value

/** `EndToEndId` and `OrgnlEndToEndId`, with or without prefix: a payment and its answers have one key. */
const marks = [Buffer.from('EndToEndId>'), Buffer.from('BizMsgIdr>')]
/** An EndToEndId and a BizMsgIdr have 32 characters; white space around them may add some. */
const keyBytesMax = 64
const endOfText = 0x3c

/** Finds the key that orders a message, without parsing: the worker deals with unreadable documents. */
const keyOf = (xml: Uint8Array): string | undefined => {
  const bytes = Buffer.from(xml.buffer, xml.byteOffset, xml.byteLength)
  for (const mark of marks) {
    const at = bytes.indexOf(mark)
    if (at === -1) continue
    const from = at + mark.length
    const end = bytes.subarray(from, from + keyBytesMax).indexOf(endOfText)
    const key = end === -1 ? '' : bytes.toString('latin1', from, from + end).trim()
    if (/^[0-9A-Za-z]+$/.test(key)) return key
  }
  return undefined
}
