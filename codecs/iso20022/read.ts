import type { XmlDocument } from '#codecs/xml'
import { identityOfNamespace, type MessageIdentity } from './envelope.ts'
import { type Pacs002, readPacs002 } from './messages/pacs002.ts'
import { type Pacs004, readPacs004 } from './messages/pacs004.ts'
import { type Pacs008, type PaymentNodes, readPacs008, readPayments } from './messages/pacs008.ts'
import { MessageReader, type ReadProblem } from './reader.ts'
import { nameIdOf } from './vocabulary.ts'

/** A message read into its type; the discriminant is `type`. */
export type TypedMessage = Pacs008 | Pacs002 | Pacs004

export type MessageReading =
  | { readonly ok: true; readonly message: TypedMessage }
  | { readonly ok: false; readonly problems: readonly ReadProblem[] }

const readers = {
  'pacs.008': readPacs008,
  'pacs.002': readPacs002,
  'pacs.004': readPacs004,
} as const

export type TypedMessageType = keyof typeof readers

export const isTypedMessageType = (type: string): type is TypedMessageType =>
  Object.hasOwn(readers, type)

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
export const readMessage = (
  document: XmlDocument,
  identity: MessageIdentity & { readonly type: TypedMessageType },
): MessageReading => {
  const reader = new MessageReader(document)
  const message = readers[identity.type](reader, document, identity.version)
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
