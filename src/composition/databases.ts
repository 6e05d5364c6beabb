import { migrations } from '../../drizzle/index.ts'
import type { PlatformDeps } from '../cli/index.ts'
import {
  createDatabaseFeature,
  createStatistics,
  type Database,
  isSameDatabase,
  openDatabase,
  SameDatabaseError,
} from '../platform/database/index.ts'
import { createIdempotencySweep } from '../platform/http/index.ts'
import type { Feature } from '../platform/lifecycle/index.ts'
import {
  createKeyTable,
  keyRoutesWithoutDatabase,
  type Sealer,
} from '../platform/security/index.ts'
import type { Roles } from './roles.ts'
import type { Values } from './settings.ts'

/** Opened but not connected. */
export type Databases = {
  /** Undefined if none is configured. */
  readonly shared: Database | undefined
  /** The database of card transactions: their own, or else the shared one. */
  readonly cards: Database | undefined
  /** Each database once. */
  readonly all: readonly Database[]
  /** The features that migrate the schemas and maintain the platform's tables. */
  readonly features: readonly Feature[]
}

/** The connection strings that hold our schema, each once. */
export const databaseDsns = (values: Values): readonly string[] =>
  [values.database.dsn, cardDatabaseDsn(values)].filter((dsn) => dsn !== undefined)

/** Undefined if card transactions are in the shared database. */
const cardDatabaseDsn = ({ cards, database }: Values): string | undefined =>
  cards.databaseUrl === database.dsn ? undefined : cards.databaseUrl

export const openDatabases = (
  values: Values,
  roles: Roles,
  sealer: Sealer | undefined,
  { logger, metrics }: PlatformDeps,
): Databases => {
  const { platform, database: settings } = values
  const { connectionsMax, statementTimeoutSeconds, migrateOnStart } = settings
  const retentionHours = settings.idempotencyHours
  const isTraced = platform.otlpEndpoint !== undefined
  const statementTimeoutMs = statementTimeoutSeconds * 1000
  const options = { connectionsMax, statementTimeoutMs, isTraced, logger }
  const featuresOf = (
    name: string,
    setting: string,
    dsn: string,
    database: Database,
    demandApart?: () => Promise<boolean>,
  ): readonly Feature[] => {
    const { sql } = database
    const feature = createDatabaseFeature({
      name,
      setting,
      dsn,
      database,
      migrations,
      migrateOnStart,
      ...(demandApart && { demandApart }),
      logger,
    })
    if (!roles.has('jobs')) return [feature]
    const statistics = createStatistics({ sql, logger })
    return [
      feature,
      { name: 'statistics', start: statistics.start, drain: statistics.stop },
      createIdempotencySweep({ sql, retentionHours, logger }),
    ]
  }
  const features: Feature[] = []
  const { dsn } = settings
  const shared = dsn === undefined ? undefined : openDatabase({ ...options, dsn, metrics })
  if (dsn !== undefined && shared !== undefined) {
    features.push(...featuresOf('database', 'DATABASE_DSN', dsn, shared))
    features.push(createKeyTable({ sql: shared.sql, sealer, logger }))
  } else {
    features.push({ name: 'api_keys', routes: keyRoutesWithoutDatabase() })
  }
  const cardDsn = cardDatabaseDsn(values)
  // Has no metrics, because their names would clash with those of the shared one.
  const own = cardDsn === undefined ? undefined : openDatabase({ ...options, dsn: cardDsn })
  if (cardDsn !== undefined && own !== undefined) {
    const demandApart = async (): Promise<boolean> => {
      if (dsn === undefined) return true
      const isSame = await isSameDatabase(dsn, cardDsn, logger)
      if (isSame !== true) return isSame === false
      throw new SameDatabaseError(
        'CARDGW_DATABASE_URL leads to the database of DATABASE_DSN: take it out',
      )
    }
    features.push(...featuresOf('cards_database', 'CARDGW_DATABASE_URL', cardDsn, own, demandApart))
  }
  const all = [shared, own].filter((database) => database !== undefined)
  return { shared, cards: own ?? shared, all, features }
}
