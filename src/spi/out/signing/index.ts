import type { SettingProblem } from '#src/platform/config/index.ts'
import {
  createFileMaterial,
  createStoreMaterial,
  type KeyMaterial,
  type StoredPair,
  type TlsOptions,
} from '#src/platform/security/index.ts'
import { readSigningMaterial, SigningMaterialError } from './certificate.ts'
import type { SigningSettings } from './config.ts'
import { createNativeSigner } from './native-signer.ts'
import { createServiceSigner } from './service-signer.ts'
import type { Signer } from './signer.ts'

export { type SigningSettings, signingSettings } from './config.ts'
export { createEnvelopeSigner, type EnvelopeSigner } from './envelope-signer.ts'
export { createNativeSigner } from './native-signer.ts'
export { createServiceSigner } from './service-signer.ts'
export { type Signer, SigningError, type SigningKey } from './signer.ts'
export { createTrust } from './trust.ts'
export { createMessageVerifier, type MessageVerifier } from './verifier.ts'
export { SigningMaterialError }

const circuitFailuresMaxDefault = 5
const circuitOpenMsDefault = 5_000
const backoffMs = 100

/** Leaves messages without a signature. */
export const noSigner: Signer = { kind: 'none', close: () => {} }

/** Returns a warning when the settings leave messages unsigned, probably against the operator's intent. */
export const signingWarning = (settings: SigningSettings): string | undefined => {
  if (!settings.enabled || settings.certificateSource === 'store') return undefined
  if ((settings.certificate === undefined) !== (settings.key === undefined)) {
    return 'native signing needs both SPI_SIGN_CERT_PATH and SPI_SIGN_KEY_PATH; only one is set'
  }
  if (settings.certificate === undefined && settings.serviceUrl === undefined) {
    return 'SPI_SIGN_ENABLED is true but no signer is configured: messages go out unsigned'
  }
  return undefined
}

/** @throws SigningMaterialError */
const checkSigns = ({ cert = '', key = '' }: TlsOptions): void => {
  readSigningMaterial(cert, key).pkcs8.fill(0)
}

/** The problem of certificate and key that cannot sign together. */
export const signingProblems = ({
  enabled,
  certificate,
  key,
}: SigningSettings): readonly SettingProblem[] => {
  if (!enabled || certificate === undefined || key === undefined) return []
  try {
    checkSigns({ cert: certificate.text, key: key.text })
    return []
  } catch (error) {
    if (!(error instanceof SigningMaterialError)) throw error
    return [
      {
        name: 'SPI_SIGN_CERT_PATH',
        value: '***',
        problem: error.message,
        expected: 'a certificate and its RSA-2048 key',
        fix: 'set SPI_SIGN_CERT_PATH and SPI_SIGN_KEY_PATH to a certificate and its key',
      },
    ]
  }
}

/**
 * The certificate and key that sign in this process; undefined where the settings name none. Material of the store is
 * empty until it is read for the first time.
 *
 * @param stored - the pair of the certificate store, for `SPI_SIGN_CERT_SOURCE=store`
 * @throws SigningMaterialError when the settings name the store, and there is none
 * @throws KeyMaterialError when certificate and key of files do not belong together
 */
export const signingMaterial = (
  settings: SigningSettings,
  onProblem: (error: Error) => void = () => {},
  stored?: StoredPair,
): KeyMaterial | undefined => {
  const { enabled, certificate, key, certificateSource } = settings
  if (!enabled) return undefined
  const options = { check: checkSigns }
  if (certificateSource === 'store') {
    if (stored === undefined) throw new SigningMaterialError('there is no certificate store')
    return createStoreMaterial(stored, undefined, onProblem, options)
  }
  if (certificate === undefined || key === undefined) return undefined
  return createFileMaterial({ certificate, key, ca: undefined }, onProblem, options)
}

/** Signs in this process, and follows the material: a new pair signs from the next message on. */
const nativeSigner = async (
  material: KeyMaterial,
  settings: SigningSettings,
  onProblem: (error: Error) => void,
): Promise<Signer> => {
  const { cert = '', key = '' } = material.current()
  const signer = await createNativeSigner(cert, key, settings.provider)
  material.onChange((pair) => {
    signer.replace(pair.cert ?? '', pair.key ?? '').catch(onProblem)
  })
  material.watch()
  return {
    kind: signer.kind,
    get provider() {
      return signer.provider
    },
    key: signer.key,
    check: signer.check,
    close: () => {
      material.stop()
      signer.close()
    },
  }
}

/** What we connect to the external service with; undefined where none signs. */
export const serviceMaterial = (
  settings: SigningSettings,
  onProblem: (error: Error) => void = () => {},
): KeyMaterial | undefined => {
  const { enabled, serviceUrl, serviceCertificate, serviceKey, serviceCa } = settings
  if (!enabled || serviceUrl === undefined) return undefined
  const files = { certificate: serviceCertificate, key: serviceKey, ca: serviceCa }
  return createFileMaterial(files, onProblem)
}

const serviceSigner = (url: string, settings: SigningSettings, material: KeyMaterial): Signer => {
  material.watch()
  const signer = createServiceSigner({
    url,
    tls: material.current,
    timeoutMs: settings.serviceTimeoutMs,
    attemptsMax: settings.serviceAttemptsMax,
    circuitFailuresMax: circuitFailuresMaxDefault,
    circuitOpenMs: circuitOpenMsDefault,
    backoffMs: backoffMs,
  })
  return { ...signer, close: material.stop }
}

/**
 * The signer that the settings ask for, by priority: certificate and key here, then the external
 * service, then none. `SPI_SIGN_ENABLED=false` gives none. Follows certificates that change.
 *
 * @param material - of {@link signingMaterial}
 * @param service - of {@link serviceMaterial}
 * @param onProblem - called when a changed pair cannot be used; the old one stays in use
 * @throws SigningMaterialError when certificate and key are set but cannot sign
 * @throws Error when the settings name the store, and it has no pair
 */
export const createSigner = async (
  settings: SigningSettings,
  material: KeyMaterial | undefined,
  onProblem: (error: Error) => void = () => {},
  service: KeyMaterial | undefined = serviceMaterial(settings, onProblem),
): Promise<Signer> => {
  const { enabled, serviceUrl, certificateSource } = settings
  if (!enabled) return noSigner
  if (material !== undefined) {
    if (certificateSource === 'store') await material.reload()
    return nativeSigner(material, settings, onProblem)
  }
  if (serviceUrl === undefined || service === undefined) return noSigner
  return serviceSigner(serviceUrl, settings, service)
}
