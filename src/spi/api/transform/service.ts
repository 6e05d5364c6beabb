import { CodecError } from '#codecs/bytes'
import {
  createMessageScanner,
  createProjector,
  type GenericProblem,
  identifyMessage,
  isDefinitionOf,
  isPaymentMessageType,
  type MessageIdentity,
  type MessageScanner,
  messageDefinitionIdOf,
  messageToJson,
  nearestSchema,
  ourCatalogue,
  type ReadProblem,
  type SchemaCatalogue,
  type SchemaViolation,
} from '#codecs/iso20022'
import { explainXmlError, type XmlDocument, type XmlExplanation } from '#codecs/xml'
import { firstCharacters, nativeText } from '#src/platform/runtime/index.ts'
import { scanned } from '../../scanned.ts'
import { isSupported, jsonFormat, projectionTargets } from './formats.ts'
import { definitionIn, fromJson } from './from-json.ts'

export type TransformOptions = {
  /** Check the whole schema first; on violations refuse and report them all. */
  readonly validate: boolean
  /** Add what a ledger needs beyond the specification's fields. */
  readonly enrich: boolean
}

export type TransformRequest = {
  /** Undefined: the message itself says it. */
  readonly sourceFormat: string | undefined
  /** Undefined: the business view of the source format. */
  readonly targetFormat: string | undefined
  readonly message: Uint8Array
  readonly options: TransformOptions
}

/** Why there is no result; each kind maps to one HTTP error and one gRPC status. */
export type TransformFailure =
  | { readonly kind: 'unsupported_format'; readonly source: string; readonly target: string }
  | { readonly kind: 'malformed'; readonly explanation: XmlExplanation }
  | { readonly kind: 'other_message'; readonly declared: string; readonly found: string }
  /** AppHdr/MsgDefIdr does not match the namespace. */
  | {
      readonly kind: 'contradiction'
      readonly definition: string
      readonly expected: string
    }
  | { readonly kind: 'invalid'; readonly violations: readonly SchemaViolation[] }
  | { readonly kind: 'violations'; readonly violations: readonly ReadProblem[] }
  | { readonly kind: 'not_json' }
  /** Its XML would be more than we read, or not well-formed. */
  | { readonly kind: 'unwritable'; readonly code: string; readonly reason: string }
  | { readonly kind: 'problems'; readonly problems: readonly GenericProblem[] }
  | { readonly kind: 'no_schema'; readonly type: string; readonly version: string }

export type TransformOutcome =
  | {
      readonly ok: true
      readonly sourceFormat: string
      readonly targetFormat: string
      /** JSON. */
      readonly result: string
      /** The schema's violations in a message that we turned into JSON all the same. */
      readonly violations?: readonly SchemaViolation[]
    }
  | { readonly ok: false; readonly failure: TransformFailure }

const project = createProjector(nativeText)

/** Reads one message and returns its business view, or its other form. */
export type Transformer = (request: TransformRequest) => TransformOutcome

/** We read one document completely before we scan the next: nothing outlives a call. No clock and no metrics. */
export const createTransformer =
  (
    catalogue: SchemaCatalogue = ourCatalogue,
    scanner: MessageScanner = createMessageScanner(nativeText),
  ): Transformer =>
  (request) =>
    transform(request, catalogue, scanner)

const transform = (
  request: TransformRequest,
  catalogue: SchemaCatalogue,
  scanner: MessageScanner,
): TransformOutcome => {
  const { sourceFormat, targetFormat, options } = request
  if (sourceFormat !== undefined && !isSupported(sourceFormat, targetFormat)) {
    return unsupported(sourceFormat, targetFormat)
  }
  if (sourceFormat === jsonFormat) {
    const built = fromJson(request.message, targetFormat ?? '', catalogue)
    return 'xml' in built
      ? { ok: true, sourceFormat, targetFormat: targetFormat ?? '', result: JSON.stringify(built) }
      : failed(built)
  }
  const document = scanned(scanner, request.message)
  if (document instanceof CodecError) {
    return failed({ kind: 'malformed', explanation: explainXmlError(request.message, document) })
  }
  const identity = identifyMessage(document)
  if (identity === undefined || (sourceFormat !== undefined && identity.type !== sourceFormat)) {
    return failed({
      kind: 'other_message',
      declared: sourceFormat ?? 'an SPI message',
      found: identity === undefined ? 'no SPI message' : `${identity.type} ${identity.version}`,
    })
  }
  const { type, version } = identity
  if (!isSupported(type, targetFormat)) return unsupported(type, targetFormat)
  if (options.validate) {
    const schema = catalogue.schemaOf(type, version)
    // Without this option we read such a version anyway; with it, we must not silently skip the validation.
    if (schema === undefined) return failed({ kind: 'no_schema', type, version })
    const verdict = scanner.validate(schema, document)
    if (!verdict.valid) return failed({ kind: 'invalid', violations: verdict.violations })
  }
  if (targetFormat === jsonFormat) return toJson(document, identity, catalogue)
  if (!isPaymentMessageType(type)) return unsupported(type, targetFormat)
  const projection = project(document, { type, version }, options.enrich)
  if (!projection.ok) return failed({ kind: 'violations', violations: projection.problems })
  const contradiction = contradicted(projection.messageDefinitionId, identity)
  if (contradiction !== undefined) return failed(contradiction)
  const { result } = projection
  return { ok: true, sourceFormat: type, targetFormat: projectionTargets[type], result }
}

/** The whole message, by its schema or the nearest, with what that has against it. */
const toJson = (
  document: XmlDocument,
  { type, version }: MessageIdentity,
  catalogue: SchemaCatalogue,
): TransformOutcome => {
  const found = nearestSchema(catalogue, type, version)
  if (found === undefined) return failed({ kind: 'no_schema', type, version })
  const { message, violations } = messageToJson(found.schema, document)
  // An invalid message may have no header, or no definition in it.
  const contradiction =
    violations.length === 0 ? contradicted(definitionIn(message), { type, version }) : undefined
  if (contradiction !== undefined) return failed(contradiction)
  const result = JSON.stringify(message)
  return { ok: true, sourceFormat: type, targetFormat: jsonFormat, result, violations }
}

const definitionCharactersShown = 35

/** AppHdr and namespace both name the message; if the two differ, nobody can tell which is right. */
const contradicted = (
  definition: unknown,
  identity: MessageIdentity,
): TransformFailure | undefined => {
  if (typeof definition === 'string' && isDefinitionOf(definition, identity)) return undefined
  const expected = messageDefinitionIdOf(identity)
  return {
    kind: 'contradiction',
    definition: firstCharacters(String(definition), definitionCharactersShown),
    expected,
  }
}

const unsupported = (source: string, target: string | undefined): TransformOutcome =>
  failed({ kind: 'unsupported_format', source, target: target ?? '' })

const failed = (failure: TransformFailure): Extract<TransformOutcome, { ok: false }> => ({
  ok: false,
  failure,
})
