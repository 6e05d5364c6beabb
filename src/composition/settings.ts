import {
  cardProblems,
  cardSettings,
  networkASettings,
  networkBSettings,
  reversalSettings,
  vaultSettings,
} from '../cards/index.ts'
import { certificateSettings } from '../certificates/index.ts'
import { consoleSettings } from '../console/index.ts'
import { dictSettings } from '../dict/index.ts'
import { drexSettings } from '../drex/index.ts'
import { joseSettings } from '../jose/index.ts'
import { pixSettings } from '../pix/index.ts'
import { brokerProblems, brokerSettings } from '../platform/broker/index.ts'
import {
  type LoadedSettings,
  platformSettings,
  type SettingGroup,
  type SettingProblem,
} from '../platform/config/index.ts'
import { databaseSettings } from '../platform/database/index.ts'
import { outsideSettings } from '../platform/http/index.ts'
import { hasTls, isReadableOnTheWay, listenerTlsProblems } from '../platform/security/index.ts'
import {
  grpcProblems,
  grpcSettings,
  interfaceSettings,
  outboundSettings,
  pullSettings,
  schemaSettings,
  signingProblems,
  signingSettings,
  spiProblems,
  spiSettings,
  spiStages,
  workerSettings,
} from '../spi/index.ts'
import { isKeyLong, webhookSettings } from '../webhooks/index.ts'
import { listenerProblems } from './listeners.ts'

/** Every feature's settings: one line per feature. */
export const settingGroups = {
  platform: platformSettings,
  console: consoleSettings,
  outside: outsideSettings,
  database: databaseSettings,
  broker: brokerSettings,
  spi: spiSettings,
  grpc: grpcSettings,
  schemas: schemaSettings,
  signing: signingSettings,
  interface: interfaceSettings,
  outbound: outboundSettings,
  pull: pullSettings,
  worker: workerSettings,
  webhooks: webhookSettings,
  certificates: certificateSettings,
  jose: joseSettings,
  pix: pixSettings,
  dict: dictSettings,
  drex: drexSettings,
  cards: cardSettings,
  networkA: networkASettings,
  networkB: networkBSettings,
  vault: vaultSettings,
  reversals: reversalSettings,
}

const settingTitles: Readonly<Record<keyof typeof settingGroups, string>> = {
  platform: 'Platform',
  console: 'Web console',
  outside: 'Documents from outside',
  database: 'Database',
  broker: 'Broker',
  spi: 'Instant payments',
  grpc: 'Instant payments: gRPC',
  schemas: 'Instant payments: schemas',
  signing: 'Instant payments: signing',
  interface: 'Instant payments: message interface',
  outbound: 'Instant payments: sending',
  pull: 'Instant payments: receiving',
  worker: 'Instant payments: received messages',
  webhooks: 'Webhooks',
  certificates: 'Certificates',
  jose: 'JOSE',
  pix: 'API Pix',
  dict: 'Directory of Pix keys',
  drex: 'Digital currency',
  cards: 'Cards',
  networkA: 'Cards: network A',
  networkB: 'Cards: network B',
  vault: 'Cards: token vault',
  reversals: 'Cards: reversals',
}

/** The values of the settings, parsed and bounded. */
export type Values = LoadedSettings<typeof settingGroups>['values']

/** The same groups under their titles, in the order of the documentation. */
export const titledGroups: readonly { readonly title: string; readonly settings: SettingGroup }[] =
  Object.entries(settingGroups).map(([name, settings]) => ({
    title: settingTitles[name as keyof typeof settingGroups],
    settings,
  }))

/** Problems that no single setting shows. */
export const jointProblems = (values: Values): readonly SettingProblem[] => {
  const { broker, grpc, spi, database, platform } = values
  const { brokerAddresses } = platform
  return [
    ...listenerTlsProblems('TRILHO_TLS', platform),
    ...adminTlsProblems(platform),
    ...listenerProblems(values),
    ...brokerProblems(broker),
    ...grpcProblems(grpc),
    ...spiProblems(spi, { roles: platform.roles, dsn: database.dsn, brokerAddresses }),
    ...signingProblems(values.signing),
    ...sourceProblems(values),
    ...trialProblems(values),
    ...cardProblems(values),
  ]
}

const adminTlsProblems = (platform: Values['platform']): readonly SettingProblem[] =>
  platform.adminTls && !hasTls(platform)
    ? [
        {
          name: 'TRILHO_ADMIN_TLS',
          value: 'true',
          problem: 'needs a certificate',
          expected: '`true` together with TRILHO_TLS_CERT_PATH',
          fix: 'set TRILHO_TLS_CERT_PATH and TRILHO_TLS_KEY_PATH',
        },
      ]
    : []

/** Settings that are only fit for trials, but stand in production. */
const trialProblems = (values: Values): readonly SettingProblem[] => {
  const { platform, database, worker, cards, dict, spi, webhooks } = values
  const isKeyless = database.dsn !== undefined && platform.masterKey === undefined
  return platform.environment === 'production'
    ? [
        ...(isKeyless ? [unsealed] : []),
        ...(worker.autoAccept ? [autoAccepted] : []),
        ...(webhooks.secret === undefined || isKeyLong(webhooks.secret) ? [] : [guessable]),
        ...clearChannels(spi),
        ...(believesAnybody(values) ? [unsigned] : []),
        ...(cards.securityModule === 'software' ? [softwareKeys] : []),
        ...(dict.url !== undefined && dict.trustedCertificates === undefined ? [unchecked] : []),
      ]
    : []
}

