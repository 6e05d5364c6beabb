import type { XmlDocument } from '#codecs/xml'
import type { Element } from './markup.ts'
import {
  cents,
  elementsOf,
  type Fields,
  id,
  ispb,
  moment,
  oneOf,
  optional,
  prose,
  readFields,
  text,
  word,
} from './values.ts'

// Source: DICT API 2.12.1, schemas Refund and ExtendedRefund.

export const refundReasons = ['FRAUD', 'OPERATIONAL_FLAW', 'PIX_AUTOMATICO'] as const
export const refundStatuses = ['OPEN', 'CLOSED', 'CANCELLED'] as const
export const refundResults = ['TOTALLY_ACCEPTED', 'PARTIALLY_ACCEPTED', 'REJECTED'] as const
export const refundRejectionReasons = [
  'NO_BALANCE',
  'ACCOUNT_CLOSURE',
  'INVALID_REQUEST',
  'OTHER',
] as const

export type RefundStatus = (typeof refundStatuses)[number]
export type RefundResult = (typeof refundResults)[number]

export type RefundRequest = {
  /** EndToEndId. */
  readonly transactionId: string
  /** One of {@link refundReasons}, or one that came later. */
  readonly reason: string
  readonly amountCents: bigint
  readonly details: string | undefined
}

/** What the contested institution found. @property returnId RtrId of the pacs.004 */
export type RefundAnalysis = {
  readonly result: RefundResult
  readonly analysis: string | undefined
  readonly rejectionReason: string | undefined
  readonly returnId: string | undefined
  /** What a refund gave back that belongs to a recovery of funds. */
  readonly effectiveCents: bigint | undefined
}

/** A refund as the directory shows it; moments in milliseconds since the epoch. */
export type DirectoryRefund = RefundRequest &
  Omit<RefundAnalysis, 'result'> & {
    readonly id: string
    readonly status: RefundStatus
    /** ISPB. */
    readonly requesting: string
    readonly contested: string
    readonly createdMs: number
    readonly modifiedMs: number
    /** The recovery of funds that it belongs to. */
    readonly recoveryId: string | undefined
    readonly result: RefundResult | undefined
  }

const transactionForm = /^[0-9A-Za-z]{32}$/

const requestFields: Fields<RefundRequest> = {
  transactionId: ['TransactionId', text(transactionForm)],
  reason: ['RefundReason', word],
  amountCents: ['RefundAmount', cents],
  details: ['RefundDetails', prose],
}

const refundFields: Fields<DirectoryRefund> = {
  ...requestFields,
  id: ['Id', id],
  recoveryId: ['FundsRecoveryId', optional(id)],
  status: ['Status', oneOf(refundStatuses)],
  contested: ['ContestedParticipant', ispb],
  requesting: ['RequestingParticipant', ispb],
  effectiveCents: ['EffectiveRefundedAmount', optional(cents)],
  result: ['AnalysisResult', optional(oneOf(refundResults))],
  analysis: ['AnalysisDetails', prose],
  rejectionReason: ['RefundRejectionReason', optional(word)],
  returnId: ['RefundTransactionId', optional(text(transactionForm))],
  createdMs: ['CreationTime', moment],
  modifiedMs: ['LastModified', moment],
}

const analysisFields: Fields<RefundAnalysis> = {
  result: ['RefundAnalysisResult', oneOf(refundResults)],
  analysis: ['RefundAnalysisDetails', prose],
  rejectionReason: ['RefundRejectionReason', optional(word)],
  returnId: ['RefundTransactionId', optional(text(transactionForm))],
  effectiveCents: ['EffectiveRefundedAmount', optional(cents)],
}

export const refundElement = (request: RefundRequest | DirectoryRefund): Element => [
  'Refund',
  'id' in request ? elementsOf(refundFields, request) : elementsOf(requestFields, request),
]

/** The analysis, as elements of a CloseRefundRequest. */
export const refundAnalysisElements = (analysis: RefundAnalysis): readonly Element[] =>
  elementsOf(analysisFields, analysis)

/** Reads the analysis of a CloseRefundRequest. @throws CodecError `dict_document` */
export const readRefundAnalysis = (document: XmlDocument, node: number): RefundAnalysis =>
  readFields(analysisFields, document, node)

/** @param node the element Refund. @throws CodecError `dict_document` */
export const readRefundRequest = (document: XmlDocument, node: number): RefundRequest =>
  readFields(requestFields, document, node)

/** @param node the element Refund. @throws CodecError `dict_document` */
export const readRefund = (document: XmlDocument, node: number): DirectoryRefund =>
  readFields(refundFields, document, node)
