import { CodecError } from '#codecs/bytes'
import type { MessageScanner } from '#codecs/iso20022'
import type { XmlDocument } from '#codecs/xml'
import { type Delivery, deadLetterHeaders } from '#src/platform/broker/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { isTrusted, momentIn, settledStatuses } from '../../messages/domain.ts'
import type { Channel, NewMessage, SignatureVerdict, Warning } from '../../messages/index.ts'
import { idCharsMax, type MessageView, viewMessage } from '../../messages/view.ts'
import type { MessageVerifier } from '../../out/signing/index.ts'
import type { Fact } from '../../recurring/domain.ts'
import { factsOf } from '../../recurring/facts.ts'
import { type Reported, reportedBy } from '../../reports/reported.ts'
import { scanned } from '../../scanned.ts'
import { inboundHeaders, inboundXmlOf } from '../pull/index.ts'
import { type Answer, answersOf } from './answers.ts'
import { endsIn, paymentsIn, type ReceivedEnd, type ReceivedPayment } from './received.ts'
import { validate } from './validators/index.ts'

/** One received message, read and judged, before anything is stored. */
export type ReadInbound = {
  readonly delivery: Delivery
  readonly message: NewMessage
  readonly answers: readonly Answer[]
  /** Undefined when it cannot be read. */
  readonly view: MessageView | undefined
  /** What it says about mandates and charges; nothing if its signature does not fit. */
  readonly facts: readonly Fact[]
  /** What it reports of our account; nothing if its signature does not fit. */
  readonly reported: readonly Reported[]
  /** The payments to us; none if its signature does not fit. */
  readonly payments: readonly ReceivedPayment[]
  /** The ends of payments and returns; none if its signature does not fit. */
  readonly ends: readonly ReceivedEnd[]
  readonly readMs: number
}

export type ReadContext = {
  /** Undefined: we do not check signatures. */
  readonly verifier: MessageVerifier | undefined
  /** True: what is not signed by one whom we trust has no effect. */
  readonly mustBeSigned: boolean
  /** This institution's. */
  readonly ispb: string
  readonly now: () => Date
  /** Versions that are known beside ours, as `pacs.008 1.18`. */
  readonly learnedVersions: ReadonlySet<string>
  /** We read one document completely before we scan the next: nothing of it outlives {@link readInbound}. */
  readonly scanner: MessageScanner
}

const notOurs = 'not_an_spi_message'

/** Reads a delivery of an inbound topic. An unreadable message becomes a FAILED one that keeps its bytes. */
export const readInbound = (delivery: Delivery, context: ReadContext): ReadInbound => {
  const startMs = performance.now()
  const now = context.now()
  const base = baseOf(delivery, now)
  const done = (read: Omit<ReadInbound, 'delivery' | 'readMs'>): ReadInbound => ({
    ...read,
    delivery,
    readMs: performance.now() - startMs,
  })
  const failed = (errorCode: string): ReadInbound =>
    done({ ...noEffect, message: { ...base, ...unread, status: 'FAILED', errorCode } })
  const document = scanned(context.scanner, base.xml)
  if (document instanceof CodecError) return failed(document.code)
  const view = viewMessage(document)
  if (view === undefined) return failed(notOurs)
  const { ispb, verifier, learnedVersions } = context
  const { headers } = delivery
  const signature = judge(document, verifier)
  const warnings = [
    ...(headers[inboundHeaders.resourceId] === undefined ? [withoutResourceId] : []),
    ...signature.warnings,
    ...validate({ view, document, ispb, nowMs: now.getTime(), learnedVersions }),
  ]
  const isGood = isTrusted(signature.verdict)
  if (!isGood && context.mustBeSigned) {
    return done({ ...noEffect, message: { ...base, ...untrustedOf(view, signature) } })
  }
  const transactions = isGood ? withSettlements(view, base.receivedAt) : view.transactions
  return done({
    message: { ...base, ...recordOf(view, signature, warnings), transactions },
    answers: answersOf(view),
    view,
    facts: isGood ? factsOf(document, view.identity) : [],
    reported: isGood ? reportedBy(document, view.identity) : [],
    payments: isGood ? paymentsIn(document, view.identity) : [],
    ends: isGood ? endsIn(view) : [],
  })
}

