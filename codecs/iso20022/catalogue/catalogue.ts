import { namespaceOf } from '../envelope.ts'
import {
  type CompiledSchema,
  compileSchema,
  createSimpleTypeCache,
  parseSchema,
  type SchemaDocumentCache,
  type SchemaModel,
  withNamespace,
} from '../schema/index.ts'
import { messageVocabulary } from '../vocabulary.ts'
import { isMessageType, type MessageType } from './revisions.ts'
import { schemaTexts } from './texts.ts'

/**
 * Type → version → the schema document that stands for it. A document that stands for several versions gets
 * their namespace when it is read; its comment says why they are taken as equal.
 */
const documents: Readonly<Record<MessageType, Readonly<Record<string, string>>>> = {
  'pacs.008': {
    '1.11': 'pacs.008.1.13.xsd',
    '1.12': 'pacs.008.1.13.xsd',
    '1.13': 'pacs.008.1.13.xsd',
    '1.14': 'pacs.008.1.13.xsd',
    '1.15': 'pacs.008.1.15.xsd',
    '1.16': 'pacs.008.1.16.xsd',
  },
  'pacs.002': {
    '1.12': 'pacs.002.1.14.xsd',
    '1.13': 'pacs.002.1.14.xsd',
    '1.14': 'pacs.002.1.14.xsd',
    '1.15': 'pacs.002.1.14.xsd',
    '1.16': 'pacs.002.1.16.xsd',
    '1.17': 'pacs.002.1.17.xsd',
  },
  'pacs.004': { '1.5': 'pacs.004.xsd' },
  'pain.009': { '1.1': 'pain.009.xsd' },
  'pain.011': { '1.3': 'pain.011.xsd' },
  'pain.012': { '1.3': 'pain.012.xsd', '1.4': 'pain.012.xsd' },
  'pain.013': { '2.2': 'pain.013.xsd' },
  'pain.014': { '2.3': 'pain.014.2.3.xsd', '2.4': 'pain.014.2.4.xsd' },
  'camt.014': { '1.6': 'camt.014.xsd' },
  'camt.025': { '1.0': 'camt.025.xsd' },
  'camt.029': { '1.1': 'camt.029.xsd', '1.2': 'camt.029.xsd' },
  'camt.052': { '1.3': 'camt.052.xsd' },
  'camt.053': { '1.4': 'camt.053.xsd' },
  'camt.054': { '1.15': 'camt.054.xsd', '1.16': 'camt.054.xsd' },
  'camt.055': { '1.1': 'camt.055.xsd' },
  'camt.060': { '1.9': 'camt.060.xsd' },
  'admi.002': { '1.5': 'admi.002.xsd' },
  'admi.004': { '1.2': 'admi.004.xsd' },
  'pibr.001': { '1.3': 'pibr.001.xsd' },
  'pibr.002': { '1.3': 'pibr.002.xsd' },
  'reda.014': { '1.3': 'reda.014.xsd' },
  'reda.016': { '1.5': 'reda.016.xsd' },
  'reda.017': { '1.2': 'reda.017.xsd' },
  'reda.022': { '1.4': 'reda.022.xsd' },
  'reda.031': { '1.2': 'reda.031.xsd' },
  'reda.041': { '1.7': 'reda.041.xsd' },
  'trck.002': { '1.1': 'trck.002.xsd' },
}

/** Every version of a type for which there is a schema, the oldest first. */
export const knownVersions = (type: MessageType): readonly string[] => Object.keys(documents[type])

/** Schemas by type and version, each compiled when first asked for. */
export type SchemaCatalogue = {
  /** Undefined for a type or version without schema. */
  readonly schemaOf: (type: string, version: string) => CompiledSchema | undefined
}

const simpleTypes = createSimpleTypeCache()
let signature: SchemaModel | undefined

/** The structure of the signatures that the header's strict wildcard leads to. */
const signatureModel = (): SchemaModel => {
  signature ??= parseSchema('xmldsig.xsd', ourSource)
  return signature
}

const encoder = new TextEncoder()

const ourSource = (file: string): Uint8Array | undefined => {
  const text = schemaTexts.get(file)
  return text === undefined ? undefined : encoder.encode(text)
}

const fileOf = (type: MessageType, version: string): string | undefined =>
  Object.hasOwn(documents[type], version) ? documents[type][version] : undefined

/** A document of ours with another target namespace than the one it is written with. */
const textWith = (file: string, namespace: string): string | undefined => {
  const text = schemaTexts.get(file)
  if (text === undefined) return undefined
  const written = /targetNamespace="([^"]*)"/.exec(text)?.[1] ?? ''
  return text.replaceAll(`"${written}"`, `"${namespace}"`)
}

/** Our own document for a message version, with that version's namespace. */
export const schemaText = (type: MessageType, version: string): string | undefined => {
  const file = fileOf(type, version)
  return file === undefined ? undefined : textWith(file, namespaceOf({ type, version }))
}

/** All of ours are read with this namespace, so that what they include is read once. */
const commonNamespace = 'urn:message'
const parsed: SchemaDocumentCache = new Map()
/** By file; compiled schemas of {@link commonNamespace}. */
const compiled = new Map<string, CompiledSchema>()

const compileFile = (file: string): CompiledSchema => {
  const known = compiled.get(file)
  if (known !== undefined) return known
  const source = (name: string): Uint8Array | undefined => {
    const text = name === file ? textWith(name, commonNamespace) : schemaTexts.get(name)
    return text === undefined ? undefined : encoder.encode(text)
  }
  const schema = compileForSpi(parseSchema(file, source, parsed))
  compiled.set(file, schema)
  return schema
}

const compileOurs = (type: MessageType, version: string): CompiledSchema | undefined => {
  const file = fileOf(type, version)
  return file === undefined
    ? undefined
    : withNamespace(compileFile(file), namespaceOf({ type, version }))
}

/** Compiles a message schema, official or ours, for documents scanned with {@link messageVocabulary}. */
export const compileForSpi = (model: SchemaModel): CompiledSchema =>
  compileSchema(model, { vocabulary: messageVocabulary, imports: [signatureModel()], simpleTypes })

const ours = new Map<string, CompiledSchema>()

/** The schemas that are part of the program. */
export const ourCatalogue: SchemaCatalogue = {
  schemaOf: (type, version) => {
    if (!isMessageType(type)) return undefined
    const key = `${type} ${version}`
    const known = ours.get(key)
    if (known !== undefined) return known
    const compiled = compileOurs(type, version)
    if (compiled !== undefined) ours.set(key, compiled)
    return compiled
  },
}
