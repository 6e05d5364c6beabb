import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

// sealed = version(1) keyId(8) iv(12) ciphertext tag(16)
// AES-256-GCM under a key derived from the master key; the header and the caller's context are
// authenticated, so that a record cannot be put in the place of another.

const version = 1
const keyIdBytes = 8
const ivBytes = 12
const tagBytes = 16
const headerBytes = 1 + keyIdBytes
const contentAt = headerBytes + ivBytes

/** Thrown when something sealed cannot be opened. */
export class SealError extends Error {
  override readonly name = 'SealError'
  readonly reason: 'unknown_key' | 'altered'

  constructor(reason: SealError['reason']) {
    super(
      reason === 'unknown_key'
        ? 'sealed under another master key'
        : 'the sealed record was altered or belongs elsewhere',
    )
    this.reason = reason
  }
}

/** Seals secrets for storage under the master key. */
export type Sealer = {
  /** Hexadecimal id of the key that seals now; says nothing about the key. */
  readonly keyId: string
  /** @param context - where the record belongs (a table and an id); the same is needed to open */
  readonly seal: (plain: Uint8Array, context: string) => Uint8Array
  /** @throws SealError */
  readonly open: (sealed: Uint8Array, context: string) => Uint8Array
  /** True when the record should be sealed again because its key is a previous one. */
  readonly isStale: (sealed: Uint8Array) => boolean
}

type DerivedKey = { readonly id: Buffer; readonly key: Uint8Array }

const derive = (master: Uint8Array): DerivedKey => {
  const key = new Uint8Array(hkdfSync('sha256', master, '', 'trilho sealing v1', 32))
  const id = createHash('sha256').update('trilho key id').update(key).digest()
  return { id: id.subarray(0, keyIdBytes), key }
}

const authenticated = (header: Uint8Array, context: string): Uint8Array =>
  Buffer.concat([header, Buffer.from(context)])

/** The sealer of the two settings; undefined without a master key. */
export const sealerOf = ({
  masterKey,
  previousMasterKey,
}: {
  readonly masterKey: Uint8Array | undefined
  readonly previousMasterKey: Uint8Array | undefined
}): Sealer | undefined =>
  masterKey && createSealer(masterKey, previousMasterKey && [previousMasterKey])

/**
 * @param master - seals and opens
 * @param previous - master keys that only open, while a rotation lasts
 */
export const createSealer = (master: Uint8Array, previous: readonly Uint8Array[] = []): Sealer => {
  const current = derive(master)
  const keys = new Map(
    [current, ...previous.map(derive)].map((key) => [key.id.toString('hex'), key]),
  )
  const keyIdOf = (sealed: Uint8Array): string => sealed.subarray(1, headerBytes).toHex()
  const keyId = current.id.toString('hex')
  return {
    keyId,
    seal: (plain, context) => {
      const header = Buffer.concat([Uint8Array.of(version), current.id])
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', current.key, iv, { authTagLength: tagBytes })
      cipher.setAAD(authenticated(header, context))
      const body = [cipher.update(plain), cipher.final(), cipher.getAuthTag()]
      return new Uint8Array(Buffer.concat([header, iv, ...body]))
    },
    open: (sealed, context) => {
      if (sealed.length < contentAt + tagBytes || sealed[0] !== version) {
        throw new SealError('altered')
      }
      const key = keys.get(keyIdOf(sealed))
      if (key === undefined) throw new SealError('unknown_key')
      const iv = sealed.subarray(headerBytes, contentAt)
      const decipher = createDecipheriv('aes-256-gcm', key.key, iv, { authTagLength: tagBytes })
      decipher.setAAD(authenticated(sealed.subarray(0, headerBytes), context))
      decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes))
      const plain = decipher.update(sealed.subarray(contentAt, sealed.length - tagBytes))
      try {
        // This mode leaves nothing for the end, which only checks the tag.
        decipher.final()
        // Has memory of its own: the runtime copies shared memory before native code gets it, and the copy stays.
        const opened = new Uint8Array(new ArrayBuffer(plain.length))
        opened.set(plain)
        return opened
      } catch {
        throw new SealError('altered')
      } finally {
        // The caller wipes what it is given; no other copy stays behind.
        plain.fill(0)
      }
    },
    isStale: (sealed) => keyIdOf(sealed) !== keyId,
  }
}
