import { withMissingSettings } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { CertificateUse } from '#src/platform/security/index.ts'
import type { SpiSettings } from '../../config.ts'
import { rsfnApiErrors } from './errors.ts'
import { rsfnKeysOf } from './keys.ts'
import { rsfnRoutes } from './routes.ts'
import { createRsfnService, type RsfnService } from './service.ts'
import { keyFiles, keyStore, type RsfnCertificates, rsfnTypes } from './sources.ts'

export type RsfnDeps = {
  readonly settings: Pick<
    SpiSettings,
    'ispb' | 'rsfnKeySource' | 'rsfnPrivateKey' | 'rsfnPublicKey'
  >
  /** The certificates of the store; undefined if there is none. */
  readonly certificates: RsfnCertificates | undefined
}

/** Content that a compressed file may grow to in a request: gzip holds the loop while it is opened. */
const contentBytesMax = 4 * 1024 * 1024

/** The service with the keys that the settings name; undefined where they name none. */
export const rsfnServiceOf = (
  { settings, certificates }: RsfnDeps,
  bytesMax?: number,
): RsfnService | undefined => {
  const { ispb, rsfnKeySource, rsfnPrivateKey, rsfnPublicKey } = settings
  if (rsfnKeySource === 'store') {
    if (certificates === undefined || ispb === undefined) return undefined
    return createRsfnService(keyStore(certificates, ispb), bytesMax)
  }
  if (rsfnPrivateKey === undefined && rsfnPublicKey === undefined) return undefined
  return createRsfnService(keyFiles(rsfnKeysOf(settings)), bytesMax)
}

/** The setting to tell of where there are no keys. */
export const rsfnMissing = 'RSFN_PRIVATE_KEY_PATH and RSFN_PUBLIC_KEY_PATH, or RSFN_KEY_SOURCE'

/** Seals and opens messages of the network over HTTP. */
export const createRsfn = (deps: RsfnDeps): Feature => {
  const service = rsfnServiceOf(deps, contentBytesMax)
  const none: RsfnService = {
    seal: () => Promise.reject(new Error('not configured')),
    open: () => Promise.reject(new Error('not configured')),
  }
  const routes = rsfnRoutes(service ?? none)
  return {
    name: 'rsfn',
    errors: rsfnApiErrors,
    certificates: usesOf(deps.settings),
    routes: service === undefined ? withMissingSettings(routes, [rsfnMissing]) : routes,
  }
}

/** The certificates of the store; files hold bare keys. Not every institution seals for the messaging (MES). */
const usesOf = ({ ispb, rsfnKeySource }: RsfnDeps['settings']): readonly CertificateUse[] =>
  ispb === undefined || rsfnKeySource !== 'store'
    ? []
    : rsfnTypes.map((type) => ({
        ispb,
        type,
        source: 'store',
        material: undefined,
        isOptional: type === 'MES',
      }))
