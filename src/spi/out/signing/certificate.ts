import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { issuerText } from '#codecs/xmldsig'
import { describeCertificate } from '#src/platform/security/index.ts'
import type { SigningIdentity } from './signer.ts'

/** Thrown for a certificate and key that cannot sign; the message names the rule, never the key. */
export class SigningMaterialError extends Error {
  override readonly name = 'SigningMaterialError'
}

export type SigningMaterial = {
  readonly identity: SigningIdentity
  readonly publicKey: KeyObject
  readonly pkcs8: Uint8Array
}

const rsaBits = 2048

/** @throws SigningMaterialError when the text is not a certificate */
export const readCertificate = (pem: string): X509Certificate => {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new SigningMaterialError('the certificate cannot be read')
  }
}

/** Issuer and serial number as they go into a signature. */
export const identityOf = (certificate: X509Certificate): SigningIdentity => ({
  issuer: issuerText(new Uint8Array(certificate.raw)),
  serial: describeCertificate(certificate).serial,
})

/**
 * Reads a certificate and its RSA-2048 key.
 *
 * @throws SigningMaterialError when one cannot be read, is not RSA-2048, or they do not belong together
 */
export const readSigningMaterial = (certificatePem: string, keyPem: string): SigningMaterial => {
  const certificate = readCertificate(certificatePem)
  let key: KeyObject
  try {
    key = createPrivateKey(keyPem)
  } catch {
    throw new SigningMaterialError('the private key cannot be read')
  }
  if (key.asymmetricKeyType !== 'rsa' || key.asymmetricKeyDetails?.modulusLength !== rsaBits) {
    throw new SigningMaterialError(`the private key is not RSA-${rsaBits}`)
  }
  if (!certificate.checkPrivateKey(key)) {
    throw new SigningMaterialError('certificate and private key do not belong together')
  }
  return {
    identity: identityOf(certificate),
    publicKey: certificate.publicKey,
    pkcs8: new Uint8Array(key.export({ format: 'der', type: 'pkcs8' })),
  }
}
