import { migrations } from '../drizzle/index.ts'
import manifest from '../package.json' with { type: 'json' }
import {
  cardProblems,
  cardSettings,
  createCardNetworks,
  createCards,
  iso8583Inspector,
  networkASettings,
  networkBSettings,
  reversalSettings,
  vaultSettings,
} from './cards/index.ts'
import { certificateSettings, createCertificates } from './certificates/index.ts'
import { type PlatformDeps, type Program, runCli } from './cli/index.ts'
import { createDrex, createDrexWithoutDatabase, drexSettings } from './drex/index.ts'
import { createJose, joseSettings } from './jose/index.ts'
import { createAudit } from './platform/audit/index.ts'
import { createKeyTable } from './platform/auth/index.ts'
import {
  brokerProblems,
  brokerSettings,
  createBrokerFeature,
  openBroker,
  type TransactionalBroker,
} from './platform/broker/index.ts'
import {
  type Environment,
  type LoadedSettings,
  loadSettings,
  platformSettings,
  type SettingProblem,
} from './platform/config/index.ts'
import {
  createDatabaseFeature,
  type Database,
  databaseSettings,
  openDatabase,
} from './platform/database/index.ts'
import { createIdempotencySweep } from './platform/idempotency/index.ts'
import type { Feature, Inspector } from './platform/lifecycle/index.ts'
import { createSealer, type Sealer } from './platform/sealing/index.ts'
import type { Logger } from './platform/telemetry/index.ts'
import { createTlsMaterial } from './platform/tls/index.ts'
import { createTracing } from './platform/tracing/index.ts'
import { brCodeInspector, createQrcodes } from './qrcodes/index.ts'
import {
  createCatalogue,
  createGrpc,
  createInterfaceClient,
  createMessages,
  createOutbound,
  createPull,
  createSchemas,
  createSend,
  createTransform,
  createWorker,
  grpcProblems,
  grpcSettings,
  type InterfaceClient,
  interfaceSettings,
  iso20022Inspector,
  type OutboundFeature,
  outboundSettings,
  pullSettings,
  rsfnInspector,
  schemaSettings,
  signingSettings,
  spiProblems,
  spiSettings,
  workerSettings,
} from './spi/index.ts'
import { createWebhooks, emitEvents, webhookSettings } from './webhooks/index.ts'

/** Every feature's settings: one line per feature. */
const settingGroups = {
  platform: platformSettings,
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
  drex: drexSettings,
  cards: cardSettings,
  networkA: networkASettings,
  networkB: networkBSettings,
  vault: vaultSettings,
  reversals: reversalSettings,
}

const settingTitles: Readonly<Record<keyof typeof settingGroups, string>> = {
  platform: 'Platform',
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
  drex: 'Digital currency',
  cards: 'Cards',
  networkA: 'Cards: network A',
  networkB: 'Cards: network B',
  vault: 'Cards: token vault',
  reversals: 'Cards: reversals',
}

type Values = LoadedSettings<typeof settingGroups>['values']

/** The shared database, opened but not connected; undefined when none is configured. */
const openSharedDatabase = (
  { database: settings, platform }: Values,
  { logger, metrics }: PlatformDeps,
): Database | undefined =>
  settings.dsn === undefined
    ? undefined
    : openDatabase({
        dsn: settings.dsn,
        connectionsMax: settings.connectionsMax,
        statementTimeoutMs: settings.statementTimeoutSeconds * 1000,
        isTraced: platform.otlpEndpoint !== undefined,
        logger,
        metrics,
      })

const databaseFeatures = (
  { database: settings }: Values,
  database: Database,
  logger: Logger,
): readonly Feature[] => {
  const { dsn = '', migrateOnStart, idempotencyHours: retentionHours } = settings
  return [
    createDatabaseFeature({ name: 'database', dsn, database, migrations, migrateOnStart, logger }),
    createIdempotencySweep({ sql: database.sql, retentionHours, logger }),
    createKeyTable({
      sql: database.sql,
      onProblem: (err) => logger.warn({ err }, 'last uses of keys were not written'),
    }),
  ]
}

const sealerOf = ({ platform }: Values): Sealer | undefined => {
  const { masterKey, previousMasterKey } = platform
  if (masterKey === undefined) return undefined
  return createSealer(masterKey, previousMasterKey === undefined ? [] : [previousMasterKey])
}

