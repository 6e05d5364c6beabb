export { type DatabaseSettings, databaseSettings } from './config.ts'
export {
  type Client,
  type Database,
  type DatabaseOptions,
  openDatabase,
  type Queryable,
  type Transaction,
} from './database.ts'
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded/index.ts'
export { type Migration, migrate, SchemaMismatchError } from './migrate.ts'
