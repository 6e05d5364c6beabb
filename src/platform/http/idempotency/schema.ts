import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'

/** One row per Idempotency-Key and owner; written in the transaction of the effect it guards. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** Public id of the API key that sent it. */
    owner: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of method, path and body. */
    fingerprint: bytea().notNull(),
    /** Null while the first request runs. */
    status: integer(),
    contentType: text('content_type'),
    body: bytea(),
    /** Until then the answer may still become another: a repetition is told that the request runs. */
    provisionalUntil: instant('provisional_until'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.owner, table.key] }),
    index('idempotency_keys_created_at').on(table.createdAt),
  ],
)
