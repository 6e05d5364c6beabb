import { namespaceOf } from '../envelope.ts'
import { definitionOf, isMessageType, type MessageType, messageTypes } from '../messages/index.ts'
import {
  type CompiledSchema,
  compileSchema,
  createSchemaDocumentCache,
  createSimpleTypeCache,
  parseSchema,
  type SchemaModel,
  withNamespace,
} from '../schema/index.ts'
import { messageVocabulary } from '../vocabulary.ts'
import { type Revision, revisions, type VersionEntry } from './revisions.ts'
import accounts from './xsd/accounts.xsd' with { type: 'text' }
import common from './xsd/common.xsd' with { type: 'text' }
import xmldsig from './xsd/xmldsig.xsd' with { type: 'text' }

/**
 * The text of every schema document of ours, by file name: part of the program, so it needs no file at run time.
 *
 * @example schemaText('pacs.008', '1.13') // '<?xml version="1.0" …'
 */
export const schemaTexts: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ 'common.xsd': common, 'accounts.xsd': accounts, 'xmldsig.xsd': xmldsig }),
  ...messageTypes.flatMap((type) => Object.entries(definitionOf(type).schemas)),
])

/**
 * Every version of a type that has a schema, the oldest first.
 *
 * @example knownVersions('camt.054') // ['1.15', '1.16']
 */
export const knownVersions = (type: MessageType): readonly string[] =>
  Object.keys(definitionOf(type).versions)

/**
 * The version in which a revision sends a type.
 *
 * @example versionOf('pacs.008', '5.10.1') // { version: '1.13', certainty: 'inferred' }
 */
export const versionOf = (type: MessageType, revision: Revision): VersionEntry =>
  definitionOf(type).revisions[revision]

/**
 * The revisions to which a version belongs; empty for one newer than all.
 *
 * @example revisionsOf('pacs.008', '1.13') // ['5.10.1']
 */
export const revisionsOf = (type: MessageType, version: string): readonly Revision[] =>
  revisions.filter((revision) => versionOf(type, revision).version === version)

/** Schemas by type and version, each compiled when first asked for. */
export type SchemaCatalogue = {
  /** Undefined for a type or version without schema. */
  readonly schemaOf: (type: string, version: string) => CompiledSchema | undefined
  /** The versions of a type that have a schema, in any order. */
  readonly versionsOf: (type: string) => readonly string[]
}

/** A schema that stands for a version, and the version whose schema it is. */
export type StandIn = { readonly schema: CompiledSchema; readonly version: string }

/** Versions without a schema of their own for which another is kept ready. */
const standInsMax = 64
const standIns = new WeakMap<SchemaCatalogue, Map<string, StandIn>>()

/**
 * The schema of a version; for one that has none, that of the nearest before it, else of the nearest after it.
 * Undefined for a type without any.
 *
 * @example nearestSchema(ourCatalogue, 'pacs.008', '1.17')?.version // '1.16'
 */
export const nearestSchema = (
  catalogue: SchemaCatalogue,
  type: string,
  version: string,
): StandIn | undefined => {
  const own = catalogue.schemaOf(type, version)
  if (own !== undefined) return { schema: own, version }
  const known = standIns.get(catalogue) ?? new Map<string, StandIn>()
  standIns.set(catalogue, known)
  const key = `${type} ${version}`
  const found = known.get(key) ?? standInOf(catalogue, type, version)
  if (found === undefined) return undefined
  known.delete(key)
  known.set(key, found)
  // A sender may name any number of versions.
  for (const eldest of known.keys()) {
    if (known.size <= standInsMax) break
    known.delete(eldest)
  }
  return found
}

const standInOf = (
  catalogue: SchemaCatalogue,
  type: string,
  version: string,
): StandIn | undefined => {
  const sorted = catalogue.versionsOf(type).toSorted(byNumbers)
  const nearest = sorted.findLast((one) => byNumbers(one, version) < 0) ?? sorted[0]
  const schema = nearest === undefined ? undefined : catalogue.schemaOf(type, nearest)
  if (nearest === undefined || schema === undefined) return undefined
  return { schema: withNamespace(schema, namespaceOf({ type, version })), version: nearest }
}

const byNumbers = (one: string, other: string): number => {
  const [a, b] = [one.split('.').map(Number), other.split('.').map(Number)]
  return (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0)
}

const simpleTypes = createSimpleTypeCache()
let signature: SchemaModel | undefined

/** The structure of signatures, which the header's strict wildcard leads to. */
const signatureModel = (): SchemaModel => {
  signature ??= parseSchema('xmldsig.xsd', ourSource)
  return signature
}

const encoder = new TextEncoder()

const ourSource = (file: string): Uint8Array | undefined => {
  const text = schemaTexts.get(file)
  return text === undefined ? undefined : encoder.encode(text)
}

const fileOf = (type: MessageType, version: string): string | undefined => {
  const { versions } = definitionOf(type)
  return Object.hasOwn(versions, version) ? versions[version] : undefined
}

/** Our own document, with its target namespace replaced. */
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

/** All our documents are read with this namespace, so that shared includes are read once. */
const commonNamespace = 'urn:message'
const parsed = createSchemaDocumentCache()
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

/**
 * Compiles a message schema, official or ours, for documents scanned with {@link messageVocabulary}.
 *
 * @example compileForSpi(parseSchema('pacs.008.xsd', (file) => files.get(file)))
 */
export const compileForSpi = (model: SchemaModel): CompiledSchema =>
  compileSchema(model, { vocabulary: messageVocabulary, imports: [signatureModel()], simpleTypes })

const ours = new Map<string, CompiledSchema>()

/**
 * The schemas that are part of the program.
 *
 * @example ourCatalogue.schemaOf('pacs.008', '1.13')
 */
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
  versionsOf: (type) => (isMessageType(type) ? knownVersions(type) : []),
}
