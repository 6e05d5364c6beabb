/** Messages as the bank writes them: canonical XML, so that they can be signed as they are. */
import {
  type MessageType,
  messageDefinitionIdOf,
  namespaceOf,
  type Revision,
  spiIspb,
  versionOf,
} from '#codecs/iso20022'
import type { CanonicalEnvelope } from '#codecs/xmldsig'

/** The id and time of one message of the bank. */
export type Header = { readonly id: string; readonly created: string }

/** A message that the bank will write; `content` makes the inside of `Document`. */
export type Draft = {
  readonly type: MessageType
  /** The revision's when absent. */
  readonly version?: string
  readonly content: (header: Header) => string
}

const encoder = new TextEncoder()

/** Text as canonical XML has it. */
export const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;')

export const tag = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `<${name}>${escaped(text)}</${name}>`

/** Nested elements around one text: `nest('FIId/FinInstnId/Othr/Id', ispb)`. */
export const nest = (path: string, text: string): string => {
  const names = path.split('/')
  return `${names.map((name) => `<${name}>`).join('')}${escaped(text)}${names
    .reverse()
    .map((name) => `</${name}>`)
    .join('')}`
}

export const agent = (name: string, ispb: string): string =>
  `<${name}><FinInstnId><ClrSysMmbId><MmbId>${ispb}</MmbId></ClrSysMmbId></FinInstnId></${name}>`

export const money = (name: string, amount: string): string =>
  `<${name} Ccy="BRL">${amount}</${name}>`

export const groupHeader = ({ id, created }: Header): string =>
  `<MsgId>${id}</MsgId><CreDtTm>${created}</CreDtTm>`

const party = (name: string, ispb: string): string =>
  `<${name}><FIId><FinInstnId><Othr><Id>${ispb}</Id></Othr></FinInstnId></FIId></${name}>`

/** The whole message to a participant, with an empty `Sgntr`. */
export const writeMessage = (
  draft: Draft,
  to: string,
  header: Header,
  revision: Revision,
): CanonicalEnvelope => {
  const { type } = draft
  const version = draft.version ?? versionOf(type, revision).version
  const namespace = namespaceOf({ type, version })
  const opening = `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="${namespace}">`
  const before = `<AppHdr>${party('Fr', spiIspb)}${party('To', to)}<BizMsgIdr>${header.id}</BizMsgIdr><MsgDefIdr>${messageDefinitionIdOf({ type, version })}</MsgDefIdr><CreDt>${header.created}</CreDt><Sgntr>`
  const after = '</Sgntr></AppHdr>'
  const bytes = encoder.encode(
    `${opening}${before}${after}<Document>${draft.content(header)}</Document></Envelope>`,
  )
  // All before the document is ASCII, so its characters are its bytes.
  const signatureAt = opening.length + before.length
  const headerEnd = signatureAt + after.length
  return {
    bytes,
    namespace,
    appHdr: { from: opening.length, to: headerEnd },
    signatureAt,
    document: { from: headerEnd, to: bytes.length - '</Envelope>'.length },
  }
}
