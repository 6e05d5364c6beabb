import {
  customType,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

/** One row per certificate; versions are never replaced. */
export const certificates = pgTable(
  'certificates',
  {
    ispb: text().notNull(),
    type: text().notNull(),
    version: integer().notNull(),
    /** SHA-256 of the DER, hexadecimal. */
    fingerprint: text().notNull(),
    notAfter: timestamp('not_after', { withTimezone: true }).notNull(),
    certificate: text().notNull(),
    chain: text().array().notNull(),
    /** PKCS#8, sealed under the master key; null when only the certificate is known. */
    sealedKey: bytea('sealed_key'),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.ispb, table.type, table.version] }),
    uniqueIndex('certificates_fingerprint').on(table.ispb, table.type, table.fingerprint),
  ],
)
