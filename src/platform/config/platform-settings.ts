import { logFormats, logLevels } from '../observe/index.ts'
import { accountForm, defaultAccount } from '../security/keys/api-key.ts'
import { masterKey } from '../security/sealing/master-key.ts'
import * as kind from './kinds.ts'
import { defineSettings, type SettingValues, setting } from './settings.ts'

/** The roles that a process may have; it has all unless a setting names some. */
export const processRoles = [
  'api',
  'grpc',
  'pull',
  'worker',
  'send',
  'cards',
  'webhooks',
  'drex',
  'jobs',
] as const
export type ProcessRole = (typeof processRoles)[number]

const ratePerSecondMax = 100_000
const concurrencyMax = 100_000

/** A header in lower case that neither gRPC nor HTTP/2 uses itself. */
const otlpHeaderName = /^(?!grpc-|(?:te|host|connection|content-type|content-length)$)[0-9a-z._-]+$/

/** What the process itself needs, whichever features run. */
export const platformSettings = defineSettings({
  httpAddr: setting('HTTP_ADDR', kind.listenAddress(), {
    default: ':8080',
    doc: 'HTTP listen address for instant payments, digital currency and the shared endpoints.',
  }),
  cardgwPort: setting('CARDGW_PORT', kind.integer(0, 65_535), {
    default: '8080',
    doc: 'HTTP port for cards, on the host of `HTTP_ADDR`; the same port gives one listener for all.',
  }),
  adminAddr: setting('TRILHO_ADMIN_ADDR', kind.listenAddress(), {
    doc: 'Listen address for health, readiness, metrics, documents and the web console, which the listeners of payments then do not serve. The console makes payments: with `TRILHO_TLS_CLIENT_CA_PATH` it stays at `HTTP_ADDR`, which asks for the certificate.',
  }),
  pixAddr: setting('PIX_API_ADDR', kind.listenAddress(), {
    doc: 'Listen address for the API Pix, `/pix/v2` and its `/oauth/token`, which `HTTP_ADDR` then does not serve.',
  }),
  trustedProxies: setting('TRILHO_TRUSTED_PROXIES', kind.list(kind.network()), {
    doc: 'Addresses and networks of the proxies before the gateway: for keys that are restricted to addresses, the caller is then the last one of `X-Forwarded-For` that is none of them.',
  }),
  certificate: setting('TRILHO_TLS_CERT_PATH', kind.pem(), {
    doc: 'Certificate chain of the listeners of `HTTP_ADDR` and `CARDGW_PORT`, which then serve HTTPS; read again when it changes.',
  }),
  key: setting('TRILHO_TLS_KEY_PATH', kind.pem(), { doc: 'Private key of that certificate.' }),
  clientCa: setting('TRILHO_TLS_CLIENT_CA_PATH', kind.pem(), {
    doc: 'Authorities of client certificates; when set, clients must have one, besides their API key.',
  }),
  adminTls: setting('TRILHO_ADMIN_TLS', kind.boolean(), {
    default: 'false',
    doc: 'Serves that certificate at `TRILHO_ADMIN_ADDR` too; nobody is asked for a client certificate there.',
  }),
  ratePerKey: setting('TRILHO_RATE_KEY', kind.integer(0, ratePerSecondMax), {
    default: '0',
    doc: 'Requests a second that an API key may make, unless `trilho keys` gave it a rate of its own; twice as many at once. `0`: no limit.',
  }),
  ratePerAccount: setting('TRILHO_RATE_ACCOUNT', kind.integer(0, ratePerSecondMax), {
    default: '0',
    doc: 'Requests a second that all keys of an account may make together; twice as many at once. `0`: no limit.',
  }),
  concurrencySpi: setting('TRILHO_CONCURRENCY_SPI', kind.integer(1, concurrencyMax), {
    default: '1000',
    doc: 'Requests of instant payments that this process runs at once; more are answered 503 at once.',
  }),
  concurrencyCards: setting('TRILHO_CONCURRENCY_CARDS', kind.integer(1, concurrencyMax), {
    default: '1000',
    doc: 'Requests of cards that this process runs at once; more are answered 503 at once. Each waits for its card network.',
  }),
  concurrencyDrex: setting('TRILHO_CONCURRENCY_DREX', kind.integer(1, concurrencyMax), {
    default: '1000',
    doc: 'Requests of digital currency that this process runs at once; more are answered 503 at once.',
  }),
  roles: setting('TRILHO_ROLES', kind.list(kind.oneOf(...processRoles)), {
    doc: 'What this process does: `api` (endpoints, without cards), `grpc`, `pull`, `worker` and `send` (the stages of instant payments, unless `SPI_ROLES` names them), `cards` (endpoints, networks, reversals), `webhooks` (delivery), `drex` (sending and following transactions), `jobs` (partitions, retention). Everything when not set, but of the stages what `SPI_ROLES` names.',
  }),
  logLevel: setting('LOG_LEVEL', kind.oneOf(...logLevels), {
    default: 'info',
    doc: 'Least level logged.',
  }),
  cardgwLogLevel: setting('CARDGW_LOG_LEVEL', kind.oneOf(...logLevels), {
    default: 'info',
    doc: 'Least level logged by the card gateway.',
  }),
  cardgwLogFormat: setting('CARDGW_LOG_FORMAT', kind.oneOf(...logFormats), {
    default: 'json',
    doc: 'Form of the card gateway\u2019s log lines.',
  }),
  metricsEnabled: setting('METRICS_ENABLED', kind.boolean(), {
    default: 'true',
    doc: 'Serves `/metrics`.',
  }),
  apiKeysFile: setting('API_KEYS_FILE', kind.path(), {
    doc: 'JSON file of API keys (hashes only), read again when it changes; see `trilho keys`.',
  }),
  masterKey: setting('TRILHO_MASTER_KEY', masterKey(), {
    doc: 'Seals private keys and webhook secrets kept in the database; production refuses a database without it.',
  }),
  previousMasterKey: setting('TRILHO_MASTER_KEY_PREVIOUS', masterKey(), {
    doc: 'The master key before the last rotation: opens what it sealed, seals nothing.',
  }),
  environment: setting('TRILHO_ENVIRONMENT', kind.oneOf('sandbox', 'production'), {
    default: 'sandbox',
    doc: '`production` refuses to start with what is only fit for trials, such as a database without a master key. It takes `trl_live_` keys only, `sandbox` `trl_test_` keys only.',
  }),
  institutionAccounts: setting(
    'TRILHO_INSTITUTION_ACCOUNTS',
    kind.list(kind.text({ pattern: accountForm, expected: 'an account\u2019s name' })),
    {
      default: defaultAccount,
      doc: 'Accounts that are the institution itself: their keys send and see instant payments, certificates, the audit log and what operators decide; to those of other accounts it is not there.',
    },
  ),
  brokerAddresses: setting('BROKER_ADDRESSES', kind.list(kind.hostPort()), {
    doc: 'Message broker addresses.',
  }),
  otlpEndpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', kind.urlOrHostPort('http', 'https'), {
    doc: 'Trace collector address.',
  }),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    kind.pairs({ isSecret: true, name: otlpHeaderName, value: /^[ -~]*$/ }),
    {
      doc: 'Headers of every export, such as the key that a collector asks for.',
    },
  ),
  otlpCa: setting('OTEL_EXPORTER_OTLP_CERTIFICATE', kind.pem(), {
    doc: 'Authorities the collector\u2019s certificate comes from; the public ones when not set. A change of the file counts from the next connection on.',
  }),
  resourceAttributes: setting('OTEL_RESOURCE_ATTRIBUTES', kind.pairs(), {
    doc: 'Attributes of everything exported, such as `deployment.environment.name=production`; name and version of the service have settings of their own.',
  }),
  serviceName: setting('OTEL_SERVICE_NAME', kind.text(), {
    default: 'trilho',
    doc: 'Service name used in traces.',
  }),
  serviceVersion: setting('OTEL_SERVICE_VERSION', kind.text(), {
    default: '0.1.0',
    doc: 'Service version used in traces.',
  }),
  samplingRatio: setting('OTEL_TRACES_SAMPLER_ARG', kind.decimal(0, 1), {
    default: '1',
    doc: 'Share of the traces that begin here which are kept; a decision of the caller is followed.',
  }),
  drainSeconds: setting('TRILHO_DRAIN_SECONDS', kind.integer(0, 300), {
    default: '5',
    doc: 'Seconds that a process goes on serving after SIGTERM while `/ready` answers 503: longer than load balancers take to notice.',
  }),
  stopTimeoutSeconds: setting('TRILHO_STOP_TIMEOUT', kind.integer(1, 600), {
    default: '20',
    doc: 'Seconds a stop may take, after the time to drain, before what still runs is cut off.',
  }),
  stallSeconds: setting('TRILHO_STALL_SECONDS', kind.integer(0, 3_600), {
    default: '60',
    doc: 'Seconds after which a queue or loop with work at hand and no progress makes `/ready` answer 503; longer than one try may take. `0`: never.',
  }),
})

export type PlatformSettings = SettingValues<typeof platformSettings>
