/** Namespace of XML Signature. */
export const dsig = 'http://www.w3.org/2000/09/xmldsig#'
export const excC14n = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
export const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
export const sha256 = 'http://www.w3.org/2001/04/xmlenc#sha256'

/** SHA-256 in base64. */
export const digestChars = 44
export const digestBytes = 32
/** RSA-2048. */
export const signatureBytes = 256
