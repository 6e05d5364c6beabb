import type { OutgoingMessage } from '#src/platform/broker/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import type { Channel, MessageTransaction, NewMessage } from './domain.ts'
import { insertMessages } from './store.ts'

type ByteRange = { readonly from: number; readonly to: number }

/** A built message, not yet signed: canonical bytes and the places a signer needs, as the codec's builders give. */
export type UnsignedMessage = {
  readonly bytes: Uint8Array
  readonly namespace: string
  readonly appHdr: ByteRange
  readonly signatureAt: number
  readonly document: ByteRange
}

export type OutboundMessage = {
  /** UUIDv7. */
  readonly id: string
  /** Dotted lower case: `pacs.008`. */
  readonly type: string
  /** As MsgDefIdr: `pacs.008.spi.1.13`. */
  readonly definition: string
  readonly channel: Channel
  /** The institution's own. */
  readonly sourceIspb: string
  readonly destinationIspb: string
  readonly bizMsgIdr: string
  readonly transactions: readonly MessageTransaction[]
  readonly envelope: UnsignedMessage
  /** W3C trace context of what caused it. */
  readonly traceparent?: string | undefined
}

/** What of the broker is used: messages that appear when the transaction commits, or never. */
export type Outbox = {
  publishIn(transaction: Queryable, messages: readonly OutgoingMessage[]): Promise<void>
}

/** Of messages on `spi.outbound`. */
export const outboundHeaders = {
  messageId: 'message-id',
  messageType: 'message-type',
  channel: 'channel',
  businessMessageId: 'biz-msg-idr',
  namespace: 'namespace',
  places: 'envelope-places',
  traceparent: 'traceparent',
} as const

const topic = 'spi.outbound'

/**
 * Stores messages as outbound and QUEUED and puts them on `spi.outbound`, both when `tx` commits or neither: four
 * statements for any number. Afterwards the caller wakes the broker's consumers.
 *
 * @returns ids of those queued now; a BizMsgIdr that is known already is not queued again
 */
export const enqueueMessages = async (
  tx: Queryable,
  outbox: Outbox,
  messages: readonly OutboundMessage[],
): Promise<ReadonlySet<string>> => {
  if (messages.length === 0) return new Set()
  const { stored } = await insertMessages(tx, messages.map(recordOf))
  const queued = messages.filter(({ id }) => stored.has(id))
  await outbox.publishIn(tx, queued.map(queuedOf))
  return stored
}

const recordOf = ({ envelope, traceparent: _, ...message }: OutboundMessage): NewMessage => ({
  ...message,
  direction: 'OUTBOUND',
  status: 'QUEUED',
  resourceId: undefined,
  errorCode: undefined,
  signature: 'NOT_CHECKED',
  warnings: [],
  xml: envelope.bytes,
})

const queuedOf = (message: OutboundMessage): OutgoingMessage => {
  const { envelope, traceparent } = message
  const { appHdr, signatureAt, document } = envelope
  const places = [appHdr.from, appHdr.to, signatureAt, document.from, document.to]
  return {
    topic,
    key: message.transactions[0]?.endToEndId ?? message.bizMsgIdr,
    value: envelope.bytes,
    headers: {
      [outboundHeaders.messageId]: message.id,
      [outboundHeaders.messageType]: message.type,
      [outboundHeaders.channel]: message.channel,
      [outboundHeaders.businessMessageId]: message.bizMsgIdr,
      [outboundHeaders.namespace]: envelope.namespace,
      [outboundHeaders.places]: places.join(' '),
      ...(traceparent === undefined ? {} : { [outboundHeaders.traceparent]: traceparent }),
    },
  }
}

/** The built message of a delivery of `spi.outbound`; undefined when another program wrote it. */
export const unsignedMessageOf = (delivery: {
  readonly value: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}): UnsignedMessage | undefined => {
  const { value: bytes, headers } = delivery
  const namespace = headers[outboundHeaders.namespace]
  const places = headers[outboundHeaders.places]?.split(' ').map(Number) ?? []
  const [headerFrom, headerTo, signatureAt, documentFrom, documentTo] = places
  if (namespace === undefined || headerFrom === undefined || headerTo === undefined)
    return undefined
  if (signatureAt === undefined || documentFrom === undefined || documentTo === undefined)
    return undefined
  if (places.some((place) => !Number.isInteger(place) || place < 0 || place > bytes.length))
    return undefined
  return {
    bytes,
    namespace,
    appHdr: { from: headerFrom, to: headerTo },
    signatureAt,
    document: { from: documentFrom, to: documentTo },
  }
}
