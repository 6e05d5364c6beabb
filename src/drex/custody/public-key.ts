/** Public keys as key management services tell them: a SubjectPublicKeyInfo of an uncompressed point (RFC 5480). */

import type { Hex } from '../evm/hex.ts'
import { addressOfPublicKey } from '../evm/secp256k1.ts'
import { SignerError } from './exchange.ts'

/** The sequence, id-ecPublicKey with the curve secp256k1 (SEC 2), and a bit string of 65 bytes. */
const head = Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex')
const pointBytes = 65
const uncompressed = 0x04

/** @throws SignerError if it is not a point of secp256k1 */
export const addressOfSpki = (der: Uint8Array): Hex => {
  const point = der.subarray(head.length)
  const isOfCurve =
    Buffer.from(der.subarray(0, head.length)).equals(head) &&
    point.length === pointBytes &&
    point[0] === uncompressed
  if (!isOfCurve) throw new SignerError('the key is not of the curve secp256k1', false)
  try {
    return addressOfPublicKey(point)
  } catch {
    throw new SignerError('the public key is no point of its curve', false)
  }
}

/** @throws SignerError if it is not one PEM block of such a key */
export const addressOfPem = (pem: string): Hex => {
  const block =
    /^\s*-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*$/.exec(pem)
  if (block === null) throw new SignerError('the public key is not a PEM block', false)
  return addressOfSpki(Buffer.from(block[1] ?? '', 'base64'))
}
