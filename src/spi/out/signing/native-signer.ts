import { type ChosenKey, openRsaKey } from '#src/platform/security/index.ts'
import { readSigningMaterial } from './certificate.ts'
import type { SigningSettings } from './config.ts'
import type { Signer, SigningKey } from './signer.ts'

/** Signed to see whether the key signs: no message, and no canonical XML either. */
const probe = new TextEncoder().encode('probe')

export type NativeSigner = Extract<Signer, { readonly key: unknown }> & {
  /** The new pair signs new messages; the old one signs those that have begun. */
  readonly replace: (certificatePem: string, keyPem: string) => Promise<void>
}

/**
 * Signs in this process with a certificate and key in PEM.
 *
 * @param provider - as `SPI_SIGN_PROVIDER`
 * @throws SigningMaterialError when the pair cannot sign
 */
export const createNativeSigner = async (
  certificatePem: string,
  keyPem: string,
  provider: SigningSettings['provider'] = 'auto',
  open: typeof openRsaKey = openRsaKey,
): Promise<NativeSigner> => {
  const load = async (certificate: string, key: string) => {
    const { identity, pkcs8 } = readSigningMaterial(certificate, key)
    try {
      const chosen: ChosenKey = await open(pkcs8, provider)
      const signingKey: SigningKey = { identity, sign: chosen.sign }
      return { chosen, signingKey }
    } finally {
      pkcs8.fill(0)
    }
  }
  let current = await load(certificatePem, keyPem)
  let isClosed = false
  let lastReplaced: Promise<unknown> = Promise.resolve()
  const replace = async (certificate: string, key: string): Promise<void> => {
    const next = await load(certificate, key)
    if (isClosed) return next.chosen.close()
    current.chosen.close()
    current = next
  }
  return {
    kind: 'native',
    get provider() {
      return current.chosen.provider
    },
    key: () => current.signingKey,
    check: () => current.signingKey.sign(probe),
    replace: (certificate, key) => {
      // One after the other: each closes the key that it replaces, and the last one stays.
      const replaced = lastReplaced.then(() => replace(certificate, key))
      lastReplaced = replaced.catch(() => undefined)
      return replaced
    },
    close: () => {
      isClosed = true
      current.chosen.close()
    },
  }
}
