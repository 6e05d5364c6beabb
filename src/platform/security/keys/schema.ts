import { index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/** API keys: never the key, only the SHA-256 of its secret. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: text().primaryKey(),
    name: text().notNull(),
    /** The owner of the key: an account's belongings outlive each of its keys. */
    account: text().notNull().default('default'),
    hash: text().notNull(),
    /** The secret before the last rotation, and until when it counts. */
    previousHash: text('previous_hash'),
    previousUntil: instant('previous_until'),
    /** live or test; null for keys stored before it was. */
    environment: text(),
    /** Grants as `trilho keys create` takes them. */
    scopes: text().array().notNull(),
    /** The restrictions of the key within its scopes. */
    restrictions: jsonb().notNull().default({}),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [index('api_keys_account').on(table.account, table.createdAt, table.id)],
)
