import type { XmlDocument } from '#codecs/xml'
import { demandText, type Element, nodeAt, textAt } from './markup.ts'
import {
  demandId,
  demandMoment,
  demandOneOf,
  demandWord,
  idAt,
  momentText,
  proseAt,
  wordAt,
} from './values.ts'

// Source: DICT API 2.12.1, schemas InfractionReport and ExtendedInfractionReport.

/** A refund is asked for by the payer's institution, the end of one by the receiver's. */
export const infractionReasons = ['REFUND_REQUEST', 'REFUND_CANCELLED'] as const
export const situationTypes = [
  ...(['SCAM', 'ACCOUNT_TAKEOVER', 'COERCION', 'FRAUDULENT_ACCESS', 'OTHER'] as const),
] as const
export const fraudTypes = [
  ...(['APPLICATION_FRAUD', 'MULE_ACCOUNT', 'SCAMMER_ACCOUNT', 'OTHER'] as const),
] as const
export const infractionStatuses = ['OPEN', 'ACKNOWLEDGED', 'CLOSED', 'CANCELLED'] as const
export const infractionResults = ['AGREED', 'DISAGREED'] as const

export type InfractionStatus = (typeof infractionStatuses)[number]
export type InfractionResult = (typeof infractionResults)[number]

/** @property email and phone of who may be asked about it */
export type Contact = { readonly email: string; readonly phone: string }

export type InfractionRequest = {
  /** EndToEndId. */
  readonly transactionId: string
  /** One of {@link infractionReasons}, or one that came later. */
  readonly reason: string
  readonly situation: string
  readonly details: string | undefined
  readonly contact: Contact | undefined
}

/** A report as the directory shows it; moments in milliseconds since the epoch. */
export type InfractionReport = InfractionRequest & {
  readonly id: string
  readonly status: InfractionStatus
  /** ISPB. */
  readonly reporter: string
  readonly counterparty: string
  readonly createdMs: number
  readonly modifiedMs: number
  readonly result: InfractionResult | undefined
  readonly analysis: string | undefined
  readonly fraudType: string | undefined
  readonly fraudMarkerId: string | undefined
}

const transactionForm = /^[0-9A-Za-z]{8,32}$/
const ispbForm = /^[0-9A-Z]{8}$/
const emailForm = /^[!-~]{3,77}$/
const phoneForm = /^\+\d{2,15}$/

const requestElements = (request: InfractionRequest): readonly Element[] => [
  ['TransactionId', request.transactionId],
  ['Reason', request.reason],
  ['SituationType', request.situation],
  ['ReportDetails', request.details],
]

const contactElement = ({ contact }: InfractionRequest): Element => [
  'ContactInformation',
  contact && [
    ['Email', contact.email],
    ['Phone', contact.phone],
  ],
]

export const infractionElement = (request: InfractionRequest | InfractionReport): Element => [
  'InfractionReport',
  'id' in request
    ? [
        ...requestElements(request),
        ['Id', request.id],
        ['Status', request.status],
        ['ReporterParticipant', request.reporter],
        ['CounterpartyParticipant', request.counterparty],
        ['FraudMarkerId', request.fraudMarkerId],
        ['FraudType', request.fraudType],
        contactElement(request),
        ['CreationTime', momentText(request.createdMs)],
        ['LastModified', momentText(request.modifiedMs)],
        ['AnalysisResult', request.result],
        ['AnalysisDetails', request.analysis],
      ]
    : [...requestElements(request), contactElement(request)],
]

const readContact = (document: XmlDocument, node: number): Contact | undefined =>
  nodeAt(document, node, 'ContactInformation') === undefined
    ? undefined
    : {
        email: demandText(document, node, 'ContactInformation/Email', emailForm),
        phone: demandText(document, node, 'ContactInformation/Phone', phoneForm),
      }

/** @param node the element InfractionReport. @throws CodecError `dict_document` */
export const readInfractionRequest = (document: XmlDocument, node: number): InfractionRequest => ({
  transactionId: demandText(document, node, 'TransactionId', transactionForm),
  reason: demandWord(document, node, 'Reason'),
  situation: demandWord(document, node, 'SituationType'),
  details: proseAt(document, node, 'ReportDetails'),
  contact: readContact(document, node),
})

/** @param node the element InfractionReport. @throws CodecError `dict_document` */
export const readInfractionReport = (document: XmlDocument, node: number): InfractionReport => ({
  ...readInfractionRequest(document, node),
  id: demandId(document, node, 'Id'),
  status: demandOneOf(document, node, 'Status', infractionStatuses),
  reporter: demandText(document, node, 'ReporterParticipant', ispbForm),
  counterparty: demandText(document, node, 'CounterpartyParticipant', ispbForm),
  createdMs: demandMoment(document, node, 'CreationTime'),
  modifiedMs: demandMoment(document, node, 'LastModified'),
  result:
    textAt(document, node, 'AnalysisResult') === undefined
      ? undefined
      : demandOneOf(document, node, 'AnalysisResult', infractionResults),
  analysis: proseAt(document, node, 'AnalysisDetails'),
  fraudType: wordAt(document, node, 'FraudType'),
  fraudMarkerId: idAt(document, node, 'FraudMarkerId'),
})
