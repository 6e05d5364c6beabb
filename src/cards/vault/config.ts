import {
  defineSettings,
  integer,
  pem,
  type SettingValues,
  secret,
  setting,
  url,
} from '#src/platform/config/index.ts'

/** The token vault, which alone knows card numbers. */
export const vaultSettings = defineSettings({
  url: setting('CARDGW_VAULT_URL', url('https', 'http'), {
    doc: 'Token vault; `POST /resolve` below it turns a card token into the card number. Needed by the card endpoints.',
  }),
  token: setting('CARDGW_VAULT_TOKEN', secret(), {
    doc: 'Bearer token towards the vault.',
  }),
  certificate: setting('CARDGW_VAULT_CERT_PATH', pem(), {
    doc: 'Client certificate of mutual TLS towards the vault.',
  }),
  key: setting('CARDGW_VAULT_KEY_PATH', pem(), { doc: 'Private key of that certificate.' }),
  ca: setting('CARDGW_VAULT_CA_PATH', pem(), {
    doc: 'Authorities the vault\u2019s certificate comes from; the public ones when not set.',
  }),
  timeoutMs: setting('CARDGW_VAULT_TIMEOUT_MS', integer(10, 60_000), {
    default: '2000',
    doc: 'Milliseconds one call of the vault may take.',
  }),
})

export type VaultSettings = SettingValues<typeof vaultSettings>
