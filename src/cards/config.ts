import { dialects, framings } from '#codecs/iso8583'
import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'
import { authorizationHoursMax, connectWaitMs, connectWaitMsMax } from './networks/options.ts'

/** What the card gateway needs beside its two networks. */
export const cardSettings = defineSettings({
  databaseUrl: setting('CARDGW_DATABASE_URL', kind.databaseUrl(), {
    doc: 'PostgreSQL connection string of card transactions; `DATABASE_DSN` when not set. The database of `DATABASE_DSN` by another name is refused.',
  }),
  retentionDays: setting('CARDGW_RETENTION_DAYS', kind.integer(30, 3_650), {
    doc: 'Days after which transactions that are over are deleted with their events and reversals; a void of one is 404 then. Kept for ever when not set.',
  }),
  merchantsFile: setting('CARDGW_MERCHANTS_FILE', kind.path(), {
    doc: 'JSON file of merchants, for networks that want to know them: an array of objects with `merchant_id`, `category` (MCC), `name`, `city` and, as needed, `country` (`BR`) and `postal_code`.',
  }),
  securityModule: setting('CARDGW_SECURITY_MODULE', kind.oneOf('software', 'payshield'), {
    doc: 'Where the keys of card networks are, for those whose messages have codes or that exchange keys: `payshield`, a hardware module that takes such host commands; `software`, in this process and for trials only, which production refuses.',
  }),
  moduleAddress: setting('CARDGW_SECURITY_MODULE_ADDRESS', kind.hostPort(), {
    doc: 'Where the hardware module listens.',
  }),
  modulePoolSize: setting('CARDGW_SECURITY_MODULE_POOL_SIZE', kind.integer(1, 64), {
    default: '4',
    doc: 'TCP connections to the hardware module; each may have 64 commands under way.',
  }),
  moduleTimeoutMs: setting('CARDGW_SECURITY_MODULE_TIMEOUT_MS', kind.integer(10, 30_000), {
    default: '2000',
    doc: 'Milliseconds one of its commands may take, with the connection it may need.',
  }),
  moduleTls: setting('CARDGW_SECURITY_MODULE_TLS', kind.boolean(), {
    default: 'false',
    doc: 'Connects to it with TLS.',
  }),
  moduleTlsCa: setting('CARDGW_SECURITY_MODULE_TLS_CA_PATH', kind.pem(), {
    doc: 'Authorities its certificate comes from; the public ones when not set.',
  }),
  moduleTlsCertificate: setting('CARDGW_SECURITY_MODULE_TLS_CERT_PATH', kind.pem(), {
    doc: 'Client certificate of mutual TLS towards it.',
  }),
  moduleTlsKey: setting('CARDGW_SECURITY_MODULE_TLS_KEY_PATH', kind.pem(), {
    doc: 'Private key of that certificate.',
  }),
  networksFile: setting('CARDGW_NETWORKS_FILE', kind.path(), {
    doc: 'JSON file of further card networks: an array of objects with `name`, `brand`, `host`, `prefixes` and, as needed, `port`, `pool_size`, `timeout_seconds`, `dialect` (a name or a whole dialect), `frame`, `tpdu`, `window`, `sign_on`, `echo_seconds`, `connect_wait_ms`, `authorization_hours`, `installments`, `answers`, `content`, `security`, `advices`, `reconciliation`, `tls` (`ca_path`, `cert_path`, `key_path`).',
  }),
})

export type CardSettings = SettingValues<typeof cardSettings>

const prefixes = () =>
  kind.list(
    kind.text({
      pattern: /^\d{1,8}(-\d{1,8})?$/,
      expected: 'card number prefix or range, `51-55`',
    }),
  )

/** Kind, destination and source of the network: `60`, the NII as four digits, four zeros. */
export const tpduForm = /^[0-9A-Fa-f]{10}$/

type NetworkDefaults = {
  readonly letter: string
  readonly brand: string
  readonly prefixes: string
}

/** Networks speak version 1987 so far. */
const dialectNames = () =>
  Object.values(dialects)
    .filter(({ version }) => version === '1987')
    .map(({ name }) => name)

