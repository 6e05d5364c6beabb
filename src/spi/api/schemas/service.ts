import { CodecError } from '#codecs/bytes'
import {
  identifyMessage,
  isMessageType,
  type MessageIdentity,
  type MessageScanner,
  nearestSchema,
  type Revision,
  revisionsOf,
  type SchemaCatalogue,
  type Verdict,
} from '#codecs/iso20022'
import { explainXmlError, type XmlExplanation } from '#codecs/xml'
import { scanned } from '../../scanned.ts'

export type Validation =
  | { readonly kind: 'malformed'; readonly explanation: XmlExplanation }
  | { readonly kind: 'no_message' }
  | { readonly kind: 'no_schema'; readonly identity: MessageIdentity }
  | {
      readonly kind: 'judged'
      readonly identity: MessageIdentity
      /** The newest revision with this version; null if no revision has it. */
      readonly revision: Revision | null
      readonly verdict: Verdict
      /** The version whose schema judged: the nearest one for a version without a schema. */
      readonly schemaVersion: string
    }

/** Validates one message with the schema of its type and version. */
export const validateMessage = (
  catalogue: SchemaCatalogue,
  scanner: MessageScanner,
  message: Uint8Array,
): Validation => {
  const document = scanned(scanner, message)
  if (document instanceof CodecError) {
    return { kind: 'malformed', explanation: explainXmlError(message, document) }
  }
  const identity = identifyMessage(document)
  if (identity === undefined) return { kind: 'no_message' }
  const { type, version } = identity
  const found = nearestSchema(catalogue, type, version)
  if (found === undefined) return { kind: 'no_schema', identity }
  const { schema, version: schemaVersion } = found
  const revision = isMessageType(type) ? (revisionsOf(type, version).at(-1) ?? null) : null
  return {
    kind: 'judged',
    identity,
    revision,
    verdict: scanner.validate(schema, document),
    schemaVersion,
  }
}
