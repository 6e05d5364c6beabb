import type { CanonicalEnvelope } from '#codecs/xmldsig'
import type { OutgoingMessage } from '#src/platform/broker/index.ts'
import type { Queryable, Rider } from '#src/platform/database/index.ts'
import { currentTraceparent } from '#src/platform/observe/index.ts'
import type { Stated } from '../recurring/domain.ts'
import { factsIn } from '../recurring/facts.ts'
import { applyFacts } from '../recurring/project.ts'
import type { Channel, MessageTransaction, NewMessage } from './domain.ts'
import { insertOrders } from './orders.ts'
import { allOf, insertMessages, rowsMax } from './store.ts'

/** A built message, not yet signed: canonical bytes and the places a signer needs, as the codec's builders give. */
export type UnsignedMessage = CanonicalEnvelope

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
  /** True for a payment without haste (PAGAGD): its answer may take 45 minutes. */
  readonly isScheduled?: boolean | undefined
  readonly envelope: UnsignedMessage
  /** W3C Trace Context of the cause; the active span's when absent. */
  readonly traceparent?: string | undefined
}

/** The part of the broker we use: its messages appear when the transaction commits, or never. */
export type Outbox = {
  publishIn(transaction: Queryable, messages: readonly OutgoingMessage[]): Promise<void>
}

/** Headers of messages on `spi.outbound`. */
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
 * Stores messages as outbound and QUEUED and puts them on `spi.outbound`, both when `tx` commits or neither: two
 * statements for up to a thousand.
 *
 * @returns ids of the messages queued now; we do not queue a BizMsgIdr again that we know already
 * @throws ApiError `payment_sent_already`
 */
export const enqueueMessages = async (
  tx: Queryable,
  outbox: Outbox,
  messages: readonly OutboundMessage[],
): Promise<ReadonlySet<string>> => {
  if (messages.length === 0) return new Set()
  const stored = await insertOrders(tx, messages.map(recordOf))
  const queued = messages.filter(({ id }) => stored.has(id))
  await outbox.publishIn(tx, queued.map(queuedOf))
  await applyFacts(tx, queued.flatMap(statedBy))
  return stored
}

/** Queues messages within a statement of their transaction. */
export type QueueWithin = {
  publishing(transaction: Queryable, messages: readonly OutgoingMessage[]): Promise<Rider>
}

/** A statement that stores and queues messages of which none is known, or fails as a whole. */
export const canEnqueueAtOnce = (messages: readonly OutboundMessage[]): boolean =>
  messages.length <= rowsMax && messages.every((message) => statedBy(message).length === 0)

/**
 * The same for messages of which none is known, in one statement with what rides along, which needs no transaction
 * around it.
 *
 * @param messages that {@link canEnqueueAtOnce}
 * @throws what {@link isNotWhole} knows, where one is known: nothing is stored
 */
export const enqueueAtOnce = async (
  sql: Queryable,
  queue: QueueWithin,
  messages: readonly OutboundMessage[],
  riders: readonly Rider[],
): Promise<ReadonlySet<string>> => {
  const queueing = await queue.publishing(sql, messages.map(queuedOf))
  const all = [...riders, queueing, allOf(messages.length)]
  return insertMessages(sql, messages.map(recordOf), all)
}

/** What a message of ours says about mandates and charges; its sender needs no event. */
const statedBy = ({ id, type, envelope }: OutboundMessage): readonly Stated[] =>
  factsIn(type, envelope.bytes).map((fact) => ({ fact, messageId: id, direction: 'OUTBOUND' }))

/** A queued message as we store it. */
export type StoredQueued = {
  readonly id: string
  readonly type: string
  readonly channel: Channel
  readonly bizMsgIdr: string
  readonly endToEndId: string | null
  readonly xml: Uint8Array
  /** Undefined: we send `xml` byte for byte. */
  readonly envelope: string | undefined
  /** Trace of whoever had it sent, however long ago. */
  readonly traceparent: string | undefined
}

/** Puts stored messages on `spi.outbound` again whose entry is lost or was never written. */
export const requeueMessages = (
  tx: Queryable,
  outbox: Outbox,
  messages: readonly StoredQueued[],
): Promise<void> => outbox.publishIn(tx, messages.map(entryOf))

/**
 * Stores a message that its sender sends itself, now: `signed` is what it sends. There is no queue entry. If it
 * is still QUEUED at `requeueAfter`, the queue gets the same bytes, so a sender may die at any moment.
 *
 * @returns false when we know its BizMsgIdr already
 * @throws ApiError `payment_sent_already`
 */
export const storeForSending = async (
  tx: Queryable,
  message: OutboundMessage,
  { signed, requeueAfter }: { readonly signed: Uint8Array; readonly requeueAfter: Date },
): Promise<boolean> => {
  const record = recordOf(message)
  const own = {
    ...record,
    xml: signed,
    envelope: undefined,
    inDoubtSince: new Date(),
    requeueAfter,
  }
  const stored = await insertOrders(tx, [own])
  return stored.has(message.id)
}

const recordOf = ({ envelope, ...message }: OutboundMessage): NewMessage => ({
  ...message,
  traceparent: message.traceparent ?? currentTraceparent(),
  direction: 'OUTBOUND',
  status: 'QUEUED',
  resourceId: undefined,
  errorCode: undefined,
  signature: 'NOT_CHECKED',
  warnings: [],
  xml: envelope.bytes,
  envelope: envelopeText(envelope),
})

/** Places and namespace: `120 980 960 981 2400 https://…`. */
const envelopeText = (envelope: UnsignedMessage): string =>
  `${placesOf(envelope)} ${envelope.namespace}`

const placesOf = ({ appHdr, signatureAt, document }: UnsignedMessage): string =>
  [appHdr.from, appHdr.to, signatureAt, document.from, document.to].join(' ')

const queuedOf = (message: OutboundMessage): OutgoingMessage =>
  entryOf({
    ...message,
    endToEndId: message.transactions[0]?.endToEndId ?? null,
    xml: message.envelope.bytes,
    envelope: envelopeText(message.envelope),
    traceparent: message.traceparent,
  })

const entryOf = (message: StoredQueued): OutgoingMessage => {
  const { xml, envelope, traceparent } = message
  const namespaceAt = envelope?.lastIndexOf(' ') ?? 0
  return {
    topic,
    key: message.endToEndId ?? message.bizMsgIdr,
    value: xml,
    headers: {
      [outboundHeaders.messageId]: message.id,
      [outboundHeaders.messageType]: message.type,
      [outboundHeaders.channel]: message.channel,
      [outboundHeaders.businessMessageId]: message.bizMsgIdr,
      ...(envelope === undefined
        ? {}
        : {
            [outboundHeaders.namespace]: envelope.slice(namespaceAt + 1),
            [outboundHeaders.places]: envelope.slice(0, namespaceAt),
          }),
      ...(traceparent === undefined ? {} : { [outboundHeaders.traceparent]: traceparent }),
    },
  }
}

/**
 * Returns the built message of a delivery of `spi.outbound`; undefined when another program wrote it, or when it is
 * signed already.
 */
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
