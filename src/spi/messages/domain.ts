/** The states of a message. The API's send response says `queued`. */
export const messageStatuses = [
  'QUEUED',
  'SENT',
  'ACCEPTED',
  'PARTIALLY_ACCEPTED',
  'REJECTED',
  'FAILED',
  'UNKNOWN',
  'RECEIVED',
  'PROCESSED',
] as const
export type MessageStatus = (typeof messageStatuses)[number]

/** Statuses of messages that wait for us or for an answer. */
export const openStatuses = ['QUEUED', 'SENT', 'UNKNOWN', 'RECEIVED'] as const

/** The others, which last. */
export const endStatuses: readonly MessageStatus[] = messageStatuses.filter(
  (status) => !openStatuses.some((open) => open === status),
)

export const directions = ['INBOUND', 'OUTBOUND'] as const
export type Direction = (typeof directions)[number]

export const channels = ['PRIMARY', 'SECONDARY'] as const
export type Channel = (typeof channels)[number]

/** Verdict on the signature of a received message; `NOT_CHECKED` if no verification is configured. */
export const signatureVerdicts = ['VALID', 'INVALID', 'ABSENT', 'NOT_CHECKED'] as const
export type SignatureVerdict = (typeof signatureVerdicts)[number]

/** A message with another verdict says nothing about money. */
export const trustedVerdicts = ['VALID', 'NOT_CHECKED'] as const satisfies SignatureVerdict[]

export const isTrusted = (verdict: string): boolean =>
  trustedVerdicts.some((one) => one === verdict)

/** Error code of a message that a person gave up: REJECTED, as far as we know. */
export const neverSent = 'never_sent'

/** Error code of a message whose end a person told: the central bank has not, and when it does, that counts. */
export const resolvedByHand = 'resolved'

/** Whether a transaction waits for its answer: one may have said that it goes on. */
export const isUnanswered = (status: string | null): boolean => (status ?? 'ACSP') === 'ACSP'

/** TxSts of what is refused. */
export const refusedStatuses: readonly string[] = ['RJCT', 'RJCR']

/** TxSts of what has settled. */
export const settledStatuses: readonly string[] = ['ACSC', 'ACCC']

/** Statuses of a reply of ours that went out and was not refused. */
export const toldStatuses: readonly string[] = ['SENT', 'ACCEPTED', 'PARTIALLY_ACCEPTED']
/** Statuses of a reply that has told nobody anything. */
export const untoldStatuses: readonly string[] = ['REJECTED', 'FAILED']

const answerable = ['QUEUED', 'SENT', 'UNKNOWN', 'FAILED'] as const

/**
 * What each status may follow. An answer can overtake the record of the sending, so QUEUED may be answered. Only an
 * explicit answer ends UNKNOWN: if the sending was in doubt, its PI-ResourceId is one, unless an answer is overdue too
 * ({@link StatusChange}). The central bank never stored a FAILED message, as far as we know, so a person may have it sent
 * after all, or give it up: then it is REJECTED. An answer knows better, and ends it.
 */
const predecessors: Readonly<Record<MessageStatus, readonly MessageStatus[]>> = {
  QUEUED: ['FAILED'],
  SENT: ['QUEUED'],
  ACCEPTED: answerable,
  PARTIALLY_ACCEPTED: answerable,
  REJECTED: answerable,
  FAILED: ['QUEUED', 'RECEIVED'],
  UNKNOWN: ['QUEUED', 'SENT'],
  RECEIVED: [],
  PROCESSED: ['RECEIVED'],
}

export const predecessorsOf = (status: MessageStatus): readonly MessageStatus[] =>
  predecessors[status]

/** How a transaction ends, or a message of one. */
export type Outcome = Extract<MessageStatus, 'ACCEPTED' | 'REJECTED'>
/** How a message ends that is answered. */
export const messageOutcomes = [
  'ACCEPTED',
  'PARTIALLY_ACCEPTED',
  'REJECTED',
] as const satisfies MessageStatus[]
export type MessageOutcome = (typeof messageOutcomes)[number]

/** Returns how a message ends of whose transactions, at least one, so many are refused. */
export const outcomeOfAll = (transactions: number, refused: number): MessageOutcome => {
  if (refused === 0) return 'ACCEPTED'
  return refused === transactions ? 'REJECTED' : 'PARTIALLY_ACCEPTED'
}

