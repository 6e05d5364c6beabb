import { messageFromJson, type SchemaCatalogue } from '#codecs/iso20022'
import { jsonOnce, RepeatedMemberError } from '#src/platform/http/index.ts'
import type { TransformFailure } from './service.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Where the JSON form names its version, because it has no namespaces. */
const definitionPath = '/Envelope/AppHdr/MsgDefIdr'

/**
 * Builds the XML of a message from its JSON form, with the schema of the version that its header names.
 *
 * @param text the JSON, in UTF-8
 */
export const fromJson = (
  text: Uint8Array,
  type: string,
  catalogue: SchemaCatalogue,
): { readonly xml: string } | TransformFailure => {
  let message: unknown
  try {
    message = jsonOnce(decoder.decode(text))
  } catch (error) {
    if (!(error instanceof RepeatedMemberError)) return { kind: 'not_json' }
    const { pointer } = error
    return { kind: 'problems', problems: [{ pointer, message: 'is given more than once' }] }
  }
  const definition = definitionIn(message)
  const prefix = `${type}.spi.`
  if (typeof definition !== 'string' || !definition.startsWith(prefix)) {
    const problem = { pointer: definitionPath, message: `must be ${prefix} and the version` }
    return { kind: 'problems', problems: [problem] }
  }
  const version = definition.slice(prefix.length)
  const schema = catalogue.schemaOf(type, version)
  if (schema === undefined) {
    return { kind: 'problems', problems: [{ pointer: definitionPath, message: 'has no schema' }] }
  }
  const built = messageFromJson(schema, message)
  if (built.ok) return { xml: decoder.decode(built.bytes) }
  if ('error' in built) {
    const { code, message: reason } = built.error
    return { kind: 'unwritable', code, reason }
  }
  return 'problems' in built
    ? { kind: 'problems', problems: built.problems }
    : { kind: 'invalid', violations: built.violations }
}

/** The type and version that a message in JSON form claims. */
export const definitionIn = (message: unknown): unknown =>
  member(member(member(message, 'Envelope'), 'AppHdr'), 'MsgDefIdr')

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
