import type { XmlDocument } from '#codecs/xml'
import type { MessageType } from './catalogue/index.ts'
import { identityOfNamespace, type MessageIdentity } from './envelope.ts'
import { readAdmi002 } from './messages/admi002.ts'
import { readAdmi004 } from './messages/admi004.ts'
import { readCamt014 } from './messages/camt014.ts'
import { readCamt025 } from './messages/camt025.ts'
import { readCamt029 } from './messages/camt029.ts'
import { readCamt052 } from './messages/camt052.ts'
import { readCamt053 } from './messages/camt053.ts'
import { readCamt054 } from './messages/camt054.ts'
import { readCamt055 } from './messages/camt055.ts'
import { readCamt060 } from './messages/camt060.ts'
import { readPacs002 } from './messages/pacs002.ts'
import { readPacs004 } from './messages/pacs004.ts'
import { type PaymentNodes, readPacs008, readPayments } from './messages/pacs008.ts'
import { readPain009 } from './messages/pain009.ts'
import { readPain011 } from './messages/pain011.ts'
import { readPain012 } from './messages/pain012.ts'
import { readPain013 } from './messages/pain013.ts'
import { readPain014 } from './messages/pain014.ts'
import { readPibr001 } from './messages/pibr001.ts'
import { readPibr002 } from './messages/pibr002.ts'
import { readReda014 } from './messages/reda014.ts'
import { readReda016 } from './messages/reda016.ts'
import { readReda017 } from './messages/reda017.ts'
import { readReda022 } from './messages/reda022.ts'
import { readReda031 } from './messages/reda031.ts'
import { readReda041 } from './messages/reda041.ts'
import { readTrck002 } from './messages/trck002.ts'
import { MessageReader, type ReadProblem } from './reader.ts'
import { nameIdOf } from './vocabulary.ts'

const readers = {
  'pacs.008': readPacs008,
  'pacs.002': readPacs002,
  'pacs.004': readPacs004,
  'pain.009': readPain009,
  'pain.011': readPain011,
  'pain.012': readPain012,
  'pain.013': readPain013,
  'pain.014': readPain014,
  'camt.014': readCamt014,
  'camt.025': readCamt025,
  'camt.029': readCamt029,
  'camt.052': readCamt052,
  'camt.053': readCamt053,
  'camt.054': readCamt054,
  'camt.055': readCamt055,
  'camt.060': readCamt060,
  'admi.002': readAdmi002,
  'admi.004': readAdmi004,
  'pibr.001': readPibr001,
  'pibr.002': readPibr002,
  'reda.014': readReda014,
  'reda.016': readReda016,
  'reda.017': readReda017,
  'reda.022': readReda022,
  'reda.031': readReda031,
  'reda.041': readReda041,
  'trck.002': readTrck002,
} as const satisfies Readonly<Record<MessageType, unknown>>

/** By type, what a message is read into. */
export type TypedMessages = { readonly [T in MessageType]: ReturnType<(typeof readers)[T]> }

/** A message read into its type; the discriminant is `type`. */
export type TypedMessage = TypedMessages[MessageType]

type ReadAs<T extends MessageType> = (
  reader: MessageReader,
  xml: XmlDocument,
  version: string,
) => TypedMessages[T]

const readersByType: { readonly [T in MessageType]: ReadAs<T> } = readers

export type MessageReading<T extends MessageType = MessageType> =
  | { readonly ok: true; readonly message: TypedMessages[T] }
  | { readonly ok: false; readonly problems: readonly ReadProblem[] }

/** The types of which a message is a payment, a return, or the answer to either. */
export type PaymentMessageType = 'pacs.008' | 'pacs.002' | 'pacs.004'

export type PaymentMessage = TypedMessages[PaymentMessageType]

export const isPaymentMessageType = (type: string): type is PaymentMessageType =>
  type === 'pacs.008' || type === 'pacs.002' || type === 'pacs.004'

const envelope = nameIdOf('Envelope')

/** The SPI message that a document scanned with `messageVocabulary` says it is; undefined for any other. */
export const identifyMessage = (document: XmlDocument): MessageIdentity | undefined =>
  document.nameId(document.root) === envelope
    ? identityOfNamespace(document.namespaceUri(document.root))
    : undefined

/**
 * Reads a scanned message whole, all its transactions. Every missing element, element given twice and amount
 * that is none is reported, up to {@link readProblemsMax}.
 */
export const readMessage = <T extends MessageType>(
  document: XmlDocument,
  identity: MessageIdentity & { readonly type: T },
): MessageReading<T> => {
  const reader = new MessageReader(document)
  const message = readersByType[identity.type](reader, document, identity.version)
  return reader.problems.length === 0
    ? { ok: true, message }
    : { ok: false, problems: reader.problems }
}

export type PaymentsReading =
  | {
      readonly ok: true
      readonly messageDefinitionId: string
      readonly payments: readonly PaymentNodes[]
    }
  | { readonly ok: false; readonly problems: readonly ReadProblem[] }

/** Where the payments of a scanned pacs.008 stand, and no more of it: refuses what {@link readMessage} refuses. */
export const paymentsOf = (document: XmlDocument): PaymentsReading => {
  const reader = new MessageReader(document)
  const { messageDefinitionId, payments } = readPayments(reader, document)
  return reader.problems.length === 0
    ? { ok: true, messageDefinitionId, payments }
    : { ok: false, problems: reader.problems }
}

/** Both at once: a pacs.008 read whole, and where its payments stand. */
export const readWithPayments = (
  document: XmlDocument,
  version: string,
):
  | {
      readonly ok: true
      readonly message: TypedMessages['pacs.008']
      readonly payments: readonly PaymentNodes[]
    }
  | { readonly ok: false; readonly problems: readonly ReadProblem[] } => {
  const reader = new MessageReader(document)
  const payments: PaymentNodes[] = []
  const message = readPacs008(reader, document, version, payments)
  return reader.problems.length === 0
    ? { ok: true, message, payments }
    : { ok: false, problems: reader.problems }
}