/** Returns how a message ends whose transactions are all answered, with the reasons of those refused. */
export const endOf = (
  id: string,
  { transactions, refused }: { readonly transactions: number; readonly refused: number },
  reasons: readonly string[],
): StatusChange => {
  const status = outcomeOfAll(transactions, refused)
  const codes = [...new Set(reasons)].sort().join(', ')
  const counted = transactions > 1 && refused > 0 ? `${refused} of ${transactions} refused` : ''
  const detail = [counted, codes].filter((part) => part !== '').join(': ')
  return { id, status, detail: detail === '' ? undefined : detail }
}

/**
 * The end of our reply to a payment, from what the SPI then reports of that payment. When this institution gave the
 * refusal itself, the report confirms it: the reply is not refused. A payment that settles in spite of it was answered
 * otherwise before.
 *
 * @param own - TxSts of the reply; null when the message is no reply
 */
export const replyOutcome = (own: string | null, reported: Outcome): Outcome => {
  if (own !== 'RJCT') return reported
  return reported === 'REJECTED' ? 'ACCEPTED' : 'REJECTED'
}

/** One payment, return or answer within a message. */
export type MessageTransaction = {
  readonly endToEndId: string | undefined
  /** InstrId; RtrId of a return; OrgnlInstrId of an answer; of a schedule, a cancellation or their answers, its id. */
  readonly instructionId: string | undefined
  readonly amountCents: bigint | undefined
  readonly debtorIspb: string | undefined
  readonly creditorIspb: string | undefined
  /** What an answer says, or what a payment was answered: TxSts, PmtInfCxlSts or Sts. */
  readonly status: string | undefined
  /** Code of the reason that the message gives: of a return why, of an answer why not. */
  readonly reason?: string | undefined
  /** Code of why the answer refuses what we sent. */
  readonly refusal?: string | undefined
  /** The moment of the settlement that an answer tells of. */
  readonly settledAt?: Date | undefined
}

/** A rule that a received message breaks. We store and log it, but never refuse the message for it. */
export type Warning = { readonly rule: string; readonly path: string; readonly message: string }

export type NewMessage = {
  /** UUIDv7 of `createdAt`: order, partition and time range follow from it. */
  readonly id: string
  /** Dotted lower case: `pacs.008`; undefined when it cannot be read. */
  readonly type: string | undefined
  /** As MsgDefIdr: `pacs.008.spi.1.13`. */
  readonly definition: string | undefined
  readonly direction: Direction
  readonly status: MessageStatus
  readonly channel: Channel | undefined
  readonly sourceIspb: string | undefined
  readonly destinationIspb: string | undefined
  readonly bizMsgIdr: string | undefined
  /** PI-ResourceId. */
  readonly resourceId: string | undefined
  /** Code of the error that made it FAILED. */
  readonly errorCode: string | undefined
  readonly signature: SignatureVerdict
  readonly warnings: readonly Warning[]
  readonly transactions: readonly MessageTransaction[]
  readonly xml: Uint8Array
  /** Set for a received message, which we store only after processing it: its history then begins with RECEIVED. */
  readonly receivedAt?: Date | undefined
  /** Where the signature goes, if `xml` is not signed yet. */
  readonly envelope?: string | undefined
  /** True for a payment without haste (PAGAGD). */
  readonly isScheduled?: boolean | undefined
  /** Set when whoever stores the message also sends it: the queue takes it over at `requeueAfter`. */
  readonly inDoubtSince?: Date | undefined
  readonly requeueAfter?: Date | undefined
  /** W3C Trace Context of whoever has it sent, or of the span in which it was received. */
  readonly traceparent?: string | undefined
}

export type StatusChange = {
  readonly id: string
  readonly status: MessageStatus
  /** Code and reason in a few words, without personal data. */
  readonly detail?: string | undefined
  /** Set when the message becomes FAILED. */
  readonly errorCode?: string | undefined
  /** Kept even if the status does not change: an answer may have overtaken it. */
  readonly resourceId?: string | undefined
  /**
   * Set when the message becomes SENT: its answer is overdue by now. An UNKNOWN message stays UNKNOWN, and its history
   * says that we know it was sent.
   */
  readonly isLate?: boolean | undefined
  /** Set when the message becomes SENT long after it was made: the moment, kept unless an earlier one is known. */
  readonly sentAt?: Date | undefined
  /** Set when the message may have ended without a word of the central bank: then this follows any end, too. */
  readonly wasAssumed?: boolean | undefined
}

/** We did not know the outcome of a message and sent it again, with the same bytes. */
export type Repetition = {
  readonly id: string
  /** The result, without personal data. */
  readonly detail: string
}

