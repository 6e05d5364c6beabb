import type { XmlDocument } from '#codecs/xml'
import { demandText, type Element, textAt } from './markup.ts'
import {
  amountText,
  centsAt,
  demandCents,
  demandId,
  demandMoment,
  demandOneOf,
  demandWord,
  idAt,
  momentText,
  proseAt,
  wordAt,
} from './values.ts'

// Source: DICT API 2.12.1, schemas Refund and ExtendedRefund.

export const refundReasons = ['FRAUD', 'OPERATIONAL_FLAW', 'PIX_AUTOMATICO'] as const
export const refundStatuses = ['OPEN', 'CLOSED', 'CANCELLED'] as const
export const refundResults = ['TOTALLY_ACCEPTED', 'PARTIALLY_ACCEPTED', 'REJECTED'] as const
export const refundRejectionReasons = [
  ...(['NO_BALANCE', 'ACCOUNT_CLOSURE', 'INVALID_REQUEST', 'OTHER'] as const),
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
const ispbForm = /^[0-9A-Z]{8}$/

const requestElements = (request: RefundRequest): readonly Element[] => [
  ['TransactionId', request.transactionId],
  ['RefundReason', request.reason],
  ['RefundAmount', amountText(request.amountCents)],
  ['RefundDetails', request.details],
]

const textOf = (cents: bigint | undefined): string | undefined =>
  cents === undefined ? undefined : amountText(cents)

export const refundElement = (request: RefundRequest | DirectoryRefund): Element => [
  'Refund',
  'id' in request
    ? [
        ...requestElements(request),
        ['Id', request.id],
        ['FundsRecoveryId', request.recoveryId],
        ['Status', request.status],
        ['ContestedParticipant', request.contested],
        ['RequestingParticipant', request.requesting],
        ['EffectiveRefundedAmount', textOf(request.effectiveCents)],
        ['AnalysisResult', request.result],
        ['AnalysisDetails', request.analysis],
        ['RefundRejectionReason', request.rejectionReason],
        ['RefundTransactionId', request.returnId],
        ['CreationTime', momentText(request.createdMs)],
        ['LastModified', momentText(request.modifiedMs)],
      ]
    : requestElements(request),
]

/** The analysis, as elements of a CloseRefundRequest. */
export const refundAnalysisElements = (analysis: RefundAnalysis): readonly Element[] => [
  ['RefundAnalysisResult', analysis.result],
  ['RefundAnalysisDetails', analysis.analysis],
  ['RefundRejectionReason', analysis.rejectionReason],
  ['RefundTransactionId', analysis.returnId],
  ['EffectiveRefundedAmount', textOf(analysis.effectiveCents)],
]

/** Reads the analysis of a CloseRefundRequest. @throws CodecError `dict_document` */
export const readRefundAnalysis = (document: XmlDocument, node: number): RefundAnalysis => ({
  result: demandOneOf(document, node, 'RefundAnalysisResult', refundResults),
  analysis: proseAt(document, node, 'RefundAnalysisDetails'),
  rejectionReason: wordAt(document, node, 'RefundRejectionReason'),
  returnId: returnIdAt(document, node),
  effectiveCents: centsAt(document, node, 'EffectiveRefundedAmount'),
})

const returnIdAt = (document: XmlDocument, node: number): string | undefined =>
  textAt(document, node, 'RefundTransactionId') === undefined
    ? undefined
    : demandText(document, node, 'RefundTransactionId', transactionForm)

/** @param node the element Refund. @throws CodecError `dict_document` */
export const readRefundRequest = (document: XmlDocument, node: number): RefundRequest => ({
  transactionId: demandText(document, node, 'TransactionId', transactionForm),
  reason: demandWord(document, node, 'RefundReason'),
  amountCents: demandCents(document, node, 'RefundAmount'),
  details: proseAt(document, node, 'RefundDetails'),
})

/** @param node the element Refund. @throws CodecError `dict_document` */
export const readRefund = (document: XmlDocument, node: number): DirectoryRefund => ({
  ...readRefundRequest(document, node),
  id: demandId(document, node, 'Id'),
  recoveryId: idAt(document, node, 'FundsRecoveryId'),
  status: demandOneOf(document, node, 'Status', refundStatuses),
  requesting: demandText(document, node, 'RequestingParticipant', ispbForm),
  contested: demandText(document, node, 'ContestedParticipant', ispbForm),
  createdMs: demandMoment(document, node, 'CreationTime'),
  modifiedMs: demandMoment(document, node, 'LastModified'),
  result:
    textAt(document, node, 'AnalysisResult') === undefined
      ? undefined
      : demandOneOf(document, node, 'AnalysisResult', refundResults),
  analysis: proseAt(document, node, 'AnalysisDetails'),
  rejectionReason: wordAt(document, node, 'RefundRejectionReason'),
  returnId: returnIdAt(document, node),
  effectiveCents: centsAt(document, node, 'EffectiveRefundedAmount'),
})
