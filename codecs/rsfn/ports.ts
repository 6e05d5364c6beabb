import type { RsfnHeader } from './header.ts'

/**
 * Symmetric ciphers that the caller provides. The tag of AES-256-GCM is 16 bytes and stands at the end of the
 * ciphertext; there is no additional data. 3DES is CBC with a zero vector and no padding.
 */
export type RsfnCiphers = {
  readonly aesGcmSeal: (key: Uint8Array, iv: Uint8Array, plain: Uint8Array) => Uint8Array
  /** Undefined if the tag does not match. */
  readonly aesGcmOpen: (
    key: Uint8Array,
    iv: Uint8Array,
    sealed: Uint8Array,
  ) => Uint8Array | undefined
  readonly tripleDesEncrypt: (key: Uint8Array, plain: Uint8Array) => Uint8Array
  readonly tripleDesDecrypt: (key: Uint8Array, sealed: Uint8Array) => Uint8Array
}

/** Functions that sealing needs from outside. */
export type RsfnSealPorts = RsfnCiphers & {
  readonly randomBytes: (length: number) => Uint8Array
  /** RSASSA-PKCS1-v1_5 with SHA-256 by the sender's 2048-bit key: 256 bytes. */
  readonly sign: (plain: Uint8Array) => Promise<Uint8Array>
  /** The bare RSA public operation of the destination's key on one block; the padding is ours. */
  readonly rsaEncryptBlock: (block: Uint8Array) => Uint8Array
  readonly gzip: (bytes: Uint8Array) => Uint8Array
}

/** The certificate named in C12 and C13, as the receiver knows it. */
export type RsfnSender = {
  readonly status: 'active' | 'not_active' | 'expired_or_revoked' | 'not_enabled' | 'not_the_issuer'
  /** RSASSA-PKCS1-v1_5 with SHA-256. */
  readonly verify: (plain: Uint8Array, signature: Uint8Array) => boolean
}

/** Our private key of the certificate named in C10 and C11. */
export type RsfnRecipient = {
  /** The bare RSA private operation on C14; undefined when C14 is not below the modulus. */
  readonly rsaDecryptBlock: (block: Uint8Array) => Promise<Uint8Array | undefined>
  /** Pseudo-random bytes fixed by C14 and a secret of the key. A wrong padding decrypts to them. */
  readonly syntheticKey: (wrappedKey: Uint8Array, length: number) => Uint8Array
}

/** `'authority'` means that the authority (C10, C12) is unknown, `'serial'` that the serial is. */
type RsfnUnknown = 'authority' | 'serial'

/** Functions that opening needs from outside. */
export type RsfnOpenPorts = RsfnCiphers & {
  readonly findSender: (header: RsfnHeader) => RsfnSender | RsfnUnknown
  readonly findRecipient: (header: RsfnHeader) => RsfnRecipient | RsfnUnknown
  /** Undefined if the bytes are not gzip or would grow past the caller's limit. */
  readonly gunzip: (bytes: Uint8Array) => Uint8Array | undefined
}
