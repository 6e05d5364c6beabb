import { CodecError } from '#codecs/bytes'
import {
  encodeRsfnHeader,
  type RsfnSpecialUse,
  rsfnAsymmetric,
  rsfnBlockBytes,
  rsfnHash,
  rsfnHeaderBytes,
  rsfnProtocol,
  rsfnSpecialUse,
  rsfnSymmetric,
} from './header.ts'
import { pkcs1Pad } from './padding.ts'
import type { RsfnSealPorts } from './ports.ts'
import { encodeUtf16be } from './utf16.ts'

/** C14 of the third version holds the AES-256 key followed by the GCM vector. */
export const aesKeyBytes = 32
export const gcmIvBytes = 12

/** C14 of the second version holds a three-part DES key. */
export const tripleDesKeyBytes = 24
export const desBlockBytes = 8

const compressed: ReadonlySet<number> = new Set([
  rsfnSpecialUse.FILE_COMPRESSED,
  rsfnSpecialUse.FILE_COMPRESSED_NOT_ENCRYPTED,
])
const notEncrypted: ReadonlySet<number> = new Set([
  rsfnSpecialUse.BROADCAST_NOT_ENCRYPTED,
  rsfnSpecialUse.SECURITY_NOT_ENCRYPTED,
  rsfnSpecialUse.FILE_NOT_COMPRESSED_NOT_ENCRYPTED,
  rsfnSpecialUse.FILE_COMPRESSED_NOT_ENCRYPTED,
])
const known: ReadonlySet<number> = new Set(Object.values(rsfnSpecialUse))

/** The rules for the body by C04; undefined for a value outside the table. */
export const specialUseRules = (
  specialUse: number,
): { readonly compressed: boolean; readonly encrypted: boolean } | undefined => {
  if (!known.has(specialUse)) return undefined
  return { compressed: compressed.has(specialUse), encrypted: !notEncrypted.has(specialUse) }
}

/** One certificate as the header names it: authority code (C10, C12) and hexadecimal serial. */
type RsfnParty = { readonly authority: number; readonly serial: string }

/**
 * @property content - text is encoded as UTF-16BE; bytes are taken as they are
 * @property specialUse - C04; decides on compression and encryption; normal when absent
 * @property protocol - 3 (AES-256-GCM) when absent; 2 (3DES) needs a length that is a multiple of 8
 */
export type RsfnSealRequest = {
  readonly content: string | Uint8Array
  readonly sender: RsfnParty
  readonly destination: RsfnParty
  readonly specialUse?: RsfnSpecialUse
  readonly protocol?: typeof rsfnProtocol.SECOND | typeof rsfnProtocol.THIRD
}

const encryptThird = (plain: Uint8Array, ports: RsfnSealPorts): [Uint8Array, Uint8Array] => {
  const secret = ports.randomBytes(aesKeyBytes + gcmIvBytes)
  const key = secret.subarray(0, aesKeyBytes)
  const body = ports.aesGcmSeal(key, secret.subarray(aesKeyBytes), plain)
  return [secret, body]
}

const encryptSecond = (plain: Uint8Array, ports: RsfnSealPorts): [Uint8Array, Uint8Array] => {
  if (plain.length % desBlockBytes !== 0) {
    throw new CodecError('rsfn_body_length', rsfnHeaderBytes, 'body must fill 8-byte blocks', {
      length: plain.length,
    })
  }
  const secret = ports.randomBytes(tripleDesKeyBytes)
  return [secret, ports.tripleDesEncrypt(secret, plain)]
}

/**
 * Builds a protected message: encodes text as UTF-16BE, compresses it if C04 says so, signs that plain body, encrypts
 * it under a fresh key, and that key under the destination's RSA key.
 *
 * @returns header (588 bytes) and body
 * @throws CodecError for a serial, length or code that the header cannot hold
 */
export const sealRsfn = async (
  request: RsfnSealRequest,
  ports: RsfnSealPorts,
): Promise<Uint8Array<ArrayBuffer>> => {
  const protocol = request.protocol ?? rsfnProtocol.THIRD
  const specialUse = request.specialUse ?? rsfnSpecialUse.NORMAL
  const rules = specialUseRules(specialUse)
  if (rules === undefined) {
    throw new CodecError('rsfn_special_use', 4, 'C04 is not a value of the table', { specialUse })
  }
  const { content } = request
  const bytes = typeof content === 'string' ? encodeUtf16be(content) : content
  const plain = rules.compressed ? ports.gzip(bytes) : bytes
  const signature = await ports.sign(plain)
  let body = plain
  let wrappedKey = new Uint8Array(rsfnBlockBytes)
  if (rules.encrypted) {
    const encrypt = protocol === rsfnProtocol.THIRD ? encryptThird : encryptSecond
    const [secret, sealed] = encrypt(plain, ports)
    wrappedKey = new Uint8Array(
      ports.rsaEncryptBlock(pkcs1Pad(secret, rsfnBlockBytes, ports.randomBytes)),
    )
    secret.fill(0)
    body = sealed
  }
  const message = new Uint8Array(rsfnHeaderBytes + body.length)
  message.set(
    encodeRsfnHeader({
      protocol,
      error: 0,
      specialUse,
      reserved: 0,
      destinationKey: rsfnAsymmetric.RSA_2048,
      symmetric: protocol === rsfnProtocol.THIRD ? rsfnSymmetric.AES_256 : rsfnSymmetric.TRIPLE_DES,
      senderKey: rsfnAsymmetric.RSA_2048,
      hash: rsfnHash.SHA_256,
      destinationAuthority: request.destination.authority,
      destinationSerial: request.destination.serial,
      senderAuthority: request.sender.authority,
      senderSerial: request.sender.serial,
      wrappedKey,
      signature,
    }),
  )
  message.set(body, rsfnHeaderBytes)
  return message
}

/** A message of protocol 00: the header is zero except for its length, and nothing protects the body. */
export const clearRsfn = (content: string | Uint8Array): Uint8Array<ArrayBuffer> => {
  const body = typeof content === 'string' ? encodeUtf16be(content) : content
  const message = new Uint8Array(rsfnHeaderBytes + body.length)
  message[0] = rsfnHeaderBytes >> 8
  message[1] = rsfnHeaderBytes & 0xff
  message.set(body, rsfnHeaderBytes)
  return message
}
