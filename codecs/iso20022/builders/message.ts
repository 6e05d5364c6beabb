import type { MessageType } from '../catalogue/index.ts'
import { messageDefinitionIdOf, namespaceOf, spiIspb } from '../envelope.ts'
import type { Draft } from './context.ts'
import type { XmlOutput } from './output.ts'
import { compileTemplate, type Template } from './template.ts'

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
  /** All that stands before the content of `Document`. */
  readonly header: Template
  /** Where `AppHdr` begins. */
  readonly headerAt: number
}

export const newMessageVersion = (type: MessageType, version: string): MessageVersion => {
  const namespace = namespaceOf({ type, version })
  const opening = `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="${namespace}">`
  const header = compileTemplate([
    `${opening}<AppHdr><Fr/FIId/FinInstnId/Othr/Id>`,
    `</><To/FIId/FinInstnId/Othr/Id>${spiIspb}</><BizMsgIdr>`,
    `</><MsgDefIdr>${messageDefinitionIdOf({ type, version })}</><CreDt>`,
    '</><Sgntr></></><Document>',
  ])
  return { type, version, namespace, header, headerAt: opening.length }
}

const ending = compileTemplate(['</Document></Envelope>'])
const BEHIND_SIGNATURE = '</Sgntr></AppHdr>'.length
const DOCUMENT_TAG = '<Document>'.length
const ENVELOPE_END = '</Envelope>'.length

/**
 * Writes all that stands before the content of `Document`.
 *
 * @returns where `Document` begins
 */
export const writeHeader = (
  { header }: MessageVersion,
  { ispb, messageId, created }: Draft,
  output: XmlOutput,
): number => {
  output.fill(header, [ispb, messageId, created])
  return output.length - DOCUMENT_TAG
}

/** Closes the message and hands it out. */
export const finishMessage = (
  { namespace, headerAt }: MessageVersion,
  documentAt: number,
  output: XmlOutput,
): BuiltMessage => {
  output.fill(ending, [])
  const bytes = output.result()
  return {
    bytes,
    namespace,
    appHdr: { from: headerAt, to: documentAt },
    signatureAt: documentAt - BEHIND_SIGNATURE,
    document: { from: documentAt, to: bytes.length - ENVELOPE_END },
  }
}
