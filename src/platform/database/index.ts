export { afterCommit } from './after-commit.ts'
export { isSameDatabase, SameDatabaseError } from './apart.ts'
export { archiveLines } from './archive.ts'
export { deletedMax, deleteInBatches } from './batches.ts'
export { databaseSettings } from './config.ts'
export {
  type Client,
  type Database,
  openDatabase,
  type Queryable,
  type Transaction,
} from './database.ts'
export {
  NoPostgresError,
  startEmbeddedPostgres,
} from './embedded/index.ts'
export { createDatabaseFeature } from './feature.ts'
export {
  constants,
  joinedBytes,
  jsonArray,
  listed,
  looksLikeOne,
  opaque,
  rowCount,
  textArray,
  textRows,
} from './fragments.ts'
export type { Gate } from './gate.ts'
export { createGatherer, OverloadedError, Writers } from './gatherer.ts'
export { createHints, type Hints, hint } from './hint.ts'
export { type Migration, migrate, pendingMigrations, SchemaMismatchError } from './migrate.ts'
export {
  ensurePartitions,
  type PartitionedTable,
  type PartitionUnit,
  partitionEnd,
  partitionNames,
  partitionRange,
  uuidBound,
} from './partitions.ts'
export { demandDatabase } from './reach.ts'
export { daysAgo, dropExpired, type RetentionDeps } from './retention.ts'
export {
  afterFirst,
  firstRidersWith,
  goAlone,
  isNotWhole,
  type Rider,
  ridersWith,
  toldBy,
  wholeOf,
  withoutTold,
} from './rider.ts'
export { optionalBigint, optionalNumber, valueOfRow } from './row.ts'
export { namedConnection } from './session-name.ts'
export { columnTypes, sessionSettings } from './session-settings.ts'
export { createStatistics } from './statistics.ts'
export { inSnapshot, withDeadlockRetries } from './transactions.ts'
export {
  isDatabaseAway,
  isDuplicate,
  isInputDatabaseError,
  isRowFault,
  isStatementCanceled,
  isTransientDatabaseError,
  storedOr,
} from './transient.ts'
export { writeOnce } from './write-probe.ts'
