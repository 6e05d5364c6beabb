import type { Revision } from '../catalogue/revisions.ts'
import { messageDefinitionIdOf, namespaceOf, spiIspb } from '../envelope.ts'
import { builder as reportRequest } from '../messages/camt.060/build.ts'
import type { MessageDefinition } from '../messages/definition.ts'
import {
  definitionOf,
  type MessageType,
  type messageDefinitions,
  messageTypes,
} from '../messages/index.ts'
import { builder as mandateRequest } from '../messages/pain.009/build.ts'
import { builder as mandateCancellation } from '../messages/pain.011/build.ts'
import { builder as mandateReport } from '../messages/pain.012/build.ts'
import type { BuildContext, Builder, Draft } from './builder.ts'
import { dateTimeOf, messageId } from './identifiers.ts'
import { type BuildProblem, Params } from './params.ts'
import { template, XmlOutput } from './template.ts'

export type { BuildContext } from './builder.ts'
export { createRandomText, endToEndId as newEndToEndId } from './identifiers.ts'
export { type BuildProblem, buildProblemsMax } from './params.ts'

type Definitions = typeof messageDefinitions

/** The types that can be built. */
type BuildableType = {
  [T in MessageType]: Definitions[T]['builder'] extends null ? never : T
}[MessageType]

type NameOf<T extends string> = T extends `${infer Family}.${infer Number}`
  ? `${Uppercase<Family>}${Number}`
  : never

/** The names under which messages are sent: `PACS008`. */
export type BuildableMessage = NameOf<BuildableType>

const buildable = new Map(
  messageTypes.flatMap((type) => {
    const { builder, revisions, versions } = definitionOf(type)
    const name = type.replace('.', '').toUpperCase() as BuildableMessage
    return builder === null ? [] : [[name, { type, revisions, versions, ...builder }] as const]
  }),
)

export const buildableMessages: readonly BuildableMessage[] = [...buildable.keys()]

/**
 * True for the name of a message that {@link buildMessage} builds.
 *
 * @example isBuildableMessage('PACS008') // true
 */
export const isBuildableMessage = (name: string): name is BuildableMessage =>
  buildable.has(name as BuildableMessage)

const buildableOf = (name: BuildableMessage) => {
  const found = buildable.get(name)
  if (found === undefined) throw new RangeError(`there is no message ${name}`)
  return found
}

/** Bytes from `from` to before `to`. */
type ByteRange = { readonly from: number; readonly to: number }

/**
 * A message in exclusive canonical form with an empty `Sgntr`, and the places a signer needs. The signer digests
 * `appHdr` and `document`, each with the namespace on its first tag.
 */
export type BuiltMessage = {
  readonly bytes: Uint8Array
  readonly namespace: string
  readonly appHdr: ByteRange
  /** The byte behind `<Sgntr>`, where the signature goes. */
  readonly signatureAt: number
  readonly document: ByteRange
}

export type Build =
  | {
      readonly ok: true
      readonly message: BuiltMessage & {
        readonly type: MessageType
        readonly version: string
        /** `BizMsgIdr`, and `MsgId` where the document has one. */
        readonly businessMessageId: string
        readonly creationDateTime: string
        /** The EndToEndIds of its transactions, in order; an answer has those of the payments it answers. */
        readonly endToEndIds: readonly string[]
      }
    }
  | { readonly ok: false; readonly problems: readonly BuildProblem[] }

/**
 * The versions in which a message can be built, the oldest first.
 *
 * @example buildableVersions('PAIN014') // ['2.3', '2.4']
 */
export const buildableVersions = (name: BuildableMessage): readonly string[] =>
  Object.keys(buildableOf(name).versions)

const headerTemplate = template(`
  <AppHdr>
    <Fr/FIId/FinInstnId/Othr/Id>{ispb}</><To/FIId/FinInstnId/Othr/Id>{spi}</>
    <BizMsgIdr>{messageId}</><MsgDefIdr>{definition}</><CreDt>{created}</><Sgntr></>
  </>`)