/** The settings of one network; `name` is `CARDGW_NETA`. */
const networkSettings = (name: string, { letter, brand, prefixes: cards }: NetworkDefaults) =>
  defineSettings({
    host: setting(`${name}_HOST`, kind.text({ pattern: /^[A-Za-z0-9._:-]{1,253}$/ }), {
      doc: `ISO 8583 host of network ${letter}; without it there is no such network.`,
    }),
    port: setting(`${name}_PORT`, kind.integer(1, 65_535), {
      default: '10000',
      doc: `TCP port of network ${letter}.`,
    }),
    poolSize: setting(`${name}_POOL_SIZE`, kind.integer(1, 64), {
      default: '5',
      doc: `TCP connections in the pool for network ${letter}.`,
    }),
    timeoutSeconds: setting(`${name}_TIMEOUT`, kind.integer(1, 300), {
      default: '30',
      doc: 'Timeout per message, seconds.',
    }),
    brand: setting(
      `${name}_BRAND`,
      kind.text({ pattern: /^[a-z][a-z0-9_]{0,31}$/, expected: 'lower-case name' }),
      { default: brand, doc: 'Name of the network as callers see it.' },
    ),
    prefixes: setting(`${name}_PREFIXES`, prefixes(), {
      default: cards,
      doc: 'Card numbers that go to it: prefixes and ranges of prefixes; the longest decides.',
    }),
    dialect: setting(`${name}_DIALECT`, kind.oneOf(...dialectNames()), {
      default: 'ascii',
      doc: 'Dialect of ISO 8583.',
    }),
    frame: setting(
      `${name}_FRAME`,
      kind.oneOf(...(Object.keys(framings) as (keyof typeof framings)[])),
      { default: 'binary-2', doc: 'How a message is cut from the stream.' },
    ),
    tpdu: setting(
      `${name}_TPDU`,
      kind.text({ pattern: tpduForm, expected: 'ten hexadecimal digits, `6001230000`' }),
      {
        doc: 'TPDU before each message, in any frame: `60`, the NII of the network, that of the gateway.',
      },
    ),
    messagesFile: setting(`${name}_MESSAGES_FILE`, kind.path(), {
      doc: 'JSON file of what its messages say: an object with `content` and, as needed, `dialect` (in place of the setting), `answers`, `installments`, `security`, as an entry of the networks file has them.',
    }),
    connectWaitMs: setting(`${name}_CONNECT_WAIT_MS`, kind.integer(0, connectWaitMsMax), {
      default: String(connectWaitMs),
      doc: 'Milliseconds a request waits for a connection while none is up.',
    }),
    authorizationHours: setting(
      `${name}_AUTHORIZATION_HOURS`,
      kind.integer(1, authorizationHoursMax),
      {
        doc: 'Hours after which what is authorized and not captured is released by a reversal; never when not set. Not where authorizations are sales.',
      },
    ),
    window: setting(`${name}_WINDOW`, kind.integer(1, 65_535), {
      default: '256',
      doc: 'Requests that may wait on one connection; more are refused at once.',
    }),
    signOn: setting(`${name}_SIGN_ON`, kind.boolean(), {
      default: 'false',
      doc: 'Signs on (0800, DE 70 001) before any traffic, and off (002) before closing.',
    }),
    echoSeconds: setting(`${name}_ECHO_SECONDS`, kind.integer(0, 3_600), {
      default: '30',
      doc: 'Silence of the network after which an echo test is sent; two without answer end the connection. 0: none is sent.',
    }),
    tls: setting(`${name}_TLS`, kind.boolean(), { default: 'false', doc: 'Connects with TLS.' }),
    tlsCa: setting(`${name}_TLS_CA_PATH`, kind.pem(), {
      doc: 'Authorities its certificate comes from; the public ones when not set.',
    }),
    tlsCertificate: setting(`${name}_TLS_CERT_PATH`, kind.pem(), {
      doc: 'Client certificate of mutual TLS.',
    }),
    tlsKey: setting(`${name}_TLS_KEY_PATH`, kind.pem(), {
      doc: 'Private key of that certificate.',
    }),
  })

export const networkASettings = networkSettings('CARDGW_NETA', {
  letter: 'A',
  brand: 'visa',
  prefixes: '4',
})
export const networkBSettings = networkSettings('CARDGW_NETB', {
  letter: 'B',
  brand: 'mastercard',
  prefixes: '51-55',
})

export type NetworkSettings = SettingValues<typeof networkASettings>
