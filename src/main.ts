import { migrations } from '../drizzle/index.ts'
import { structure } from '../drizzle/structure.ts'
import manifest from '../package.json' with { type: 'json' }
import {
  cardsBookOf,
  createCardNetworks,
  createCards,
  holdOpenCards,
  iso8583Inspector,
} from './cards/index.ts'
import { type CertificatesFeature, createCertificates } from './certificates/index.ts'
import { createProcessIo, type PlatformDeps, type Program, runCli } from './cli/index.ts'
import {
  createDirectory,
  createPipeline,
  type Databases,
  databaseDsns,
  jointProblems,
  openDatabases,
  type Roles,
  rolesOf,
  settingGroups,
  titledGroups,
  type Values,
  withEndpoints,
  withJobs,
  withoutRole,
} from './composition/index.ts'
import { createConsole } from './console/index.ts'
import { createDrex, createDrexWithoutDatabase } from './drex/index.ts'
import { createInspection } from './inspection/index.ts'
import { createJose, joseInspector } from './jose/index.ts'
import { createPix, noteReturn, type PixFeature } from './pix/index.ts'
import {
  createBrokerFeature,
  createDeadLetters,
  type OpenedBroker,
  openBroker,
} from './platform/broker/index.ts'
import { type Environment, loadSettings } from './platform/config/index.ts'
import type { Database } from './platform/database/index.ts'
import { createAudit, createOutsideReader } from './platform/http/index.ts'
import type { Feature } from './platform/lifecycle/index.ts'
import { createTracing, type Logger } from './platform/observe/index.ts'
import {
  createFileMaterial,
  type KeyMaterial,
  networksOf,
  type Sealer,
  sealerOf,
  usedFiles,
} from './platform/security/index.ts'
import { brCodeInspector, createQrcodes } from './qrcodes/index.ts'
import { createReference } from './reference/index.ts'
import {
  createGrpc,
  createLetterSubjects,
  createMessages,
  createOpenMessages,
  createRecurringSender,
  createRefunds,
  createRefusals,
  createRsfn,
  createSchemas,
  createTransform,
  iso20022Inspector,
  rsfnInspector,
} from './spi/index.ts'
import {
  createTopics,
  createWebhooks,
  emitElsewhere,
  emitEvents,
  emitWithin,
} from './webhooks/index.ts'

/**
 * The only place where features meet. It gives each its dependencies and sets the order of starting (stopping is the
 * reverse). Anything that takes more than one call to build is in `composition/`.
 */
const createFeatures = (values: Values, deps: PlatformDeps): readonly Feature[] => {
  const { logger, metrics, version } = deps
  const { platform, spi, schemas: catalogue } = values
  const { archiveDirectory } = values.database
  const roles = rolesOf(values)
  const sealer = sealerOf(platform)
  const databases = openDatabases(values, roles, sealer, deps)
  const sql = databases.shared?.sql
  const opened = openSharedBroker(values, databases.shared, deps, (...refused) => end(...refused))
  const certificates = certificatesOf(values, sql, deps)
  const readOutside = createOutsideReader(values.outside, version)
  const jose = createJose({ keys: certificates.keys, settings: values.jose, readOutside, logger })
  const schemas = createSchemas({ settings: values.schemas, logger })
  const transform = createTransform({ metrics, ...schemas })
  const audit = auditOf(values, databases, logger)
  const sending = { ...catalogue, ispb: spi.ispb, sql, broker: opened?.transactional }
  const dict = createDirectory(values, { ...sending, noteReturn, keys: certificates.keys }, deps)
  const qrcodes = createQrcodes({ read: readOutside, open: jose.openPayload })
  const reference = createReference({ sql, logger })
  const pix = createPix({
    ...deps,
    ...sending,
    settings: values.pix,
    signing: jose.signPublished,
    isHoliday: reference.isHoliday,
    topics: createTopics(values.webhooks),
    runsJobs: roles.has('jobs'),
    refunds: createRefunds(sending),
    mandates: createRecurringSender(sending),
  })
  const end = createRefusals(emitEvents, pix.receivables, metrics)
  return tellOfUses(
    certificates,
    deps,
    withEndpoints(roles, [
      createTracing(platform, collectorMaterial(platform, logger), logger),
      ...databases.features,
      withJobs(roles, audit),
      ...brokerOf(opened, sql),
      withJobs(roles, deadLettersOf(sql, values, pix, deps)),
      certificates,
      jose,
      schemas,
      transform,
      withJobs(roles, createMessages({ ...values.spi, sql, archiveDirectory, logger })),
      ...(sql === undefined ? [] : [createOpenMessages({ sql, logger, metrics })]),
      createRsfn({ settings: values.spi, certificates: certificates.keys }),
      qrcodes,
      createInspection(inspectors),
      reference,
      pix,
      pix.beside,
      dict,
      webhooksOf(values, roles, { databases, broker: opened?.transactional, sealer }, deps),
      ...createPipeline(
        values,
        {
          database: databases.shared,
          opened,
          keys: certificates.keys,
          pix,
          learnedVersions: schemas.learnedVersions,
          payees: payeesOf(dict, qrcodes),
        },
        deps,
      ),
      createConsole(values.console, sealer, sql, logger),
      digitalCurrency(values, roles, databases.shared, deps),
      ...cards(values, roles, databases, deps),
      ...(roles.has('grpc')
        ? [transformationsOverGrpc(values, deps, transform.run, audit.recordAct)]
        : []),
    ]),
  )
}

