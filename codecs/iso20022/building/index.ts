import { knownVersions, type MessageType, type Revision, versionOf } from '../catalogue/index.ts'
import { messageDefinitionIdOf, namespaceOf, spiIspb } from '../envelope.ts'
import { builder as admi002 } from '../messages/admi.002/build.ts'
import { builder as camt029 } from '../messages/camt.029/build.ts'
import { builder as camt054 } from '../messages/camt.054/build.ts'
import { builder as camt055 } from '../messages/camt.055/build.ts'
import { builder as pacs002 } from '../messages/pacs.002/build.ts'
import { builder as pacs004 } from '../messages/pacs.004/build.ts'
import { builder as pacs008 } from '../messages/pacs.008/build.ts'
import { builder as pain013 } from '../messages/pain.013/build.ts'
import { builder as pain014 } from '../messages/pain.014/build.ts'
import type { BuildContext, Builder, Draft } from './builder.ts'
import { dateTimeOf, messageId } from './identifiers.ts'
import { type BuildProblem, Params } from './params.ts'
import { template, XmlOutput } from './template.ts'

export type { BuildContext } from './builder.ts'
export { createRandomText, type RandomSource, type RandomText } from './identifiers.ts'
export { type BuildProblem, buildProblemsMax } from './params.ts'

const builders = {
  PACS008: { type: 'pacs.008', ...pacs008 },
  PACS002: { type: 'pacs.002', ...pacs002 },
  PACS004: { type: 'pacs.004', ...pacs004 },
  PAIN013: { type: 'pain.013', ...pain013 },
  PAIN014: { type: 'pain.014', ...pain014 },
  CAMT029: { type: 'camt.029', ...camt029 },
  CAMT054: { type: 'camt.054', ...camt054 },
  CAMT055: { type: 'camt.055', ...camt055 },
  ADMI002: { type: 'admi.002', ...admi002 },
} as const satisfies Readonly<Record<string, Builder & { readonly type: MessageType }>>

/** The names under which messages are sent. */
export type BuildableMessage = keyof typeof builders

export const buildableMessages = Object.keys(builders) as readonly BuildableMessage[]

export const isBuildableMessage = (name: string): name is BuildableMessage =>
  Object.hasOwn(builders, name)

/** Bytes from `from` to before `to`. */
export type ByteRange = { readonly from: number; readonly to: number }

/**
 * A message in exclusive canonical form with an empty `Sgntr`, and the places a signer needs: what is digested
 * is `appHdr` and `document` with the namespace on their first tag.
 */
export type BuiltMessage = {
  readonly bytes: Uint8Array
  readonly namespace: string
  readonly appHdr: ByteRange
  /** Where the signature goes: the byte behind `<Sgntr>`. */
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
        /** Of its transactions, in order; for an answer, of the payments it answers. */
        readonly endToEndIds: readonly string[]
      }
    }
  | { readonly ok: false; readonly problems: readonly BuildProblem[] }

/** The versions in which a message can be built, the oldest first. */
export const buildableVersions = (name: BuildableMessage): readonly string[] =>
  knownVersions(builders[name].type)

const headerTemplate = template(`
  <AppHdr>
    <Fr/FIId/FinInstnId/Othr/Id>{ispb}</><To/FIId/FinInstnId/Othr/Id>{spi}</>
    <BizMsgIdr>{messageId}</><MsgDefIdr>{definition}</><CreDt>{created}</><Sgntr></>
  </>`)
const headerEnd = '</Sgntr></AppHdr>'
const envelopeEnd = '</Envelope>'

/**
 * Builds a message to the SPI in the version of a revision, its conditional rules checked. Amounts are cents. The
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
): Build => {
  const { type, root, build } = builders[name]
  const { ispb, nowMs, random, revision } = context
  const version = context.version ?? versionOf(type, revision).version
  if (!knownVersions(type).includes(version)) {
    throw new RangeError(`${type} has no version ${version}`)
  }
  const own = { messageId: messageId(context), created: dateTimeOf(nowMs) }
  const draft: Draft = { ispb, random, version, ...own }
  const problems: BuildProblem[] = []
  const { xml, ids } = build(new Params(params, problems), draft)
  if (problems.length > 0) return { ok: false, problems }
  const namespace = namespaceOf({ type, version })
  const definition = messageDefinitionIdOf({ type, version })
  const opening = `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="${namespace}">`
  const output = new XmlOutput()
  output.write(opening)
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
      appHdr: { from: opening.length, to: documentAt },
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
