import { boolean, index, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '#src/platform/database/columns.ts'

/**
 * Lookups that a payer has been shown and may pay by. What was shown is kept as a digest alone, by which a later answer
 * is compared: the directory's personal data is not stored.
 */
export const dictLookups = pgTable(
  'dict_lookups',
  {
    endToEndId: text('end_to_end_id').primaryKey(),
    account: text().notNull(),
    /** 16 random bytes in hexadecimal, which both digests are keyed by. */
    salt: text().notNull(),
    /** Of the key and the payer. */
    askedDigest: text('asked_digest').notNull(),
    /** Content identifier of the entry. */
    entryDigest: text('entry_digest').notNull(),
    /** Whether the directory was asked with this id, and not an answer used again. */
    wasAsked: boolean('was_asked').notNull(),
    createdAt: instant('created_at').notNull(),
    /** When a payment was made by it. */
    usedAt: instant('used_at'),
  },
  (table) => [index('dict_lookups_created_at').on(table.createdAt)],
)
