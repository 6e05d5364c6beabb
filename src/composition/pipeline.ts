import type { NamedKeys } from '../certificates/index.ts'
import type { PlatformDeps } from '../cli/index.ts'
import { attemptsAmong, noteReturn } from '../pix/index.ts'
import type { OpenedBroker } from '../platform/broker/index.ts'
import type { Database } from '../platform/database/index.ts'
import { sharedBuckets } from '../platform/http/index.ts'
import type { Feature } from '../platform/lifecycle/index.ts'
import { type CertificateUse, warnOfClearText } from '../platform/security/index.ts'
import {
  createCatalogue,
  createInterfaceClient,
  createOutbound,
  createPayments,
  createPull,
  createRecurring,
  createReports,
  createResend,
  createResolve,
  createSend,
  createWorker,
  type InterfaceClient,
  type OutboundFeature,
  type PayeePorts,
  type Receivables,
  type Recurrences,
  signingMaterial,
  spiStages,
  waitingAway,
} from '../spi/index.ts'
import { emitEvents } from '../webhooks/index.ts'
import { interfaceMaterial } from './material.ts'
import { doesTakeRequests, rolesOf } from './roles.ts'
import type { Values } from './settings.ts'

/** The stores of the stages' messages; undefined if not configured. */
type Stores = {
  readonly database: Database | undefined
  readonly opened: OpenedBroker | undefined
  /** The keys of the certificate store. */
  readonly keys: NamedKeys | undefined
  /** Knows what receivers are owed, and their recurrences. */
  readonly pix: {
    readonly receivables: Receivables | undefined
    readonly recurrences: Recurrences | undefined
  }
  /** Versions of messages in SPI_SCHEMA_DIR. */
  readonly learnedVersions: ReadonlySet<string>
  /** Knows who is paid by a key or a code. */
  readonly payees: PayeePorts
}

const stagesOf = ({ spi, platform }: Values) => spiStages(spi.roles, platform.roles)

/** The stages of SPI_ROLES or TRILHO_ROLES and what they share: the client of the message interface. */
export const createPipeline = (
  values: Values,
  stores: Stores,
  deps: PlatformDeps,
): readonly Feature[] => {
  const { spi, schemas, worker, pull } = values
  const { database, opened, pix } = stores
  const { ispb } = spi
  const { logger, metrics } = deps
  const { client, certificates } = openInterface(values, stores, deps)
  const missing = [
    ...(ispb === undefined ? ['ISPB'] : []),
    ...((spi.primaryUrl ?? spi.secondaryUrl) === undefined ? ['SPI_PRIMARY_URL'] : []),
  ]
  const runs = new Set(stagesOf(values))
  const broker = opened?.transactional
  const outbound = openOutbound(values, stores, client, deps)
  const now = spi.syncEnabled ? outbound?.sendNow : undefined
  const away = deps.rooms?.spi.away
  const sendNow = now && away ? waitingAway(now, away) : now
  const { revision, learning } = schemas
  const sql = database?.sql
  const stages: Feature[] = [
    {
      ...createCatalogue({ client, missing }),
      certificates,
      start: () => {
        warnOfClearText(logger, 'SPI_PRIMARY_URL', spi.primaryUrl, 'payments')
        warnOfClearText(logger, 'SPI_SECONDARY_URL', spi.secondaryUrl, 'payments')
      },
    },
    createSend({ ispb, sql, broker, revision, sendNow, logger, noteReturn, attemptsAmong }),
    createResend({ sql }),
    createResolve({ sql, emitEvents, metrics, ...pix }),
    createPayments({ ispb, sql, broker, revision, payees: stores.payees, noteReturn }),
    createRecurring({ sql }),
    createReports({ ispb, sql, broker, revision }),
  ]
  if (runs.has('WORKER') && ispb !== undefined && broker !== undefined && sql !== undefined) {
    stages.push(
      createWorker({
        sql,
        broker,
        settings: worker,
        ispb,
        revision,
        learning,
        emitEvents,
        logger,
        metrics,
        receivables: pix.receivables,
        recurrences: pix.recurrences,
        learnedVersions: stores.learnedVersions,
      }),
    )
  }
  if (outbound !== undefined) stages.push(outbound)
  if (runs.has('INBOUND_PULL') && opened !== undefined && client !== undefined) {
    const takesRequests = doesTakeRequests(rolesOf(values))
    const { broker: inbox } = opened
    stages.push(
      createPull({ client, broker: inbox, settings: pull, takesRequests, logger, metrics }),
    )
  }
  return stages
}

/** Signing and sending: the stage, and the fast path of requests if it is enabled. */
const openOutbound = (
  values: Values,
  { database, opened, keys, pix }: Stores,
  client: InterfaceClient | undefined,
  { logger, metrics }: PlatformDeps,
): OutboundFeature | undefined => {
  const { spi, outbound: settings, signing } = values
  const broker = opened?.transactional
  const runsStage = stagesOf(values).includes('OUTBOUND_SEND')
  if (database === undefined || broker === undefined || client === undefined) return undefined
  if (!runsStage && !spi.syncEnabled) return undefined
  const { sql } = database
  const common = { sql, broker, client, emitEvents, logger, metrics }
  const { ispb = '' } = spi
  const onProblem = (err: Error): void =>
    logger.error({ err }, 'the new signing certificate cannot be used, the old one stays')
  const material = signingMaterial(signing, onProblem, keys && (() => keys.latestPair(ispb, 'PIA')))
  const outbound = createOutbound({
    ...common,
    receivables: pix.receivables,
    recurrences: pix.recurrences,
    settings,
    signing,
    signingMaterial: material,
    runsStage,
    takesRequests: doesTakeRequests(rolesOf(values)),
  })
  const { certificateSource: source } = signing
  const { certificates = [] } = outbound
  const own = material === undefined ? [] : [{ ispb, type: 'PIA', source, material }]
  return { ...outbound, certificates: [...certificates, ...own] }
}

/** Opens no client if the institution or both channels are not configured. */
const openInterface = (
  { spi, interface: settings }: Values,
  { keys, database }: Stores,
  { logger, metrics }: PlatformDeps,
): {
  readonly client: InterfaceClient | undefined
  readonly certificates: readonly CertificateUse[]
} => {
  const { ispb, primaryUrl, secondaryUrl } = spi
  if (ispb === undefined || (primaryUrl ?? secondaryUrl) === undefined) {
    return { client: undefined, certificates: [] }
  }
  const tls = interfaceMaterial(spi, keys, logger)
  tls.watch()
  const urls = { PRIMARY: primaryUrl, SECONDARY: secondaryUrl }
  const drawTokens = database && sharedBuckets(database.sql)
  const client = createInterfaceClient({ ispb, urls, tls, settings, drawTokens, logger, metrics })
  return {
    client,
    certificates: [{ ispb, type: 'PIC', source: spi.certificateSource, material: tls }],
  }
}
