/** Pieces of canonical XML: no white space, no self-closing tags, attributes in order. */

const special = /[&<>\r]/

/** Text as exclusive canonicalisation writes it (Canonical XML 1.0, 2.3). */
export const escaped = (text: string): string =>
  special.test(text)
    ? text
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('\r', '&#xD;')
    : text

/** `<Name>content</Name>`; nothing for undefined content. */
export const tag = (name: string, content: string | undefined): string =>
  content === undefined ? '' : `<${name}>${content}</${name}>`

export const money = (name: string, amount: string): string =>
  `<${name} Ccy="BRL">${amount}</${name}>`

export const agent = (name: string, ispb: string): string =>
  `<${name}><FinInstnId><ClrSysMmbId><MmbId>${ispb}</MmbId></ClrSysMmbId></FinInstnId></${name}>`

/** A person or company by CPF or CNPJ, with a name where there is one. */
export const person = (name: string, document: string, fullName?: string): string =>
  `<${name}>${tag('Nm', fullName)}<Id><PrvtId><Othr><Id>${document}</Id></Othr></PrvtId></Id></${name}>`

export type AccountParts = {
  readonly number: string
  readonly branch: string | undefined
  readonly type: string
  readonly proxy: string | undefined
}

export const account = (name: string, { number, branch, type, proxy }: AccountParts): string =>
  `<${name}><Id><Othr><Id>${number}</Id>${tag('Issr', branch)}</Othr></Id><Tp><Cd>${type}</Cd></Tp>${proxy === undefined ? '' : `<Prxy><Id>${proxy}</Id></Prxy>`}</${name}>`

const header = (name: string, ispb: string): string =>
  `<${name}><FIId><FinInstnId><Othr><Id>${ispb}</Id></Othr></FinInstnId></FIId></${name}>`

const encoder = new TextEncoder()

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

export const envelope = (parts: {
  readonly namespace: string
  readonly from: string
  readonly to: string
  readonly id: string
  readonly definition: string
  readonly created: string
  readonly document: string
}): BuiltMessage => {
  const { namespace, from, to, id, definition, created, document } = parts
  const opening = `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="${namespace}">`
  const toSignature = `<AppHdr>${header('Fr', from)}${header('To', to)}<BizMsgIdr>${id}</BizMsgIdr><MsgDefIdr>${definition}</MsgDefIdr><CreDt>${created}</CreDt><Sgntr>`
  const afterSignature = '</Sgntr></AppHdr>'
  const bytes = encoder.encode(
    `${opening}${toSignature}${afterSignature}<Document>${document}</Document></Envelope>`,
  )
  // All that stands before the document is ASCII, so its characters are its bytes.
  const signatureAt = opening.length + toSignature.length
  const headerEnd = signatureAt + afterSignature.length
  return {
    bytes,
    namespace,
    appHdr: { from: opening.length, to: headerEnd },
    signatureAt,
    document: { from: headerEnd, to: bytes.length - '</Envelope>'.length },
  }
}
