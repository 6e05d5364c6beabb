import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'
import { allowEntry } from '#src/platform/http/index.ts'
import { isDecodable, isKeyShort, keyBytesMax, keyBytesMin } from './signing.ts'

/** A secret in the form that an endpoint's own may have. */
const signingSecret = (): ReturnType<typeof kind.secret> => {
  const text = kind.secret()
  return {
    ...text,
    expected: `secret, or \`whsec_\` and base64; in production of at least ${keyBytesMin} bytes`,
    parse: (given, path) => {
      if (!isDecodable(given)) throw new Error('is not base64 after whsec_')
      if (!isKeyShort(given)) throw new Error(`is a key of more than ${keyBytesMax} bytes`)
      return text.parse(given, path)
    },
  }
}

/** How we deliver events to subscribers. */
export const webhookSettings = defineSettings({
  secret: setting('WEBHOOK_SECRET', signingSecret(), {
    doc: 'Secret for HMAC-SHA256 signing of webhooks that have none of their own.',
  }),
  allowedTargets: setting('WEBHOOK_ALLOWED_TARGETS', kind.list(allowEntry), {
    doc: 'Private hosts and networks events may be sent to, over HTTP and any port too. All others must be public, HTTPS and on port 443.',
  }),
  certificate: setting('WEBHOOK_CERT_PATH', kind.pem(), {
    doc: 'Certificate, with its chain, that is shown to receivers that ask for one.',
  }),
  key: setting('WEBHOOK_KEY_PATH', kind.pem(), { doc: 'Private key of that certificate.' }),
  ca: setting('WEBHOOK_CA_PATH', kind.pem(), {
    doc: 'Authorities of receivers besides the public ones.',
  }),
  timeoutSeconds: setting('WEBHOOK_TIMEOUT', kind.integer(1, 60), {
    default: '15',
    doc: 'Seconds a receiver has for its answer.',
  }),
  concurrencyMax: setting('WEBHOOK_CONCURRENCY', kind.integer(1, 256), {
    default: '64',
    doc: 'Attempts that may run at once to one endpoint, per process; those to all together are at most 96.',
  }),
  retentionDays: setting('WEBHOOK_RETENTION_DAYS', kind.integer(1, 3650), {
    default: '30',
    doc: 'Days events, deliveries and attempts are kept; an event with a delivery that is still attempted for up to 14 days longer.',
  }),
  sequenceDays: setting('WEBHOOK_SEQUENCE_RETENTION_DAYS', kind.integer(30, 36_500), {
    default: '400',
    doc: 'Days without an event after which the numbers of a subject begin again at 1.',
  }),
})

export type WebhookSettings = SettingValues<typeof webhookSettings>