/** The only place where features meet: one line per feature, in the order of starting. */
const createFeatures = (values: Values, deps: PlatformDeps): readonly Feature[] => {
  const { logger, metrics } = deps
  const database = openSharedDatabase(values, deps)
  const { brokerAddresses: addresses } = values.platform
  const { dsn = '' } = values.database
  const broker =
    database &&
    openBroker({ addresses, settings: values.broker, sql: database.sql, dsn, logger, metrics })
  if (addresses !== undefined && database === undefined) {
    logger.warn({}, 'BROKER_ADDRESSES has no effect without DATABASE_DSN')
  }
  const certificates = createCertificates({
    folder: values.certificates.folder,
    sql: database?.sql,
    masterKey: values.platform.masterKey,
    previousMasterKey: values.platform.previousMasterKey,
    environment: values.platform.environment,
    logger,
    metrics,
  })
  const schemas = createSchemas({ settings: values.schemas, logger })
  const transform = createTransform({ metrics, catalogue: schemas.catalogue })
  const cardDatabase = openCardDatabase(values, logger)
  const cards = cardFeatures(values, cardDatabase?.database ?? database, deps)
  const databases = [database, cardDatabase?.database].filter((one) => one !== undefined)
  return [
    createTracing(values.platform, logger),
    ...(database === undefined ? [] : databaseFeatures(values, database, logger)),
    ...(cardDatabase?.features ?? []),
    createAudit({ databases: databases.map(({ sql }) => sql), logger }),
    ...(broker === undefined ? [] : [createBrokerFeature(broker, logger)]),
    certificates,
    createJose({ keys: certificates.keys, settings: values.jose }),
    schemas,
    transform,
    createMessages({ sql: database?.sql, logger }),
    createQrcodes(),
    createWebhooks({
      sql: database?.sql,
      broker,
      sealer: sealerOf(values),
      settings: values.webhooks,
      environment: values.platform.environment,
      version: deps.version,
      logger,
      metrics,
    }),
    ...pipeline(values, database, broker, deps),
    digitalCurrency(values, database, deps),
    ...cards,
    createGrpc({
      ...deps,
      settings: values.grpc,
      run: transform.run,
      stopTimeoutMs: values.platform.stopTimeoutSeconds * 1000,
    }),
  ]
}

/** The stages of SPI_ROLES and what they share: the client of the message interface. */
const pipeline = (
  values: Values,
  database: Database | undefined,
  broker: TransactionalBroker | undefined,
  deps: PlatformDeps,
): readonly Feature[] => {
  const { spi, schemas, worker, pull } = values
  const { ispb } = spi
  const { logger, metrics } = deps
  const client = openInterface(values, deps)
  const missing = [
    ...(ispb === undefined ? ['ISPB'] : []),
    ...(spi.primaryUrl === undefined ? ['SPI_PRIMARY_URL'] : []),
  ]
  const stages: Feature[] = [createCatalogue({ client, missing })]
  const runs = new Set(spi.roles)
  const outbound = openOutbound(values, { database, broker, client }, deps)
  const sendNow = spi.syncEnabled ? outbound?.sendNow : undefined
  const { revision } = schemas
  const sql = database?.sql
  stages.push(createSend({ ispb, sql, broker, revision, sendNow, logger }))
  if (broker === undefined || database === undefined) return stages
  if (runs.has('WORKER')) {
    const { sql } = database
    stages.push(
      createWorker({ sql, broker, settings: worker, ispb, revision, emitEvents, logger, metrics }),
    )
  }
  if (client === undefined) return stages
  if (outbound !== undefined) stages.push(outbound)
  if (runs.has('INBOUND_PULL')) {
    stages.push(createPull({ client, broker, settings: pull, logger, metrics }))
  }
  return stages
}

/** What signs and sends: the stage, and the fast path of requests where it is enabled. */
const openOutbound = (
  { spi, outbound: settings, signing }: Values,
  {
    database,
    broker,
    client,
  }: {
    readonly database: Database | undefined
    readonly broker: TransactionalBroker | undefined
    readonly client: InterfaceClient | undefined
  },
  { logger, metrics }: PlatformDeps,
): OutboundFeature | undefined => {
  const runsStage = spi.roles?.includes('OUTBOUND_SEND') === true
  if (database === undefined || broker === undefined || client === undefined) return undefined
  if (!runsStage && !spi.syncEnabled) return undefined
  const { sql } = database
  const common = { sql, broker, client, emitEvents, logger, metrics }
  return createOutbound({ ...common, settings, signing, runsStage })
}

