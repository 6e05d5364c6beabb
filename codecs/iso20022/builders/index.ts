import { knownVersions, type MessageType, type Revision, versionOf } from '../catalogue/index.ts'
import { messageDefinitionIdOf, namespaceOf, spiIspb } from '../envelope.ts'
import { admi002 } from './admi002.ts'
import { camt029, camt054, camt055 } from './camt.ts'
import type { BuildContext, Builder } from './context.ts'
import { dateTimeOf, messageId } from './identifiers.ts'
import { pacs002 } from './pacs002.ts'
import { pacs004 } from './pacs004.ts'
import { pacs008 } from './pacs008.ts'
import { pain013, pain014 } from './pain.ts'
import { type BuildProblem, Params } from './params.ts'
import { type BuiltMessage, envelope } from './write.ts'

export type { BuildContext } from './context.ts'
export { createRandomText, type RandomSource, type RandomText } from './identifiers.ts'
export { priorityTransactionsMax, scheduledTransactionsMax } from './pacs008.ts'
export { chargesMax } from './pain.ts'
export { type BuildProblem, buildProblemsMax } from './params.ts'
export type { BuiltMessage, ByteRange } from './write.ts'

const builders = {
  PACS008: pacs008,
  PACS002: pacs002,
  PACS004: pacs004,
  PAIN013: pain013,
  PAIN014: pain014,
  CAMT029: camt029,
  CAMT054: camt054,
  CAMT055: camt055,
  ADMI002: admi002,
} as const satisfies Readonly<Record<string, Builder>>

/** The names under which messages are sent. */
export type BuildableMessage = keyof typeof builders

export const buildableMessages = Object.keys(builders) as readonly BuildableMessage[]

export const isBuildableMessage = (name: string): name is BuildableMessage =>
  Object.hasOwn(builders, name)

export type Build =
  | {
      readonly ok: true
      readonly message: BuiltMessage & {
        readonly type: MessageType
        readonly version: string
        /** `BizMsgIdr`, and `MsgId` where the document has one. */
        readonly businessMessageId: string
        readonly creationDateTime: string
        /** Of its transactions, in order; for an answer, of the payments it answers. */
        readonly endToEndIds: readonly string[]
      }
    }
  | { readonly ok: false; readonly problems: readonly BuildProblem[] }

/**
 * Builds a message to the SPI in the version of a revision, its conditional rules checked. Amounts are cents.
 * Each builder's own comment gives its parameters with an example.
 *
 * @param params as a caller sends them, unchecked
 * @param version another version than the revision's, of {@link knownVersions}
 */
export const buildMessage = (
  name: BuildableMessage,
  params: unknown,
  context: BuildContext & { readonly revision: Revision; readonly version?: string },
): Build => {
  const { type, build } = builders[name] as Builder
  const version = context.version ?? versionOf(type, context.revision).version
  if (!knownVersions(type).includes(version)) {
    throw new RangeError(`${type} has no version ${version}`)
  }
  const { ispb, nowMs, random } = context
  const id = messageId(ispb, random)
  const created = dateTimeOf(nowMs)
  const fields = new Params(params)
  const content = build(fields, { ispb, nowMs, random, version, messageId: id, created })
  if (fields.problems.length > 0) return { ok: false, problems: fields.problems }
  const message = envelope({
    namespace: namespaceOf({ type, version }),
    from: ispb,
    to: spiIspb,
    id,
    definition: messageDefinitionIdOf({ type, version }),
    created,
    document: content.xml,
  })
  return {
    ok: true,
    message: {
      ...message,
      type,
      version,
      businessMessageId: id,
      creationDateTime: created,
      endToEndIds: content.endToEndIds,
    },
  }
}
