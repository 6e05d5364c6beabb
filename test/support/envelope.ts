import { createHash } from 'node:crypto'
import type { CanonicalEnvelope } from '#codecs/xmldsig'

/** A small message in the form the builders give: canonical, with an empty `Sgntr`. */
export const envelopeOf = (
  document: string,
  namespace = 'https://www.bcb.gov.br/pi/pacs.002/1.14',
): CanonicalEnvelope => {
  const appHdr =
    '<AppHdr><Fr><FIId><FinInstnId><Othr><Id>99999010</Id></Othr></FinInstnId></FIId></Fr>' +
    '<To><FIId><FinInstnId><Othr><Id>00038166</Id></Othr></FinInstnId></FIId></To>' +
    '<BizMsgIdr>M9999901012345678901234567890123</BizMsgIdr><MsgDefIdr>pacs.002.spi.1.14</MsgDefIdr>' +
    '<CreDt>2026-01-01T08:30:12.000Z</CreDt><Sgntr></Sgntr></AppHdr>'
  return sliceEnvelope(
    `<?xml version="1.0" encoding="UTF-8"?><Envelope xmlns="${namespace}">${appHdr}` +
      `<Document>${document}</Document></Envelope>`,
    namespace,
  )
}

/** Finds the slices of a canonical message by its tags: good enough for tests. */
export const sliceEnvelope = (xml: string, namespace: string): CanonicalEnvelope => {
  const bytes = Buffer.from(xml)
  const after = (mark: string): number => bytes.indexOf(mark) + mark.length
  return {
    bytes: new Uint8Array(bytes),
    namespace,
    appHdr: { from: bytes.indexOf('<AppHdr>'), to: after('</AppHdr>') },
    signatureAt: after('<Sgntr>'),
    document: { from: bytes.indexOf('<Document>'), to: after('</Document>') },
  }
}

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(bytes).digest())
