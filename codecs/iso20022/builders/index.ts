import { knownVersions, type MessageType, type Revision, versionOf } from '../catalogue/index.ts'
import { admi002 } from './admi002.ts'
import { camt029, camt055 } from './camt.ts'
import { camt054 } from './camt054.ts'
import type { BuildContext, Builder, Draft } from './context.ts'
import { drawMessageId, writeCreated } from './identifiers.ts'
import {
  type BuiltMessage,
  finishMessage,
  type MessageVersion,
  newMessageVersion,
  openMessage,
} from './message.ts'
import { XmlOutput } from './output.ts'
import { pacs002 } from './pacs002.ts'
import { pacs004 } from './pacs004.ts'
import { pacs008 } from './pacs008.ts'
import { pain013, pain014 } from './pain.ts'
import { type BuildProblem, type Findings, newFindings, Params } from './params.ts'
import { createdValue, messageIdValue, textOf } from './values.ts'
import { perVersion } from './versions.ts'

export { notificationsMax } from './camt054.ts'
export type { BuildContext } from './context.ts'
export { createRandomText, type RandomSource, type RandomText } from './identifiers.ts'
export type { BuiltMessage, ByteRange } from './message.ts'
export { statusesMax, statusReasonsMax } from './pacs002.ts'
export { returnsMax } from './pacs004.ts'
export { priorityTransactionsMax, scheduledTransactionsMax } from './pacs008.ts'
export { chargesMax } from './pain.ts'
export { type BuildProblem, buildProblemsMax } from './params.ts'

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

const versionsOf = Object.fromEntries(
  Object.entries(builders).map(([name, builder]) => [
    name,
    perVersion(builder.type, (version) => newMessageVersion(builder, version)),
  ]),
) as Readonly<Record<BuildableMessage, (version: string) => MessageVersion>>

/** The versions in which a message can be built, the oldest first. */
export const buildableVersions = (name: BuildableMessage): readonly string[] =>
  knownVersions(builders[name].type)

/**
 * Builds a message to the SPI in the version of a revision, its conditional rules checked. Amounts are cents.
 * Each builder's own comment gives its parameters with an example.
 *
 * @param params as a caller sends them, unchecked
 * @param version another version than the revision's, of {@link buildableVersions}
 * @throws RangeError on any other version
 */
export const buildMessage = (
  name: BuildableMessage,
  params: unknown,
  context: BuildContext & { readonly revision: Revision; readonly version?: string },
): Build => {
  const builder: Builder = builders[name]
  const version = versionsOf[name](
    context.version ?? versionOf(builder.type, context.revision).version,
  )
  const { ispb, nowMs, random } = context
  drawMessageId(ispb, random)
  const draft: Draft = {
    ispb,
    nowMs,
    random,
    version: version.version,
    messageId: messageIdValue,
    created: createdValue,
    createdText: writeCreated(nowMs),
  }
  const findings = newFindings(false)
  const build = write(builder, version, params, draft, findings)
  if (!findings.unknownFields) return build
  return write(builder, version, params, draft, newFindings(true))
}

const output = new XmlOutput()

const write = (
  { build }: Builder,
  version: MessageVersion,
  params: unknown,
  draft: Draft,
  findings: Findings,
): Build => {
  output.clear()
  const documentAt = openMessage(version, draft, output)
  const endToEndIds = build(new Params(params, findings), draft, output)
  if (findings.problems.length > 0) return { ok: false, problems: findings.problems }
  const { bytes, namespace, appHdr, signatureAt, document } = finishMessage(
    version,
    documentAt,
    output,
  )
  return {
    ok: true,
    message: {
      bytes,
      namespace,
      appHdr,
      signatureAt,
      document,
      type: version.type,
      version: version.version,
      businessMessageId: textOf(draft.messageId),
      creationDateTime: draft.createdText,
      endToEndIds,
    },
  }
}