/** Undefined where the institution or both channels are not configured. */
const openInterface = (
  { spi, interface: settings }: Values,
  { logger, metrics }: PlatformDeps,
): InterfaceClient | undefined => {
  const { ispb, primaryUrl, secondaryUrl, certificate, key, ca } = spi
  if (ispb === undefined || (primaryUrl ?? secondaryUrl) === undefined) return undefined
  const tls = createTlsMaterial({ certificate, key, ca }, (err) =>
    logger.error({ err }, 'new certificates of the message interface cannot be used'),
  )
  tls.watch()
  const urls = { PRIMARY: primaryUrl, SECONDARY: secondaryUrl }
  return createInterfaceClient({ ispb, urls, tls, settings, logger, metrics })
}

/** Undefined when card transactions are in the shared database. */
const cardDatabaseDsn = ({ cards, database }: Values): string | undefined =>
  cards.databaseUrl === database.dsn ? undefined : cards.databaseUrl

/** The database of card transactions alone; its metrics would have the names of the shared one's. */
const openCardDatabase = (
  values: Values,
  logger: Logger,
): { readonly database: Database; readonly features: readonly Feature[] } | undefined => {
  const { database: settings, platform } = values
  const dsn = cardDatabaseDsn(values)
  if (dsn === undefined) return undefined
  const { connectionsMax, statementTimeoutSeconds, idempotencyHours, migrateOnStart } = settings
  const database = openDatabase({
    ...{ dsn, connectionsMax, logger },
    statementTimeoutMs: statementTimeoutSeconds * 1000,
    isTraced: platform.otlpEndpoint !== undefined,
  })
  const name = 'cards_database'
  return {
    database,
    features: [
      createDatabaseFeature({ name, dsn, database, migrations, migrateOnStart, logger }),
      createIdempotencySweep({ sql: database.sql, retentionHours: idempotencyHours, logger }),
    ],
  }
}

/** The card networks, and the gateway above them. */
const cardFeatures = (
  values: Values,
  database: Database | undefined,
  { cardsLogger: logger, metrics }: PlatformDeps,
): readonly Feature[] => {
  const { cards: settings, networkA, networkB, vault, reversals } = values
  const networks = createCardNetworks({ settings, networkA, networkB, logger, metrics })
  const sql = database?.sql
  return [
    networks.feature,
    createCards({ sql, networks, settings: { ...settings, vault, reversals }, logger, metrics }),
  ]
}

const digitalCurrency = (
  values: Values,
  database: Database | undefined,
  { logger, metrics }: PlatformDeps,
): Feature => {
  if (database === undefined) return createDrexWithoutDatabase()
  const { drex: settings, platform } = values
  const { masterKey, previousMasterKey } = platform
  return createDrex({
    settings,
    sql: database.sql,
    sealer: sealerOf(values),
    isRotating: masterKey !== undefined && previousMasterKey !== undefined,
    emitEvents,
    logger,
    metrics,
  })
}

/** What `trilho inspect` can explain, the surest test first. */
const inspectors: readonly Inspector[] = [
  iso20022Inspector,
  rsfnInspector,
  brCodeInspector,
  iso8583Inspector,
]

/** What no single setting can say. */
const jointProblems = (values: Values): readonly SettingProblem[] => {
  const { broker, grpc, spi, database } = values
  return [
    ...brokerProblems(broker),
    ...grpcProblems(grpc),
    ...spiProblems(spi, database.dsn),
    ...cardProblems(values),
  ]
}

const program: Program = {
  version: manifest.version,
  settingGroups: Object.entries(settingGroups).map(([name, settings]) => ({
    title: settingTitles[name as keyof typeof settingGroups],
    settings,
  })),
  inspectors,
  migrations,
  load: (env: Environment) => {
    const loaded = loadSettings(settingGroups, env)
    return {
      ...loaded,
      problems: loaded.problems.length > 0 ? loaded.problems : jointProblems(loaded.values),
      platform: loaded.values.platform,
      databases: [loaded.values.database.dsn, cardDatabaseDsn(loaded.values)].filter(
        (dsn) => dsn !== undefined,
      ),
      createFeatures: (deps) => createFeatures(loaded.values, deps),
    }
  },
}

// Always an explicit exit: a forgotten handle must not keep a stopped process alive.
process.exit(
  await runCli(
    process.argv.slice(2),
    {
      env: process.env,
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
      readInput: () => Bun.stdin.bytes(),
    },
    program,
  ),
)
