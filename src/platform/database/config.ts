import { defineSettings, kind, setting } from '../config/index.ts'

/** The relational database of instant payments, digital currency and the shared endpoints. */
export const databaseSettings = defineSettings({
  dsn: setting('DATABASE_DSN', kind.databaseUrl(), {
    doc: 'PostgreSQL connection string, of one host or several; needed by sending, by queries, webhooks and all else that is stored, by the stages `WORKER` and `OUTBOUND_SEND`, and without `BROKER_ADDRESSES` by `INBOUND_PULL`.',
  }),
  migrateOnStart: setting('TRILHO_MIGRATE_ON_START', kind.boolean(), {
    default: 'true',
    doc: 'Brings the schema up to date at the start; `false` waits until `trilho migrate` has.',
  }),
  connectionsMax: setting('TRILHO_DATABASE_CONNECTIONS', kind.integer(1, 500), {
    default: '10',
    doc: 'Connections of the pool, per process; consumers of the broker in PostgreSQL share two more, and one listens.',
  }),
  statementTimeoutSeconds: setting('TRILHO_DATABASE_STATEMENT_TIMEOUT', kind.integer(1, 3600), {
    default: '30',
    doc: 'Seconds one statement may run.',
  }),
  idempotencyHours: setting('TRILHO_IDEMPOTENCY_HOURS', kind.integer(1, 8_760), {
    default: '72',
    doc: 'Hours an `Idempotency-Key` is remembered.',
  }),
  auditRetentionDays: setting('TRILHO_AUDIT_RETENTION_DAYS', kind.integer(90, 36_500), {
    default: '3650',
    doc: 'Days entries of the audit log are kept, in whole months.',
  }),
  archiveDirectory: setting('TRILHO_ARCHIVE_DIR', kind.path(), {
    doc: 'Directory that months of messages and of the audit log are written to before they are dropped, as compressed lines of JSON; not archived when not set.',
  }),
})
