import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'

/** One row per Idempotency-Key and account; written in the transaction of the effect it guards. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** HMAC-SHA256 of the key sent, under the account; base64url. */
    key: text().primaryKey(),
    /** SHA-256 of method, path and canonical body; base64url. */
    fingerprint: text().notNull(),
    /** Null while the first request runs. */
    status: integer(),
    body: bytea(),
    /** Until then the answer may still change: a repetition hears that the request runs. */
    provisionalUntil: instant('provisional_until'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [index('idempotency_keys_created_at').on(table.createdAt)],
)