/** Payments ask it who is paid by a key, or by a code. */
const payeesOf = (
  { payee, missing, payeeErrors }: ReturnType<typeof createDirectory>,
  { readPayable: readCode, payableErrors }: ReturnType<typeof createQrcodes>,
) => ({ payee, missing, readCode, errors: [...payeeErrors, ...payableErrors] })

const certificatesOf = (
  { certificates, platform }: Values,
  sql: Database['sql'] | undefined,
  { logger, metrics }: PlatformDeps,
): CertificatesFeature => {
  const { masterKey, previousMasterKey } = platform
  const { folder } = certificates
  const keys = { masterKey, previousMasterKey, folder }
  return createCertificates({ ...keys, sql, logger, metrics })
}

const auditOf = ({ database }: Values, { all }: Databases, logger: Logger) =>
  createAudit({
    databases: all.map(({ sql }) => sql),
    retentionDays: database.auditRetentionDays,
    archiveDirectory: database.archiveDirectory,
    logger,
  })

const brokerOf = (opened: OpenedBroker | undefined, sql: Database['sql'] | undefined) =>
  opened === undefined ? [] : [createBrokerFeature(opened.broker, sql, opened.certificates)]

const deadLettersOf = (
  sql: Database['sql'] | undefined,
  { platform, broker: { retentionDays } }: Values,
  { receivables, recurrences }: Pick<PixFeature, 'receivables' | 'recurrences'>,
  { logger, metrics }: Pick<PlatformDeps, 'logger' | 'metrics'>,
) =>
  createDeadLetters({
    sql,
    isRelayed: platform.brokerAddresses !== undefined,
    subjects: createLetterSubjects(emitEvents, receivables, recurrences),
    retentionDays,
    logger,
    metrics,
  })

type Beside = {
  readonly databases: Databases
  readonly broker: OpenedBroker['transactional']
  readonly sealer: Sealer | undefined
}

const webhooksOf = (
  { webhooks, platform }: Values,
  roles: Roles,
  { databases, broker, sealer }: Beside,
  { version, logger, metrics }: PlatformDeps,
) => {
  const sql = databases.shared?.sql
  return createWebhooks({
    sql,
    broker,
    sealer,
    version,
    logger,
    metrics,
    elsewhere: databases.all.filter((database) => database.sql !== sql).map((one) => one.sql),
    settings: webhooks,
    institution: platform.institutionAccounts,
    isProduction: platform.environment === 'production',
    delivers: roles.has('webhooks'),
    runsJobs: roles.has('jobs'),
  })
}

const transformationsOverGrpc = (
  { grpc: settings, platform }: Values,
  deps: PlatformDeps,
  run: ReturnType<typeof createTransform>['run'],
  recordAct: ReturnType<typeof createAudit>['recordAct'],
): Feature =>
  createGrpc({
    ...deps,
    settings,
    run,
    recordAct,
    // A transformation is of the rail of instant payments, over HTTP too.
    rooms: deps.rooms?.spi,
    trustedProxies: networksOf(platform.trustedProxies ?? []),
    stopTimeoutMs: platform.stopTimeoutSeconds * 1000,
  })

/** Certificates are told of in one place, whichever feature uses them. */
const tellOfUses = (
  { track }: CertificatesFeature,
  { tls }: PlatformDeps,
  features: readonly Feature[],
): readonly Feature[] => {
  track(usedFiles('http', tls))
  for (const { certificates = [] } of features) track(certificates)
  return features
}