export type MessageRecord = {
  readonly id: string
  readonly type: string | null
  readonly direction: Direction
  readonly status: MessageStatus
  readonly channel: Channel | null
  readonly sourceIspb: string | null
  readonly destinationIspb: string | null
  readonly endToEndId: string | null
  readonly bizMsgIdr: string | null
  readonly resourceId: string | null
  readonly transactionCount: number
  /** The sum of all its transactions, as digits; null where none has an amount. */
  readonly totalCents: string | null
}

export type MessageDetail = {
  readonly record: MessageRecord
  readonly definition: string | null
  readonly errorCode: string | null
  readonly signature: SignatureVerdict
  readonly warnings: readonly Warning[]
  /** The trace that it belongs to; undefined where nothing was traced. */
  readonly traceId: string | undefined
  readonly transactions: readonly MessageTransaction[]
  readonly history: readonly {
    readonly status: MessageStatus
    readonly at: Date
    readonly detail: string | undefined
    /** Undefined: the entry is about a status. */
    readonly repetition: number | undefined
  }[]
}

export type MessageFilter = {
  readonly type?: string | undefined
  readonly direction?: Direction | undefined
  readonly status?: MessageStatus | undefined
  /** The status of any of its transactions. */
  readonly transactionStatus?: string | undefined
  readonly sourceIspb?: string | undefined
  readonly destinationIspb?: string | undefined
  readonly endToEndId?: string | undefined
  readonly bizMsgIdr?: string | undefined
  /** The amount of any of its transactions; all conditions on transactions must hold for the same one. */
  readonly amounts?: AmountRange | undefined
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

/** Both ends belong to it. */
export type AmountRange = { readonly fromCents: bigint; readonly toCents: bigint }

/** The largest that is stored. */
export const amountCentsMax = 2n ** 63n - 1n

/** Which of several conditions a list is walked by; no index fits the others as they are written. */
export type Lead = 'bizMsgIdr' | 'endToEndId' | 'amounts' | 'status' | 'time'

/** A list counts so many messages; one more tells that there are more. */
export const countedMax = 10_000

export type Page = {
  readonly limit: number
  readonly offset: number
  /** Only messages older than this id. */
  readonly before: string | undefined
}

/** The central bank recognises a repetition for a day; what is older needs a person, who resolves it. */
export const knownForMs = 24 * 3_600_000

/** The moment a UUIDv7 was made, to the millisecond. */
export const momentOf = (id: string): Date =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))

const operationId = /^[A-Z][0-9A-Z]{8}(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)/

/** The minute in UTC that an EndToEndId or RtrId tells; undefined when it tells none, or one that does not exist. */
export const operationMoment = (id: string): Date | undefined => {
  const [, year, month, day, hour, minute] = operationId.exec(id) ?? []
  if (year === undefined) return undefined
  const text = `${year}-${month}-${day}T${hour}:${minute}`
  const moment = new Date(`${text}:00.000Z`)
  const isReal = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text)
  return isReal ? moment : undefined
}

/** Only years of this century, which is all that days of reports may be of, too. */
const momentForm = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A moment as messages tell it; undefined when it is none. */
export const momentIn = (text: string | undefined | null): Date | undefined => {
  if (typeof text !== 'string' || !momentForm.test(text)) return undefined
  const moment = new Date(text)
  return Number.isNaN(moment.getTime()) ? undefined : moment
}

/** Messages that order what the central bank does once: payments and returns. */
export const orderTypes = ['pacs.008', 'pacs.004'] as const

/** Types that may be ordered once under an id: those, and charges, which the payer pays under it. */
export const onceTypes = [...orderTypes, 'pain.013'] as const

export type Orders = {
  readonly kind: (typeof onceTypes)[number]
  /** RtrIds of pacs.004, else EndToEndIds. */
  readonly ids: readonly string[]
}

/** What a message of ours orders; undefined: nothing. */
export const ordersOf = ({
  direction,
  type,
  transactions,
}: Pick<NewMessage, 'direction' | 'type' | 'transactions'>): Orders | undefined => {
  const kind = direction === 'OUTBOUND' ? onceTypes.find((one) => one === type) : undefined
  if (kind === undefined) return undefined
  const ids = transactions.map(({ endToEndId, instructionId }) =>
    kind === 'pacs.004' ? instructionId : endToEndId,
  )
  return { kind, ids: [...new Set(ids.filter((id) => id !== undefined))] }
}
