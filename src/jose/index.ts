import { type ReadOutside, withMissingSettings } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { JoseSettings } from './config.ts'
import { JoseFailure, joseErrors } from './errors.ts'
import type { JoseKeySource } from './keyring.ts'
import { type OpenPayload, openPayload } from './payload.ts'
import { createPinnedKeys } from './pinned-keys.ts'
import { joseRoutes, type LoadJose } from './routes.ts'

export { joseSettings } from './config.ts'
export { joseInspector } from './inspect.ts'
export type { JoseCertificate, JoseKeySource } from './keyring.ts'

export type JoseDeps = {
  /** Undefined if no certificate store is configured. */
  readonly keys: JoseKeySource | undefined
  readonly settings: JoseSettings
  readonly readOutside: ReadOutside
  readonly logger: Logger
}

/** Signs what strangers read at an address of ours. */
type SignPublished = {
  /**
   * @param kid of the certificate; once it is over or gone, its successor signs
   * @param jku the address of `keySet`
   * @returns a compact JWS; undefined: no certificate signs now
   */
  readonly sign: (kid: string, content: Uint8Array, jku: string) => Promise<string | undefined>
  /** Whether {@link sign} would. */
  readonly canSign: (kid: string) => Promise<boolean>
  /** The public keys that verify its tokens: the present certificate's, and those of earlier ones that still hold. */
  readonly keySet: () => Promise<readonly object[]>
}

export type JoseFeature = Feature & {
  readonly signPublished: SignPublished
  /** Reads the payload of a dynamic QR code, for the feature that has fetched it. */
  readonly openPayload: OpenPayload
}

/** Signs and encrypts JOSE with the keys of the certificate store, and verifies the tokens of others. */
export const createJose = ({ keys, settings, readOutside, logger }: JoseDeps): JoseFeature => {
  const pinned = createPinnedKeys(settings.pinnedKeys, logger)
  const none: JoseKeySource = { list: async () => [], readKey: async () => undefined }
  let loaded: ReturnType<LoadJose> | undefined
  const load = async (): ReturnType<LoadJose> => {
    const [{ createKeyring }, { createJoseService }, { createRemoteKeys }] = await Promise.all([
      import('./keyring.ts'),
      import('./service.ts'),
      import('./remote-keys.ts'),
    ])
    const keyring = createKeyring(keys ?? none, settings.algorithms ?? [])
    const remote = createRemoteKeys(readOutside)
    const trust = { pinned: pinned.keys, jkuAllowed: settings.jkuAllowed ?? [], remote }
    return { service: createJoseService(keyring, trust), keyring }
  }
  const opened: LoadJose = () => {
    loaded ??= load()
    return loaded
  }
  const routes = joseRoutes(opened)
  return {
    name: 'jose',
    start: pinned.start,
    errors: joseErrors,
    signPublished: {
      sign: async (kid, content, jku) => {
        const { service, keyring } = await opened()
        const signer = await keyring.signerOf(kid)
        if (signer === undefined) return undefined
        const common = { algorithm: undefined, type: undefined, serialization: 'compact' } as const
        try {
          const token = await service.sign({ kid: signer.kid, content, jku, ...common })
          if (typeof token !== 'string') throw new Error('a compact token is a text')
          return token
        } catch (error) {
          // The certificate may have been removed since it was listed.
          if (error instanceof JoseFailure) return undefined
          throw error
        }
      },
      canSign: async (kid) => {
        const { keyring } = await opened()
        return (await keyring.signerOf(kid)) !== undefined
      },
      keySet: async () => {
        const { keyring } = await opened()
        return (await keyring.publicKeys()).filter(({ use }) => use === 'sig')
      },
    },
    openPayload: async (token, location, account) => {
      const { service } = await opened()
      return openPayload(service.verify, token, location, account)
    },
    routes:
      keys === undefined
        ? withMissingSettings(routes, ['TRILHO_CERTS_DIR or DATABASE_DSN'])
        : routes,
  }
}
