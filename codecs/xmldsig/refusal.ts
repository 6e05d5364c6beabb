/** Reasons not to accept a message as signed. Codes are append-only. */
const xmldsigRefusals = {
  markup_not_allowed: 'a comment or CDATA section stands in the message',
  envelope_structure: 'the message is not an Envelope of exactly AppHdr and Document',
  signature_missing: 'Sgntr holds no signature',
  signature_misplaced: 'Signature is not the only content of AppHdr/Sgntr, or there is another one',
  identifier_foreign: 'an attribute that is an Id stands outside KeyInfo',
  signature_structure: 'an element, attribute or text of Signature is not in the profile',
  algorithm_not_allowed: 'an algorithm is not the one of the profile',
  reference_not_allowed: 'the references are not KeyInfo, AppHdr and Document, in this order',
  transform_not_allowed: 'the transforms of a reference are not those of the profile',
  value_malformed: 'a digest, signature value, serial number or name has another form',
  certificate_unknown: 'issuer and serial number name no certificate in the store',
  certificate_not_valid: 'the certificate may not sign now',
  signature_invalid: 'the signature value does not fit SignedInfo and the certificate',
  digest_key_info: 'the digest of KeyInfo differs',
  digest_app_hdr: 'the digest of AppHdr differs',
  digest_document: 'the digest of Document differs',
  digest_root: 'the digest of the whole document differs',
} as const

export type XmldsigRefusalCode = keyof typeof xmldsigRefusals

/**
 * Why a message is not accepted as signed.
 *
 * @property offset - byte of the message at which the rule was broken
 */
export type XmldsigRefusal = {
  readonly ok: false
  readonly code: XmldsigRefusalCode
  readonly offset: number
  readonly message: string
}

/** Carries a refusal out of the nested grammar; never leaves this codec. */
export class RefusalSignal extends Error {
  override readonly name = 'RefusalSignal'
  readonly refusal: XmldsigRefusal

  constructor(code: XmldsigRefusalCode, offset: number) {
    super(code)
    this.refusal = { ok: false, code, offset, message: xmldsigRefusals[code] }
  }
}
