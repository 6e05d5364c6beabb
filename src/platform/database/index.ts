export { bytesArray, textArray } from './array.ts'
export { type DatabaseSettings, databaseSettings } from './config.ts'
export {
  type Client,
  type Database,
  type DatabaseOptions,
  openDatabase,
  plannerSettings,
  type Queryable,
  type Transaction,
} from './database.ts'
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  NoPostgresError,
  startEmbeddedPostgres,
} from './embedded/index.ts'
export { createDatabaseFeature, type DatabaseFeatureOptions } from './feature.ts'
export { createGatherer, type GathererOptions, OverloadedError } from './gatherer.ts'
export { type Migration, migrate, pendingMigrations, SchemaMismatchError } from './migrate.ts'
export {
  alterTable,
  ensurePartitions,
  lockTimeoutMs,
  type PartitionedTable,
  type PartitionRange,
  type PartitionUnit,
  partitionNames,
  partitionRange,
  timestampBound,
  uuidBound,
} from './partitions.ts'
export { namedConnection } from './session-name.ts'
export { isInputDatabaseError, isTransientDatabaseError } from './transient.ts'
