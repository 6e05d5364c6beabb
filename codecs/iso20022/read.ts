import type { XmlDocument, XmlNative } from '#codecs/xml'
import { identityOfNamespace, type MessageIdentity } from './envelope.ts'
import type { Breach } from './messages/definition.ts'
import {
  definitionOf,
  isMessageType,
  type MessageType,
  type messageDefinitions,
} from './messages/index.ts'
import { JsonWriter } from './projecting/json-writer.ts'
import type { Projected } from './projecting/projection.ts'
import { MessageReader, type ReadProblem } from './reader.ts'
import { nameIdOf } from './vocabulary.ts'

type Definitions = typeof messageDefinitions

/** By type, what a message is read into. */
export type TypedMessages = {
  readonly [T in MessageType]: ReturnType<Definitions[T]['read']>
}

/** A message read into its type; the discriminant is `type`. */
export type TypedMessage = TypedMessages[MessageType]

export type MessageReading<T extends MessageType = MessageType> =
  | { readonly ok: true; readonly message: TypedMessages[T] }
  | { readonly ok: false; readonly problems: readonly ReadProblem[] }

/** The types that have a business view: payments, returns, and the answers to either. */
export type PaymentMessageType = {
  [T in MessageType]: Definitions[T]['projection'] extends null ? never : T
}[MessageType]

export type PaymentMessage = TypedMessages[PaymentMessageType]

/**
 * True for a type that has a business view.
 *
 * @example isPaymentMessageType('camt.054') // false
 */
export const isPaymentMessageType = (type: string): type is PaymentMessageType =>
  isMessageType(type) && definitionOf(type).projection !== null

const envelope = nameIdOf('Envelope')

/**
 * The SPI message that a document scanned with `messageVocabulary` says it is; undefined for any other.
 *
 * @example identifyMessage(document) // { type: 'pacs.008', version: '1.13' }
 */
export const identifyMessage = (document: XmlDocument): MessageIdentity | undefined =>
  document.nameId(document.root) === envelope
    ? identityOfNamespace(document.namespaceUri(document.root))
    : undefined

/**
 * Reads a scanned message whole, all its transactions. Every missing element, element given twice and amount
 * that is none is reported, up to `readProblemsMax`.
 *
 * @example const reading = readMessage(document, { type: 'pacs.008', version: '1.13' })
 * if (reading.ok) reading.message.transactions[0]?.amount.cents // 100050n
 */
export const readMessage = <T extends MessageType>(
  document: XmlDocument,
  { type, version }: MessageIdentity & { readonly type: T },
): MessageReading<T> => {
  const reader = new MessageReader(document)
  const message = definitionOf(type).read(reader, document, version) as TypedMessages[T]
  return reader.problems.length === 0
    ? { ok: true, message }
    : { ok: false, problems: reader.problems }
}

/**
 * What a message breaks of the conditional rules of its type, which no schema holds.
 *
 * @example breachesOf(message).map(({ rule, path }) => `${path}: ${rule}`)
 */
export const breachesOf = (message: TypedMessage): readonly Breach[] => {
  // Rules and reader stand in one definition: what the one gives, the other takes.
  const rules = definitionOf(message.type).facts.rules as
    | ((message: TypedMessage) => readonly Breach[])
    | null
  return rules?.(message) ?? []
}

/** Gives the business view of a scanned message. */
export type Project = (
  document: XmlDocument,
  identity: MessageIdentity & { readonly type: PaymentMessageType },
  enrich: boolean,
) => Projected

/**
 * Makes what gives business views, with a buffer that it keeps. A view is as `POST /v1/transform` answers it, in JSON.
 *
 * @param native the runtime's own text functions
 * @example createProjector(native)(document, { type: 'pacs.008', version: '1.13' }, false)
 */
export const createProjector = (native: XmlNative): Project => {
  const writer = new JsonWriter(native)
  return (document, { type, version }, enrich) => {
    const { projection } = definitionOf(type)
    if (projection === null) throw new Error(`${type} has no business view`)
    return projection.project(document, version, enrich, writer)
  }
}
