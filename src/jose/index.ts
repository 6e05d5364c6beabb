import { withMissingSettings } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { JoseSettings } from './config.ts'
import { joseErrors } from './errors.ts'
import type { JoseKeySource } from './keyring.ts'
import { joseRoutes, type LoadJose } from './routes.ts'

export { joseSettings } from './config.ts'
export type { JoseCertificate, JoseKeySource } from './keyring.ts'

export type JoseDeps = {
  /** Undefined if no certificate store is configured. */
  readonly keys: JoseKeySource | undefined
  readonly settings: JoseSettings
}

/** Signs and encrypts JOSE with the keys of the certificate store. */
export const createJose = ({ keys, settings }: JoseDeps): Feature => {
  const none: JoseKeySource = { list: async () => [], readKey: async () => undefined }
  let loaded: ReturnType<LoadJose> | undefined
  const load = async (): ReturnType<LoadJose> => {
    const [{ createKeyring }, { createJoseService }] = await Promise.all([
      import('./keyring.ts'),
      import('./service.ts'),
    ])
    const keyring = createKeyring(keys ?? none, settings.algorithms ?? [])
    return { service: createJoseService(keyring), keyring }
  }
  const routes = joseRoutes(() => {
    loaded ??= load()
    return loaded
  })
  return {
    name: 'jose',
    errors: joseErrors,
    routes:
      keys === undefined
        ? withMissingSettings(routes, ['TRILHO_CERTS_DIR or DATABASE_DSN'])
        : routes,
  }
}