const headerEnd = '</Sgntr></AppHdr>'
const envelopeEnd = '</Envelope>'
/** Shared by all messages: each is written synchronously and copied out. */
const output = new XmlOutput()

/**
 * Builds a message to the SPI in the version of a revision, and checks its conditional rules. Amounts are cents. The
 * parameters of each message are those of `POST /v1/messages/send`.
 *
 * @param params as a caller sends them, unchecked
 * @param version another version than the revision's, of {@link buildableVersions}
 * @returns the message, or every problem with the parameters, at most {@link buildProblemsMax}
 * @throws RangeError on any other version
 * @example buildMessage(
 *   'PACS002',
 *   { original_end_to_end_id: 'E1234567820260302140500000000001', status: 'ACSP' },
 *   { ispb: '87654321', nowMs: Date.now(), random, revision: '5.11.1' },
 * )
 */
export const buildMessage = (
  name: BuildableMessage,
  params: unknown,
  context: BuildContext & { readonly revision: Revision; readonly version?: string },
): Build => buildAs(buildableOf(name), params, context)

/**
 * Builds a camt.060, which asks for a report on our own account. We never send another's this way, so it is not
 * one of {@link buildableMessages}.
 */
export const buildReportRequest = (
  params: unknown,
  context: BuildContext & { readonly revision: Revision },
): Build => buildAs({ ...definitionOf('camt.060'), ...reportRequest }, params, context)

const mandateBuilders = {
  'pain.009': mandateRequest,
  'pain.011': mandateCancellation,
  'pain.012': mandateReport,
} as const

/** The messages about mandates. */
export type MandateMessage = keyof typeof mandateBuilders

/**
 * Builds a message about a mandate of Pix Automático. A mandate is asked for, confirmed and ended by what the gateway
 * knows of it, so these are none of {@link buildableMessages}.
 */
export const buildMandateMessage = (
  type: MandateMessage,
  params: unknown,
  context: BuildContext & { readonly revision: Revision; readonly version?: string },
): Build => buildAs({ ...definitionOf(type), ...mandateBuilders[type] }, params, context)

const buildAs = (
  {
    type,
    revisions,
    versions,
    root,
    build,
  }: Pick<MessageDefinition<MessageType>, 'revisions' | 'versions'> &
    Builder & { readonly type: MessageType },
  params: unknown,
  context: BuildContext & { readonly revision: Revision; readonly version?: string },
): Build => {
  const { ispb, nowMs, random, revision } = context
  const version = context.version ?? revisions[revision].version
  if (!Object.hasOwn(versions, version)) {
    throw new RangeError(`${type} has no version ${version}`)
  }
  const own = { messageId: messageId(context), created: dateTimeOf(nowMs) }
  const draft: Draft = { ispb, random, version, ...own }
  const problems: BuildProblem[] = []
  const { xml, ids } = build(new Params(params, problems), draft)
  if (problems.length > 0) return { ok: false, problems }
  const namespace = namespaceOf({ type, version })
  const definition = messageDefinitionIdOf({ type, version })
  output.clear()
  output.write('<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="')
  output.write(namespace)
  output.write('">')
  const headerAt = output.length
  output.write(headerTemplate({ ispb, spi: spiIspb, definition, ...own }))
  const documentAt = output.length
  output.write(`<Document><${root}>`)
  output.write(xml)
  output.write(`</${root}></Document>${envelopeEnd}`)
  const bytes = output.written()
  return {
    ok: true,
    message: {
      bytes,
      namespace,
      appHdr: { from: headerAt, to: documentAt },
      signatureAt: documentAt - headerEnd.length,
      document: { from: documentAt, to: bytes.length - envelopeEnd.length },
      type,
      version,
      businessMessageId: own.messageId,
      creationDateTime: own.created,
      endToEndIds: ids,
    },
  }
}
