import type { MessageType } from '../catalogue/index.ts'
import { messageDefinitionIdOf, namespaceOf, spiIspb } from '../envelope.ts'
import type { Builder, Draft } from './context.ts'
import { newTemplate, type XmlOutput } from './output.ts'
import type { Template } from './template.ts'
import { createdValue, lengthOf, messageIdValue } from './values.ts'

/** Bytes from `from` to before `to`. */
export type ByteRange = { readonly from: number; readonly to: number }

/**
 * A message in exclusive canonical form with an empty `Sgntr`, and the places a signer needs: what is digested
 * is `appHdr` and `document` with the namespace on their first tag.
 */
export type BuiltMessage = {
  /** Its `buffer` holds other messages too. */
  readonly bytes: Uint8Array
  readonly namespace: string
  readonly appHdr: ByteRange
  /** Where the signature goes: the byte behind `<Sgntr>`. */
  readonly signatureAt: number
  readonly document: ByteRange
}

/** What all messages of one type and version share. */
export type MessageVersion = {
  readonly type: MessageType
  readonly version: string
  readonly namespace: string
  /** All that is the same in every message of the builder, before and behind the rest. */
  readonly opening: Template
  readonly ending: Template
  readonly isGroup: boolean
  /** Where `AppHdr` begins. */
  readonly headerAt: number
  /** How far before the end of the opening `Document` begins. */
  readonly openedBytes: number
}

const headerEnd = '</Sgntr></AppHdr>'
const documentTag = '<Document>'
const envelopeEnd = '</Envelope>'
const groupBytes =
  '<GrpHdr><MsgId></MsgId><CreDtTm></CreDtTm>'.length +
  lengthOf(messageIdValue) +
  lengthOf(createdValue)

export const newMessageVersion = (
  { type, root, isGroup }: Builder,
  version: string,
): MessageVersion => {
  const namespace = namespaceOf({ type, version })
  const envelope = `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="${namespace}">`
  const document = `${documentTag}<${root}>`
  const opening = [
    `${envelope}<AppHdr><Fr/FIId/FinInstnId/Othr/Id>`,
    `</><To/FIId/FinInstnId/Othr/Id>${spiIspb}</><BizMsgIdr>`,
    `</><MsgDefIdr>${messageDefinitionIdOf({ type, version })}</><CreDt>`,
    ...(isGroup
      ? [`</><Sgntr>${headerEnd}${document}<GrpHdr><MsgId>`, '</><CreDtTm>', '</>']
      : [`</><Sgntr>${headerEnd}${document}`]),
  ]
  return {
    type,
    version,
    namespace,
    opening: newTemplate(opening),
    ending: newTemplate([`</${root}></Document>${envelopeEnd}`]),
    isGroup,
    headerAt: envelope.length,
    openedBytes: document.length + (isGroup ? groupBytes : 0),
  }
}

/**
 * Writes all that stands before what a builder writes.
 *
 * @returns where `Document` begins
 */
export const openMessage = (
  { opening, isGroup, openedBytes }: MessageVersion,
  { ispb, messageId, created }: Draft,
  output: XmlOutput,
): number => {
  output.fill(
    opening,
    isGroup ? [ispb, messageId, created, messageId, created] : [ispb, messageId, created],
  )
  return output.length - openedBytes
}

/** Closes the message and hands it out. */
export const finishMessage = (
  { namespace, headerAt, ending }: MessageVersion,
  documentAt: number,
  output: XmlOutput,
): BuiltMessage => {
  output.fill(ending, [])
  const bytes = output.result()
  return {
    bytes,
    namespace,
    appHdr: { from: headerAt, to: documentAt },
    signatureAt: documentAt - headerEnd.length,
    document: { from: documentAt, to: bytes.length - envelopeEnd.length },
  }
}
