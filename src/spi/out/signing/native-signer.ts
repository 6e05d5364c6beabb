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
): Promise<NativeSigner> => {
  const load = async (certificate: string, key: string) => {
    const { identity, pkcs8 } = readSigningMaterial(certificate, key)
    const chosen: ChosenKey = await openRsaKey(pkcs8, provider)
    pkcs8.fill(0)
    const signingKey: SigningKey = { identity, sign: chosen.sign }
    return { chosen, signingKey }
  }
  let current = await load(certificatePem, keyPem)
  return {
    kind: 'native',
    get provider() {
      return current.chosen.provider
    },
    key: () => current.signingKey,
    check: () => current.signingKey.sign(probe),
    replace: async (certificate, key) => {
      const old = current
      current = await load(certificate, key)
      old.chosen.close()
    },
    close: () => current.chosen.close(),
  }
}