const openSharedBroker = (
  { platform, database: { dsn = '' }, broker: settings }: Values,
  database: Database | undefined,
  { logger, metrics }: PlatformDeps,
  onRefused: ReturnType<typeof createRefusals>,
): OpenedBroker | undefined =>
  openBroker({
    addresses: platform.brokerAddresses,
    settings,
    database: database && { sql: database.sql, gate: database.gate, dsn },
    onRefused,
    logger,
    metrics,
  })

/** The authorities of the collector of traces, where they are given. */
const collectorMaterial = (
  { otlpCa: ca }: Values['platform'],
  logger: Logger,
): KeyMaterial | undefined =>
  ca === undefined
    ? undefined
    : createFileMaterial({ certificate: undefined, key: undefined, ca }, (err) =>
        logger.error({ err }, 'changed OTEL_EXPORTER_OTLP_CERTIFICATE cannot be used'),
      )

const digitalCurrency = (
  values: Values,
  roles: Roles,
  database: Database | undefined,
  { logger, metrics }: PlatformDeps,
): Feature => {
  if (database === undefined) return createDrexWithoutDatabase()
  const { drex, platform } = values
  const settings = { ...drex, engineEnabled: drex.engineEnabled && roles.has('drex') }
  const { masterKey, previousMasterKey } = platform
  return createDrex({
    settings,
    sql: database.sql,
    sealer: sealerOf(platform),
    isRotating: masterKey !== undefined && previousMasterKey !== undefined,
    runsJobs: roles.has('jobs'),
    emitEvents,
    isTaken: emitWithin.isTaken,
    logger,
    metrics,
  })
}

/** The card networks, and the gateway above them. */
const cards = (
  values: Values,
  roles: Roles,
  { cards: database, shared }: Databases,
  { cardsLogger: logger, metrics, rooms }: PlatformDeps,
): readonly Feature[] => {
  const { networkA, networkB, vault, reversals } = values
  const settings = {
    ...values.cards,
    retentionDays: roles.has('jobs') ? values.cards.retentionDays : undefined,
  }
  const sql = database?.sql
  // Endpoints are in the shared database, so nobody can subscribe without it.
  const emission = shared === database ? emitWithin : emitElsewhere
  const common = { emission: shared && emission, logger, metrics }
  const cardSettings = { ...settings, vault, reversals }
  const sealer = sealerOf(values.platform)
  const keeping = sql && sealer && { sql, sealer }
  if (!roles.has('cards')) {
    const none = { host: undefined }
    const networks = createCardNetworks({
      settings: { ...settings, networksFile: undefined },
      networkA: { ...networkA, ...none },
      networkB: { ...networkB, ...none },
      logger,
      metrics,
      keeping,
    })
    const { name, sealed } = networks.feature
    const without = createCards({ ...common, sql: undefined, networks, settings: cardSettings })
    return [
      // Whatever a process does, the commands look after all that the database holds.
      { name, ...(sealed && { sealed }) },
      {
        ...withoutRole(without),
        ...(sql && { book: () => cardsBookOf(sql), hold: () => holdOpenCards(sql) }),
      },
    ]
  }
  const networks = createCardNetworks({ settings, networkA, networkB, logger, metrics, keeping })
  const { away } = rooms?.cards ?? {}
  return [networks.feature, createCards({ ...common, sql, networks, settings: cardSettings, away })]
}

/** The most reliable test comes first. */
const inspectors = [
  iso20022Inspector,
  rsfnInspector,
  joseInspector,
  brCodeInspector,
  iso8583Inspector,
] as const

/** All of it, for the commands. */
export const program: Program = {
  version: manifest.version,
  settingGroups: titledGroups,
  inspectors,
  migrations,
  structure,
  load: (env: Environment) => {
    const loaded = loadSettings(settingGroups, env)
    const { values, problems } = loaded
    return {
      ...loaded,
      problems: problems.length > 0 ? problems : jointProblems(values),
      platform: values.platform,
      database: values.database.dsn,
      databases: databaseDsns(values),
      connectionsMax: values.database.connectionsMax,
      auditRetentionDays: values.database.auditRetentionDays,
      createFeatures: (deps) => createFeatures(values, deps),
    }
  },
}

if (import.meta.main) {
  const { io, exitCodeOf } = createProcessIo(process.env)
  const code = await runCli(process.argv.slice(2), io, program)
  // Always an explicit exit: a forgotten handle must not keep a stopped process alive.
  process.exit(await exitCodeOf(code))
}
