import { CodecError } from '#codecs/bytes'
import {
  encodeRsfnHeader,
  RSFN_ASYMMETRIC,
  RSFN_BLOCK_BYTES,
  RSFN_HASH,
  RSFN_HEADER_BYTES,
  RSFN_PROTOCOL,
  RSFN_SPECIAL_USE,
  RSFN_SYMMETRIC,
  type RsfnSpecialUse,
} from './header.ts'
import { pkcs1Pad } from './padding.ts'
import type { RsfnSealPorts } from './ports.ts'
import { encodeUtf16be } from './utf16.ts'

/** C14 of the third version holds the AES-256 key followed by the GCM vector. */
export const AES_KEY_BYTES = 32
export const GCM_IV_BYTES = 12

/** C14 of the second version holds a three-part DES key. */
export const TRIPLE_DES_KEY_BYTES = 24
export const DES_BLOCK_BYTES = 8

const COMPRESSED: ReadonlySet<number> = new Set([
  RSFN_SPECIAL_USE.FILE_COMPRESSED,
  RSFN_SPECIAL_USE.FILE_COMPRESSED_NOT_ENCRYPTED,
])
const NOT_ENCRYPTED: ReadonlySet<number> = new Set([
  RSFN_SPECIAL_USE.BROADCAST_NOT_ENCRYPTED,
  RSFN_SPECIAL_USE.SECURITY_NOT_ENCRYPTED,
  RSFN_SPECIAL_USE.FILE_NOT_COMPRESSED_NOT_ENCRYPTED,
  RSFN_SPECIAL_USE.FILE_COMPRESSED_NOT_ENCRYPTED,
])
const KNOWN: ReadonlySet<number> = new Set(Object.values(RSFN_SPECIAL_USE))

/** What C04 says of the body; undefined for a value outside the table. */
export function specialUseRules(
  specialUse: number,
): { readonly compressed: boolean; readonly encrypted: boolean } | undefined {
  if (!KNOWN.has(specialUse)) return undefined
  return { compressed: COMPRESSED.has(specialUse), encrypted: !NOT_ENCRYPTED.has(specialUse) }
}

/** One certificate as the header names it: authority code (C10, C12) and hexadecimal serial. */
export type RsfnParty = { readonly authority: number; readonly serial: string }

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
  readonly protocol?: typeof RSFN_PROTOCOL.SECOND | typeof RSFN_PROTOCOL.THIRD
}

function encryptThird(plain: Uint8Array, ports: RsfnSealPorts): [Uint8Array, Uint8Array] {
  const secret = ports.randomBytes(AES_KEY_BYTES + GCM_IV_BYTES)
  const key = secret.subarray(0, AES_KEY_BYTES)
  const body = ports.aesGcmSeal(key, secret.subarray(AES_KEY_BYTES), plain)
  return [secret, body]
}

function encryptSecond(plain: Uint8Array, ports: RsfnSealPorts): [Uint8Array, Uint8Array] {
  if (plain.length % DES_BLOCK_BYTES !== 0) {
    throw new CodecError('rsfn_body_length', RSFN_HEADER_BYTES, 'body must fill 8-byte blocks', {
      length: plain.length,
    })
  }
  const secret = ports.randomBytes(TRIPLE_DES_KEY_BYTES)
  return [secret, ports.tripleDesEncrypt(secret, plain)]
}

/**
 * Builds a protected message: text to UTF-16BE, gzip where C04 says so, signature over that plain
 * body, encryption under a fresh key, key under the destination's RSA key.
 *
 * @returns header (588 bytes) and body
 * @throws CodecError for a serial, length or code that the header cannot hold
 */
export async function sealRsfn(
  request: RsfnSealRequest,
  ports: RsfnSealPorts,
): Promise<Uint8Array<ArrayBuffer>> {
  const protocol = request.protocol ?? RSFN_PROTOCOL.THIRD
  const specialUse = request.specialUse ?? RSFN_SPECIAL_USE.NORMAL
  const rules = specialUseRules(specialUse)
  if (rules === undefined) {
    throw new CodecError('rsfn_special_use', 4, 'C04 is not a value of the table', { specialUse })
  }
  const { content } = request
  const bytes = typeof content === 'string' ? encodeUtf16be(content) : content
  const plain = rules.compressed ? ports.gzip(bytes) : bytes
  const signature = await ports.sign(plain)
  let body = plain
  let wrappedKey = new Uint8Array(RSFN_BLOCK_BYTES)
  if (rules.encrypted) {
    const encrypt = protocol === RSFN_PROTOCOL.THIRD ? encryptThird : encryptSecond
    const [secret, sealed] = encrypt(plain, ports)
    wrappedKey = new Uint8Array(
      ports.rsaEncryptBlock(pkcs1Pad(secret, RSFN_BLOCK_BYTES, ports.randomBytes)),
    )
    secret.fill(0)
    body = sealed
  }
  const message = new Uint8Array(RSFN_HEADER_BYTES + body.length)
  message.set(
    encodeRsfnHeader({
      protocol,
      error: 0,
      specialUse,
      destinationKey: RSFN_ASYMMETRIC.RSA_2048,
      symmetric:
        protocol === RSFN_PROTOCOL.THIRD ? RSFN_SYMMETRIC.AES_256 : RSFN_SYMMETRIC.TRIPLE_DES,
      senderKey: RSFN_ASYMMETRIC.RSA_2048,
      hash: RSFN_HASH.SHA_256,
      destinationAuthority: request.destination.authority,
      destinationSerial: request.destination.serial,
      senderAuthority: request.sender.authority,
      senderSerial: request.sender.serial,
      wrappedKey,
      signature,
    }),
  )
  message.set(body, RSFN_HEADER_BYTES)
  return message
}

/** A message of protocol 00: the header is zero but for its length, and nothing protects the body. */
export function clearRsfn(content: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const body = typeof content === 'string' ? encodeUtf16be(content) : content
  const message = new Uint8Array(RSFN_HEADER_BYTES + body.length)
  message[0] = RSFN_HEADER_BYTES >> 8
  message[1] = RSFN_HEADER_BYTES & 0xff
  message.set(body, RSFN_HEADER_BYTES)
  return message
}
