import { hash } from 'node:crypto'
import {
  type CanonicalEnvelope,
  type PreparedKeyInfo,
  prepareKeyInfo,
  signEnvelope,
} from '#codecs/xmldsig'
import { type Signer, SigningError, type SigningIdentity } from './signer.ts'

/** Signs whole messages with the configured signer; without one they stay as they are. */
export type EnvelopeSigner = {
  readonly kind: Signer['kind']
  /** @throws SigningError when there is no key, or it does not sign; any other error is the message's own */
  readonly sign: (envelope: CanonicalEnvelope) => Promise<Uint8Array>
}

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

/** Always the same for a certificate: a message signed again, even by another process, has the same bytes. */
export const keyInfoId = ({ issuer, serial }: SigningIdentity): string =>
  `key-${hash('sha256', `${serial} ${issuer}`).slice(0, 32)}`

/** Tells a fault of the signer, such as an invalid certificate, from a fault of the message. */
const ofSigner = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SigningError) throw error
    throw new SigningError(error instanceof Error ? error.message : 'no signature', {
      cause: error,
    })
  }
}

/** Computes once what a certificate adds to every signature, and again after a rotation. */
export const createEnvelopeSigner = (signer: Signer): EnvelopeSigner => {
  if (signer.kind === 'none') return { kind: 'none', sign: async ({ bytes }) => bytes }
  let prepared:
    | { readonly identity: SigningIdentity; readonly keyInfo: PreparedKeyInfo }
    | undefined
  const keyInfoOf = (identity: SigningIdentity): PreparedKeyInfo => {
    if (prepared?.identity !== identity) {
      const { issuer, serial } = identity
      prepared = {
        identity,
        keyInfo: prepareKeyInfo(issuer, serial, keyInfoId(identity), sha256),
      }
    }
    return prepared.keyInfo
  }
  return {
    kind: signer.kind,
    sign: async (envelope) => {
      const { key, keyInfo } = await ofSigner(async () => {
        const key = await signer.key()
        return { key, keyInfo: keyInfoOf(key.identity) }
      })
      return signEnvelope(envelope, keyInfo, sha256, (bytes) => ofSigner(() => key.sign(bytes)))
    },
  }
}
