/** What becomes of a message. The API's send response says `queued`. */
export const messageStatuses = [
  'QUEUED',
  'SENT',
  'ACCEPTED',
  'REJECTED',
  'FAILED',
  'UNKNOWN',
  'RECEIVED',
  'PROCESSED',
] as const
export type MessageStatus = (typeof messageStatuses)[number]

export const directions = ['INBOUND', 'OUTBOUND'] as const
export type Direction = (typeof directions)[number]

export const channels = ['PRIMARY', 'SECONDARY'] as const
export type Channel = (typeof channels)[number]

/** Verdict on the signature of a received message; `NOT_CHECKED` where no verification is configured. */
export const signatureVerdicts = ['VALID', 'INVALID', 'ABSENT', 'NOT_CHECKED'] as const
export type SignatureVerdict = (typeof signatureVerdicts)[number]

/**
 * Where each status may come from. An answer can overtake the record of the sending, so QUEUED may be answered;
 * UNKNOWN is left by an explicit answer alone: where the sending itself was in doubt, its PI-ResourceId is one, unless an
 * answer is overdue besides ({@link StatusChange}). What FAILED was never stored by the central bank, so a person may have it sent after all.
 */
const predecessors: Readonly<Record<MessageStatus, readonly MessageStatus[]>> = {
  QUEUED: ['FAILED'],
  SENT: ['QUEUED'],
  ACCEPTED: ['QUEUED', 'SENT', 'UNKNOWN'],
  REJECTED: ['QUEUED', 'SENT', 'UNKNOWN'],
  FAILED: ['QUEUED', 'RECEIVED'],
  UNKNOWN: ['QUEUED', 'SENT'],
  RECEIVED: [],
  PROCESSED: ['RECEIVED'],
}

export const predecessorsOf = (status: MessageStatus): readonly MessageStatus[] =>
  predecessors[status]

/** One payment, return or answer within a message. */
export type MessageTransaction = {
  readonly endToEndId: string | undefined
  /** RtrId of a return; OrgnlInstrId of an answer. */
  readonly instructionId: string | undefined
  readonly amountCents: bigint | undefined
  readonly debtorIspb: string | undefined
  readonly creditorIspb: string | undefined
  /** TxSts of an answer. */
  readonly status: string | undefined
}

/** A rule that a received message breaks. Stored and logged, never a reason to refuse it. */
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
  /** Code of the error that left it FAILED. */
  readonly errorCode: string | undefined
  readonly signature: SignatureVerdict
  readonly warnings: readonly Warning[]
  readonly transactions: readonly MessageTransaction[]
  readonly xml: Uint8Array
  /** Of a received message that is stored when it has been processed: its first status is RECEIVED, then. */
  readonly receivedAt?: Date | undefined
  /** Where the signature of a message goes whose `xml` is not signed yet. */
  readonly envelope?: string | undefined
  /** Of a payment without haste (PAGAGD). */
  readonly isScheduled?: boolean | undefined
  /** Of a message that is sent by whoever stores it: the queue takes it over at `requeueAfter`. */
  readonly inDoubtSince?: Date | undefined
  readonly requeueAfter?: Date | undefined
  /** W3C Trace Context of what has it sent. */
  readonly traceparent?: string | undefined
}

export type StatusChange = {
  readonly id: string
  readonly status: MessageStatus
  /** Code and reason in a few words, without personal data. */
  readonly detail?: string | undefined
  /** Of what becomes FAILED. */
  readonly errorCode?: string | undefined
  /** Noted also where the status stays: an answer may have overtaken it. */
  readonly resourceId?: string | undefined
  /**
   * Of what becomes SENT: its answer is overdue by now. Where the message is UNKNOWN it stays so, and its history says
   * that it is known to be sent.
   */
  readonly isLate?: boolean | undefined
}

/** A message whose outcome was not known went out again, with the same bytes. */
export type Repetition = {
  readonly id: string
  /** What came of it, without personal data. */
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
}

export type MessageDetail = {
  readonly record: MessageRecord
  readonly definition: string | null
  readonly errorCode: string | null
  readonly signature: SignatureVerdict
  readonly warnings: readonly Warning[]
  readonly transactions: readonly MessageTransaction[]
  readonly history: readonly {
    readonly status: MessageStatus
    readonly at: Date
    readonly detail: string | undefined
    /** Undefined: the entry tells of a status. */
    readonly repetition: number | undefined
  }[]
}

export type MessageFilter = {
  readonly type?: string | undefined
  readonly direction?: Direction | undefined
  readonly status?: MessageStatus | undefined
  readonly sourceIspb?: string | undefined
  readonly destinationIspb?: string | undefined
  readonly endToEndId?: string | undefined
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

export type Page = {
  readonly limit: number
  readonly offset: number
  /** Only messages older than this id. */
  readonly before: string | undefined
}

/** The moment a UUIDv7 was made, to the millisecond. */
export const momentOf = (id: string): Date =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