const clearChannels = ({ primaryUrl, secondaryUrl }: Values['spi']): readonly SettingProblem[] =>
  [
    { name: 'SPI_PRIMARY_URL', url: primaryUrl },
    { name: 'SPI_SECONDARY_URL', url: secondaryUrl },
  ].flatMap(({ name, url }) =>
    url !== undefined && isReadableOnTheWay(url)
      ? [
          {
            name,
            value: 'http:',
            expected: 'https, or an address of this machine',
            problem:
              'payments would pass in clear, to whoever answers, and TRILHO_ENVIRONMENT is production',
            fix: `set ${name} to the https address, with CERT_PATH, KEY_PATH and CA_PATH`,
          },
        ]
      : [],
  )

/** Whether a worker of this process would take anybody's messages for the central bank's. */
const believesAnybody = ({ spi, platform, worker }: Values): boolean =>
  spiStages(spi.roles, platform.roles).includes('WORKER') &&
  worker.trustedCertificates === undefined

const unsealed: SettingProblem = {
  name: 'TRILHO_MASTER_KEY',
  value: 'not set',
  expected: '32 random bytes beside DATABASE_DSN',
  problem:
    'private keys cannot be kept, webhook secrets only unsealed, and TRILHO_ENVIRONMENT is production',
  fix: 'set TRILHO_MASTER_KEY, the same in every process (openssl rand -base64 32)',
}

const autoAccepted: SettingProblem = {
  name: 'SPI_AUTO_ACCEPT',
  value: 'true',
  expected: '`false` in production',
  problem: 'accepts every payment without asking the ledger, and TRILHO_ENVIRONMENT is production',
  fix: 'take SPI_AUTO_ACCEPT out, and answer payments by POST /v1/spi/send',
}

const guessable: SettingProblem = {
  name: 'WEBHOOK_SECRET',
  value: 'set',
  expected: 'a key of at least 24 bytes',
  problem: 'is short enough to be found by trying, and TRILHO_ENVIRONMENT is production',
  fix: 'set WEBHOOK_SECRET to whsec_ and 32 random bytes (openssl rand -base64 32)',
}

const softwareKeys: SettingProblem = {
  name: 'CARDGW_SECURITY_MODULE',
  value: 'software',
  expected: 'a module of its own',
  problem: 'keeps the keys of card networks in clear, and TRILHO_ENVIRONMENT is production',
  fix: 'keep them in a hardware security module',
}

const unsigned: SettingProblem = {
  name: 'SPI_TRUSTED_CERTS_PATH',
  value: 'not set',
  expected: 'the certificates that the central bank signs with',
  problem: 'messages would be believed unsigned, and TRILHO_ENVIRONMENT is production',
  fix: 'set SPI_TRUSTED_CERTS_PATH wherever the worker runs',
}

const unchecked: SettingProblem = {
  name: 'DICT_URL',
  value: 'set',
  expected: 'DICT_TRUSTED_CERTS_PATH beside it',
  problem:
    'answers of the directory would be believed unsigned, and TRILHO_ENVIRONMENT is production',
  fix: 'set DICT_TRUSTED_CERTS_PATH to the certificates that the directory signs with',
}

/** A certificate from the store needs a store and an institution, and excludes certificate files. */
const sourceProblems = ({
  spi,
  signing,
  certificates,
  database,
}: Values): readonly SettingProblem[] =>
  [
    { name: 'CERT_SOURCE', of: spi, files: 'CERT_PATH and KEY_PATH' },
    {
      name: 'SPI_SIGN_CERT_SOURCE',
      of: signing,
      files: 'SPI_SIGN_CERT_PATH and SPI_SIGN_KEY_PATH',
    },
    {
      name: 'RSFN_KEY_SOURCE',
      of: {
        certificateSource: spi.rsfnKeySource,
        certificate: spi.rsfnPublicKey,
        key: spi.rsfnPrivateKey,
      },
      files: 'RSFN_PRIVATE_KEY_PATH and RSFN_PUBLIC_KEY_PATH',
    },
  ].flatMap(({ name, of, files }) => {
    if (of.certificateSource === 'files') return []
    const problem = (said: string, fix: string): SettingProblem => ({
      name,
      value: 'store',
      problem: said,
      fix,
      expected: 'a certificate store and an ISPB, without files',
    })
    return [
      ...(spi.ispb === undefined ? [problem('needs ISPB, which is not set', 'set ISPB')] : []),
      ...((certificates.folder ?? database.dsn) === undefined
        ? [problem('needs a certificate store', 'set TRILHO_CERTS_DIR or DATABASE_DSN')]
        : []),
      ...((of.certificate ?? of.key) === undefined
        ? []
        : [problem('goes with no files', `take ${files} out, or set ${name}=files`)]),
    ]
  })
