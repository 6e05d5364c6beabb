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
export { type Migration, migrate, pendingMigrations, SchemaMismatchError } from './migrate.ts'
export { namedConnection } from './session-name.ts'
export { isTransientDatabaseError } from './transient.ts'
