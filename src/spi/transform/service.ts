import { CodecError } from '#codecs/bytes'
import {
  identifyMessage,
  isTypedMessageType,
  messageVocabulary,
  ourCatalogue,
  type ReadProblem,
  readMessage,
  type SchemaCatalogue,
  type SchemaViolation,
  validateDocument,
} from '#codecs/iso20022'
import {
  createXmlScanner,
  explainXmlError,
  type XmlDocument,
  type XmlExplanation,
} from '#codecs/xml'
import { nativeText } from '../native-text.ts'
import { isProjectedType, project, projectedTypes, projectionTargets } from './formats.ts'

export type TransformOptions = {
  /** Check the whole schema first and refuse with every violation. */
  readonly validate: boolean
  /** Add what a ledger needs beyond the specification's fields. */
  readonly enrich: boolean
}

export type TransformRequest = {
  /** Undefined: whatever the message says it is. */
  readonly sourceFormat: string | undefined
  /** Undefined: the business view of the source format. */
  readonly targetFormat: string | undefined
  readonly message: Uint8Array
  readonly options: TransformOptions
}

/** Why there is no result; each kind has one HTTP error and one gRPC status. */
export type TransformFailure =
  | { readonly kind: 'unsupported_format'; readonly source: string; readonly target: string }
  | { readonly kind: 'malformed'; readonly explanation: XmlExplanation }
  | { readonly kind: 'other_message'; readonly declared: string; readonly found: string }
  | { readonly kind: 'invalid'; readonly violations: readonly SchemaViolation[] }
  | { readonly kind: 'violations'; readonly violations: readonly ReadProblem[] }

export type TransformOutcome =
  | {
      readonly ok: true
      readonly sourceFormat: string
      readonly targetFormat: string
      readonly result: object
    }
  | { readonly ok: false; readonly failure: TransformFailure }

/** A document is read whole before the next is scanned: nothing of it outlives {@link transform}. */
const scanner = createXmlScanner({
  vocabulary: messageVocabulary,
  native: nativeText,
  reuse: true,
})

/** The pairs of formats this gateway converts between. */
export const supportedTransformations = projectedTypes.map((type) => ({
  source_format: type,
  target_format: projectionTargets[type],
}))

/** Reads one message and gives its business view. No clock, no metrics, no state. */
export const transform = (
  request: TransformRequest,
  catalogue: SchemaCatalogue = ourCatalogue,
): TransformOutcome => {
  const { sourceFormat, targetFormat, options } = request
  if (sourceFormat !== undefined && !isSupported(sourceFormat, targetFormat)) {
    return unsupported(sourceFormat, targetFormat)
  }
  const scanned = scan(request.message)
  if ('failure' in scanned) return scanned
  const identity = identifyMessage(scanned.document)
  if (identity === undefined || (sourceFormat !== undefined && identity.type !== sourceFormat)) {
    return failed({
      kind: 'other_message',
      declared: sourceFormat ?? 'an SPI message',
      found: identity === undefined ? 'no SPI message' : `${identity.type} ${identity.version}`,
    })
  }
  const { type, version } = identity
  if (!(isTypedMessageType(type) && isSupported(type, targetFormat))) {
    return unsupported(type, targetFormat)
  }
  if (options.validate) {
    // A version without schema is read all the same: its reader says what is missing.
    const schema = catalogue.schemaOf(type, version)
    const verdict = schema && validateDocument(schema, scanned.document)
    if (verdict?.valid === false) return failed({ kind: 'invalid', violations: verdict.violations })
  }
  const reading = readMessage(scanned.document, { type, version })
  if (!reading.ok) return failed({ kind: 'violations', violations: reading.problems })
  const { message } = reading
  return {
    ok: true,
    sourceFormat: message.type,
    targetFormat: projectionTargets[message.type],
    result: project(message, options.enrich),
  }
}

const isSupported = (source: string, target: string | undefined): boolean =>
  isProjectedType(source) && (target === undefined || projectionTargets[source] === target)

const unsupported = (source: string, target: string | undefined): TransformOutcome =>
  failed({ kind: 'unsupported_format', source, target: target ?? '' })

const scan = (
  message: Uint8Array,
): { readonly document: XmlDocument } | Extract<TransformOutcome, { ok: false }> => {
  try {
    return { document: scanner.scan(message) }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    return failed({ kind: 'malformed', explanation: explainXmlError(message, error) })
  }
}

const failed = (failure: TransformFailure): Extract<TransformOutcome, { ok: false }> => ({
  ok: false,
  failure,
})
