import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

/** Who signs outbound messages. */
export const signingSettings = defineSettings({
  enabled: setting('SPI_SIGN_ENABLED', kind.boolean(), {
    default: 'false',
    doc: 'XMLDSig signing in the outbound pipeline.',
  }),
  certificateSource: setting('SPI_SIGN_CERT_SOURCE', kind.oneOf('files', 'store'), {
    default: 'files',
    doc: 'Where certificate and key of native signing come from: `files`, or `store`: the latest certificate of type PIA of the ISPB.',
  }),
  certificate: setting('SPI_SIGN_CERT_PATH', kind.pem(), {
    doc: 'X.509 certificate (PEM) for native signing.',
  }),
  key: setting('SPI_SIGN_KEY_PATH', kind.pem(), {
    doc: 'RSA private key (PEM) for native signing.',
  }),
  provider: setting('SPI_SIGN_PROVIDER', kind.oneOf('auto', 'node'), {
    default: 'auto',
    doc: 'RSA of native signing: `auto` measures the system\u2019s libcrypto at start and takes it where it is faster, `node` never does.',
  }),
  serviceUrl: setting('SPI_SIGNATURE_SERVICE_URL', kind.url('https', 'http'), {
    doc: 'External XMLDSig signature service.',
  }),
  serviceCertificate: setting('SPI_SIGNATURE_SERVICE_CERT_PATH', kind.pem(), {
    doc: 'Client certificate (PEM) towards the signature service.',
  }),
  serviceKey: setting('SPI_SIGNATURE_SERVICE_KEY_PATH', kind.pem(), {
    doc: 'Key (PEM) of the client certificate towards the signature service.',
  }),
  serviceCa: setting('SPI_SIGNATURE_SERVICE_CA_PATH', kind.pem(), {
    doc: 'Authorities (PEM) the signature service\u2019s certificate must come from.',
  }),
  serviceTimeoutMs: setting('SPI_SIGNATURE_SERVICE_TIMEOUT_MS', kind.integer(10, 60_000), {
    default: '2000',
    doc: 'Milliseconds one call of the signature service may take.',
  }),
  serviceAttemptsMax: setting('SPI_SIGNATURE_SERVICE_ATTEMPTS', kind.integer(1, 10), {
    default: '3',
    doc: 'Attempts per signature before the message waits.',
  }),
})

export type SigningSettings = SettingValues<typeof signingSettings>
