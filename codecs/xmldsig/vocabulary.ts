/** Namespace of XML Signature. */
export const DSIG = 'http://www.w3.org/2000/09/xmldsig#'
export const EXC_C14N = 'http://www.w3.org/2001/10/xml-exc-c14n#'
export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
export const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
export const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256'

/** SHA-256 in base64. */
export const DIGEST_CHARS = 44
export const DIGEST_BYTES = 32
/** RSA-2048. */
export const SIGNATURE_BYTES = 256
