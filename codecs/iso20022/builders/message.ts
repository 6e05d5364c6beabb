import type { MessageType } from '../catalogue/index.ts'
import { messageDefinitionIdOf, namespaceOf, spiIspb } from '../envelope.ts'
import type { Draft } from './context.ts'
import type { XmlOutput } from './output.ts'

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

/** What all messages of one type and version share. */
export type MessageVersion = {
  readonly type: MessageType
  readonly version: string
  readonly namespace: string
  readonly definition: string
  /** Where `AppHdr` begins. */
  readonly headerAt: number
}

const xmlOpening = (namespace: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="${namespace}">`

export const newMessageVersion = (type: MessageType, version: string): MessageVersion => {
  const namespace = namespaceOf({ type, version })
  const definition = messageDefinitionIdOf({ type, version })
  return { type, version, namespace, definition, headerAt: xmlOpening(namespace).length }
}

const HEADER_END = '</Sgntr></AppHdr>'.length
const DOCUMENT_START = '<Document>'.length
const ENVELOPE_END = '</Envelope>'.length

/**
 * Writes all that stands before the content of `Document`.
 *
 * @returns where `Document` begins
 */
export const writeHeader = (
  { namespace, definition }: MessageVersion,
  { ispb, messageId, created }: Draft,
  output: XmlOutput,
): number => {
  output.write`<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="${namespace}"><AppHdr><Fr/FIId/FinInstnId/Othr/Id>${ispb}</><To/FIId/FinInstnId/Othr/Id>${spiIspb}</><BizMsgIdr>${messageId}</><MsgDefIdr>${definition}</><CreDt>${created}</><Sgntr></></><Document>`
  return output.at - DOCUMENT_START
}

/** Closes the message and hands it out. */
export const finishMessage = (
  { namespace, headerAt }: MessageVersion,
  documentAt: number,
  output: XmlOutput,
): BuiltMessage => {
  output.write`</Document></Envelope>`
  const bytes = output.result()
  return {
    bytes,
    namespace,
    appHdr: { from: headerAt, to: documentAt },
    signatureAt: documentAt - HEADER_END,
    document: { from: documentAt, to: bytes.length - ENVELOPE_END },
  }
}
