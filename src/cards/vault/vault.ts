import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'
import type { HealthCheck } from '#src/platform/http/index.ts'
import { watchReach } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import {
  type CertificateUse,
  createFileMaterial,
  type KeyMaterial,
  usedFiles,
  warnOfClearText,
} from '#src/platform/security/index.ts'
import { createHttpVault } from './http-vault.ts'
import type { Vault } from './types.ts'

/** The token vault, which alone knows card numbers. */
export const vaultSettings = defineSettings({
  url: setting('CARDGW_VAULT_URL', kind.url('https', 'http'), {
    doc: 'Token vault; `POST /resolve` below it turns a card token into the card number. Needed by the card endpoints.',
  }),
  token: setting('CARDGW_VAULT_TOKEN', kind.secret(), {
    doc: 'Bearer token towards the vault.',
  }),
  certificate: setting('CARDGW_VAULT_CERT_PATH', kind.pem(), {
    doc: 'Client certificate of mutual TLS towards the vault.',
  }),
  key: setting('CARDGW_VAULT_KEY_PATH', kind.pem(), { doc: 'Private key of that certificate.' }),
  ca: setting('CARDGW_VAULT_CA_PATH', kind.pem(), {
    doc: 'Authorities the vault\u2019s certificate comes from; the public ones when not set.',
  }),
  timeoutMs: setting('CARDGW_VAULT_TIMEOUT_MS', kind.integer(10, 60_000), {
    default: '2000',
    doc: 'Milliseconds one call of the vault may take.',
  }),
})

export type VaultSettings = SettingValues<typeof vaultSettings>

/** The vault from the settings, and the watch over its TLS files. */
export type ConfiguredVault = Vault & {
  /** What it connects with. */
  readonly certificates: readonly CertificateUse[]
  /** Starts to watch its TLS files, and whether it is there. */
  readonly start: () => void
  readonly stop: () => Promise<void>
  readonly health: () => HealthCheck
}

/**
 * Undefined if no vault is configured.
 *
 * @throws KeyMaterialError if certificate and key cannot be used
 */
export const createVault = (
  settings: VaultSettings,
  logger: Logger,
): ConfiguredVault | undefined => {
  const { url, token, timeoutMs } = settings
  if (url === undefined) return undefined
  const material = materialOf(settings, logger)
  const tls = material === undefined ? undefined : () => material.current()
  const reach = watchReach({ name: 'token vault', url, tls, logger })
  const { resolve, close } = createHttpVault({ url, token, timeoutMs, tls })
  return {
    resolve,
    certificates: usedFiles('token_vault', material),
    start: () => {
      warnOfClearText(logger, 'CARDGW_VAULT_URL', url, 'card numbers')
      material?.watch()
      reach.start()
    },
    stop: async () => {
      material?.stop()
      close()
      await reach.stop()
    },
    health: () => ({
      status: reach.isAway() ? 'down' : 'ok',
      // Requests that need a card number get 503; what is stored can be read, and reversals wait.
      ready: true,
      detail: { vault: reach.isAway() ? 'away' : 'there' },
    }),
  }
}

const materialOf = (
  { certificate, key, ca }: VaultSettings,
  logger: Logger,
): KeyMaterial | undefined =>
  certificate === undefined && key === undefined && ca === undefined
    ? undefined
    : createFileMaterial({ certificate, key, ca }, (err) =>
        logger.error({ err }, 'the new TLS files of the card vault cannot be used'),
      )
