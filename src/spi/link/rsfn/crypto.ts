import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import type {
  RsfnCiphers,
  RsfnOpenPorts,
  RsfnRecipient,
  RsfnSealPorts,
  RsfnSender,
} from '#codecs/rsfn'

const tagBytes = 16
const desZeroIv = new Uint8Array(8)

/** Largest content that a compressed file may grow to. */
const rsfnContentBytesMax = 64 * 1024 * 1024

const tripleDes = (
  create: typeof createCipheriv | typeof createDecipheriv,
  key: Uint8Array,
  bytes: Uint8Array,
): Uint8Array => {
  const cipher = create('des-ede3-cbc', key, desZeroIv)
  cipher.setAutoPadding(false)
  return Buffer.concat([cipher.update(bytes), cipher.final()])
}

const ciphers: RsfnCiphers = {
  aesGcmSeal(key, iv, plain) {
    const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  },
  aesGcmOpen(key, iv, sealed) {
    if (sealed.length < tagBytes) return undefined
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes))
    const plain = decipher.update(sealed.subarray(0, sealed.length - tagBytes))
    try {
      return Buffer.concat([plain, decipher.final()])
    } catch {
      return undefined
    }
  },
  tripleDesEncrypt: (key, plain) => tripleDes(createCipheriv, key, plain),
  tripleDesDecrypt: (key, sealed) => tripleDes(createDecipheriv, key, sealed),
}

/** RSASSA-PKCS1-v1_5 with SHA-256 on the runtime's thread pool, so that the loop is never held. */
const signInPool = (key: KeyObject, bytes: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    sign('sha256', bytes, key, (error, signature) => {
      if (error) reject(error)
      else resolve(signature)
    })
  })

/** Ports to seal as the holder of `privateKey` for the holder of `destinationKey`. */
export const createRsfnSealPorts = (
  privateKey: KeyObject,
  destinationKey: KeyObject,
): RsfnSealPorts => ({
  ...ciphers,
  randomBytes: (length) => randomBytes(length),
  sign: (plain) => signInPool(privateKey, plain),
  rsaEncryptBlock: (block) =>
    publicEncrypt({ key: destinationKey, padding: constants.RSA_NO_PADDING }, block),
  gzip: (bytes) => gzipSync(bytes),
})

/**
 * The private side of a key for opening. The secret behind the synthetic key is derived from the
 * private exponent, so that it survives a restart and nobody else can compute it.
 */
export const createRsfnRecipient = (privateKey: KeyObject): RsfnRecipient => {
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  const secret = createHash('sha256').update('trilho rsfn implicit rejection').update(der).digest()
  der.fill(0)
  return {
    async rsaDecryptBlock(block) {
      try {
        return privateDecrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, block)
      } catch {
        return undefined
      }
    },
    syntheticKey(wrappedKey, length) {
      const first = createHmac('sha256', secret).update('\x01').update(wrappedKey).digest()
      const second = createHmac('sha256', secret).update('\x02').update(wrappedKey).digest()
      return Buffer.concat([first, second]).subarray(0, length)
    },
  }
}

/** The public side of a peer's key. */
export const createRsfnSender = (
  publicKey: KeyObject,
  status: RsfnSender['status'],
): RsfnSender => ({
  status,
  verify: (plain, signature) => verify('sha256', plain, publicKey, signature),
})

/** Ports to open, with the caller's rules for finding the two certificates. */
export const createRsfnOpenPorts = (
  find: Pick<RsfnOpenPorts, 'findSender' | 'findRecipient'>,
  contentBytesMax = rsfnContentBytesMax,
): RsfnOpenPorts => ({
  ...ciphers,
  ...find,
  gunzip(bytes) {
    try {
      return gunzipSync(bytes, { maxOutputLength: contentBytesMax })
    } catch {
      return undefined
    }
  },
})
