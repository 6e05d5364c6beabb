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

/** The result of reading a message, by its type. */
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
 * The SPI message type that a document scanned with `messageVocabulary` claims; undefined if it claims none.
 *
 * @example identifyMessage(document) // { type: 'pacs.008', version: '1.13' }
 */
export const identifyMessage = (document: XmlDocument): MessageIdentity | undefined => {
  const { shape } = document
  const known = shape?.notes.get(claimed) as MessageIdentity | undefined
  if (known !== undefined) return known
  const identity = claimed(document)
  if (identity !== undefined) shape?.notes.set(claimed, identity)
  return identity
}

const claimed = (document: XmlDocument): MessageIdentity | undefined =>
  document.nameId(document.root) === envelope
    ? identityOfNamespace(document.namespaceUri(document.root))
    : undefined

/**
 * Reads a whole scanned message, with all its transactions. Reports every missing element, repeated element and
 * malformed amount, up to `readProblemsMax`.
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
 * As {@link readMessage}, without the transactions that have problems of their own.
 *
 * @example const reading = salvageMessage(document, { type: 'pacs.008', version: '1.13' })
 */
export const salvageMessage = <T extends MessageType>(
  document: XmlDocument,
  { type, version }: MessageIdentity & { readonly type: T },
): MessageReading<T> => {
  const reader = new MessageReader(document, true)
  const message = definitionOf(type).read(reader, document, version) as TypedMessages[T]
  return reader.isSound ? { ok: true, message } : { ok: false, problems: reader.problems }
}

/**
 * The conditional rules of its type that a message breaks; no schema holds these rules.
 *
 * @example breachesOf(message).map(({ rule, path }) => `${path}: ${rule}`)
 */
export const breachesOf = (message: TypedMessage): readonly Breach[] => {
  // Rules and reader stand in one definition: the rules take what the reader gives.
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
 * Makes a projector, which keeps its buffer. A view is the JSON that `POST /v1/transform` answers.
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
