import type { XmlDocument } from '#codecs/xml'
import { demandText, type Element, nodeAt } from './markup.ts'
import {
  elementsOf,
  type Fields,
  id,
  ispb,
  type Kind,
  moment,
  oneOf,
  optional,
  prose,
  readFields,
  text,
  word,
} from './values.ts'

// Source: DICT API 2.12.1, schemas InfractionReport and ExtendedInfractionReport.

/** A refund is asked for by the payer's institution, the end of one by the receiver's. */
export const infractionReasons = ['REFUND_REQUEST', 'REFUND_CANCELLED'] as const
export const situationTypes = [
  'SCAM',
  'ACCOUNT_TAKEOVER',
  'COERCION',
  'FRAUDULENT_ACCESS',
  'OTHER',
] as const
export const fraudTypes = ['APPLICATION_FRAUD', 'MULE_ACCOUNT', 'SCAMMER_ACCOUNT', 'OTHER'] as const
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
/** The directory has no maximum; no address is longer than 64 characters, an @ and 255. */
const emailForm = /^[!-~]{3,320}$/
const phoneForm = /^\+\d{2,15}$/

const contact: Kind<Contact | undefined> = {
  read: (document, node, path) =>
    nodeAt(document, node, path) === undefined
      ? undefined
      : {
          email: demandText(document, node, `${path}/Email`, emailForm),
          phone: demandText(document, node, `${path}/Phone`, phoneForm),
        },
  write: (who) =>
    who && [
      ['Email', who.email],
      ['Phone', who.phone],
    ],
}

const requestFields: Fields<InfractionRequest> = {
  transactionId: ['TransactionId', text(transactionForm)],
  reason: ['Reason', word],
  situation: ['SituationType', word],
  details: ['ReportDetails', prose],
  contact: ['ContactInformation', contact],
}

const { contact: contactField, ...beforeContact } = requestFields

const reportFields: Fields<InfractionReport> = {
  ...beforeContact,
  id: ['Id', id],
  status: ['Status', oneOf(infractionStatuses)],
  reporter: ['ReporterParticipant', ispb],
  counterparty: ['CounterpartyParticipant', ispb],
  fraudMarkerId: ['FraudMarkerId', optional(id)],
  fraudType: ['FraudType', optional(word)],
  contact: contactField,
  createdMs: ['CreationTime', moment],
  modifiedMs: ['LastModified', moment],
  result: ['AnalysisResult', optional(oneOf(infractionResults))],
  analysis: ['AnalysisDetails', prose],
}

export const infractionElement = (request: InfractionRequest | InfractionReport): Element => [
  'InfractionReport',
  'id' in request ? elementsOf(reportFields, request) : elementsOf(requestFields, request),
]

/** @param node the element InfractionReport. @throws CodecError `dict_document` */
export const readInfractionRequest = (document: XmlDocument, node: number): InfractionRequest =>
  readFields(requestFields, document, node)

/** @param node the element InfractionReport. @throws CodecError `dict_document` */
export const readInfractionReport = (document: XmlDocument, node: number): InfractionReport =>
  readFields(reportFields, document, node)