export const noEffect = {
  answers: [],
  view: undefined,
  facts: [],
  reported: [],
  payments: [],
  ends: [],
} as const

/**
 * Anybody may have written it, so its ids keep no other message away: neither the true one nor this one, when it comes
 * again out of `dlq` because its certificate is trusted by then.
 */
const untrustedOf = (view: MessageView, signature: Judgement) =>
  ({
    ...recordOf(view, signature, signature.warnings),
    status: 'FAILED',
    bizMsgIdr: undefined,
    errorCode: untrustedCodes[signature.verdict],
    transactions: [],
  }) as const

const untrustedCodes: Readonly<Partial<Record<SignatureVerdict, string>>> = {
  ABSENT: 'signature_missing',
  INVALID: 'signature_untrusted',
}

/** Where the SPI does not say when it settled, it was when we received that. */
const withSettlements = (
  { identity, transactions }: MessageView,
  receivedAt: Date,
): NewMessage['transactions'] => {
  if (identity.type !== 'pacs.002') return transactions
  return transactions.map((one) =>
    settledStatuses.includes(one.status ?? '')
      ? { ...one, settledAt: momentIn(one.settlementMoment) ?? receivedAt }
      : one,
  )
}

/** Its BizMsgIdr alone identifies it. */
const withoutResourceId: Warning = {
  rule: 'PI-ResourceId',
  path: '',
  message: 'did not come with the message',
}

const unread = {
  type: undefined,
  definition: undefined,
  sourceIspb: undefined,
  destinationIspb: undefined,
  bizMsgIdr: undefined,
  signature: 'NOT_CHECKED',
  warnings: [],
  transactions: [],
} as const

const baseOf = (delivery: Delivery, now: Date) => {
  const { headers, publishedAt } = delivery
  // A retried dead letter drops its resource id: that id already belongs to the message that we could not read.
  const isRetried = headers[deadLetterHeaders.retried] !== undefined
  const resourceId = isRetried ? undefined : headers[inboundHeaders.resourceId]
  const receivedAt = new Date(headers[inboundHeaders.receivedAt] ?? Number.NaN)
  return {
    id: newUuid(now),
    direction: 'INBOUND',
    channel: channelOf(headers[inboundHeaders.channel]),
    resourceId:
      resourceId !== undefined && resourceId.length <= idCharsMax ? resourceId : undefined,
    xml: inboundXmlOf(delivery),
    receivedAt: Number.isNaN(receivedAt.getTime()) ? publishedAt : receivedAt,
  } as const
}

const channelOf = (text: string | undefined): Channel | undefined =>
  text === 'PRIMARY' || text === 'SECONDARY' ? text : undefined

const recordOf = (view: MessageView, { verdict }: Judgement, warnings: readonly Warning[]) =>
  ({
    type: view.identity.type,
    definition: view.definition,
    status: 'PROCESSED',
    sourceIspb: view.fromIspb,
    destinationIspb: view.toIspb,
    bizMsgIdr: view.bizMsgIdr,
    errorCode: undefined,
    signature: verdict,
    warnings,
  }) as const

type Judgement = { readonly verdict: SignatureVerdict; readonly warnings: readonly Warning[] }

const judge = (document: XmlDocument, verifier: MessageVerifier | undefined): Judgement => {
  if (verifier === undefined) return { verdict: 'NOT_CHECKED', warnings: [] }
  const verified = verifier.verify(document)
  if (verified.ok) return { verdict: 'VALID', warnings: [] }
  const warning = { rule: 'Sgntr', path: '/Envelope/AppHdr/Sgntr', message: verified.message }
  return {
    verdict: verified.code === 'signature_missing' ? 'ABSENT' : 'INVALID',
    warnings: [warning],
  }
}
