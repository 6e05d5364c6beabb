import { migrations } from '../drizzle/index.ts'
import manifest from '../package.json' with { type: 'json' }
import { createCardNetworks, createCards, iso8583Inspector } from './cards/index.ts'
import { createCertificates } from './certificates/index.ts'
import { type PlatformDeps, type Program, runCli } from './cli/index.ts'
import {
  createPipeline,
  type Databases,
  databaseDsns,
  jointProblems,
  openDatabases,
  settingGroups,
  titledGroups,
  type Values,
} from './composition/index.ts'
import { createDrex, createDrexWithoutDatabase } from './drex/index.ts'
import { createJose } from './jose/index.ts'
import { createBrokerFeature, type OpenedBroker, openBroker } from './platform/broker/index.ts'
import { type Environment, loadSettings } from './platform/config/index.ts'
import type { Database } from './platform/database/index.ts'
import { createAudit } from './platform/http/index.ts'
import type { Feature } from './platform/lifecycle/index.ts'
import { createTracing } from './platform/observe/index.ts'
import { createSealer, type Sealer } from './platform/security/index.ts'
import { brCodeInspector, createQrcodes } from './qrcodes/index.ts'
import {
  createGrpc,
  createMessages,
  createSchemas,
  createTransform,
  iso20022Inspector,
  rsfnInspector,
} from './spi/index.ts'
import { createWebhooks, emitElsewhere, emitEvents, emitWithin } from './webhooks/index.ts'

/**
 * The only place where features meet. It gives each its dependencies and sets the order of starting (stopping is the
 * reverse). Anything that takes more than one call to build is in `composition/`.
 */
const createFeatures = (values: Values, deps: PlatformDeps): readonly Feature[] => {
  const { logger, metrics, version } = deps
  const { platform } = values
  const { masterKey, previousMasterKey, environment } = platform
  const databases = openDatabases(values, deps)
  const sql = databases.shared?.sql
  const opened = openSharedBroker(values, databases.shared, deps)
  const sealer = sealerOf(values)
  const certificates = createCertificates({
    ...{ sql, masterKey, previousMasterKey, environment, logger, metrics },
    folder: values.certificates.folder,
  })
  const schemas = createSchemas({ settings: values.schemas, logger })
  const transform = createTransform({ metrics, ...schemas })
  return [
    createTracing(platform, logger),
    ...databases.features,
    createAudit({ databases: databases.all.map((database) => database.sql), logger }),
    ...(opened === undefined ? [] : [createBrokerFeature(opened.broker, logger)]),
    certificates,
    createJose({ keys: certificates.keys, settings: values.jose }),
    schemas,
    transform,
    createMessages({ sql, logger }),
    createQrcodes(),
    createWebhooks({
      ...{ sql, broker: opened?.transactional, sealer, environment, version, logger, metrics },
      elsewhere: databases.all.filter((database) => database.sql !== sql).map(({ sql }) => sql),
      settings: values.webhooks,
    }),
    ...createPipeline(
      values,
      { database: databases.shared, opened, keys: certificates.keys },
      deps,
    ),
    digitalCurrency(values, databases.shared, deps),
    ...cards(values, databases, deps),
    createGrpc({
      ...deps,
      settings: values.grpc,
      run: transform.run,
      stopTimeoutMs: platform.stopTimeoutSeconds * 1000,
    }),
  ]
}

const openSharedBroker = (
  { platform, database: { dsn = '' }, broker: settings }: Values,
  database: Database | undefined,
  { logger, metrics }: PlatformDeps,
): OpenedBroker | undefined =>
  openBroker({
    addresses: platform.brokerAddresses,
    settings,
    database: database && { sql: database.sql, dsn },
    logger,
    metrics,
  })

const sealerOf = ({ platform }: Values): Sealer | undefined => {
  const { masterKey, previousMasterKey } = platform
  if (masterKey === undefined) return undefined
  return createSealer(masterKey, previousMasterKey === undefined ? [] : [previousMasterKey])
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

/** The card networks, and the gateway above them. */
const cards = (
  values: Values,
  { cards: database, shared }: Databases,
  { cardsLogger: logger, metrics }: PlatformDeps,
): readonly Feature[] => {
  const { cards: settings, networkA, networkB, vault, reversals } = values
  const networks = createCardNetworks({ settings, networkA, networkB, logger, metrics })
  const sql = database?.sql
  // Endpoints are in the shared database, so nobody can subscribe without it.
  const emission = shared === database ? emitWithin : emitElsewhere
  return [
    networks.feature,
    createCards({
      ...{ sql, networks, emission: shared && emission, logger, metrics },
      settings: { ...settings, vault, reversals },
    }),
  ]
}

const program: Program = {
  version: manifest.version,
  settingGroups: titledGroups,
  // The most reliable test comes first.
  inspectors: [iso20022Inspector, rsfnInspector, brCodeInspector, iso8583Inspector],
  migrations,
  load: (env: Environment) => {
    const loaded = loadSettings(settingGroups, env)
    const { values, problems } = loaded
    return {
      ...loaded,
      problems: problems.length > 0 ? problems : jointProblems(values),
      platform: values.platform,
      databases: databaseDsns(values),
      createFeatures: (deps) => createFeatures(values, deps),
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
