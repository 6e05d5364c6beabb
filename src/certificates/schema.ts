import { integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytea, instant } from '#src/platform/database/columns.ts'

/** One row per certificate; versions are never replaced. */
export const certificates = pgTable(
  'certificates',
  {
    ispb: text().notNull(),
    type: text().notNull(),
    version: integer().notNull(),
    /** SHA-256 of the DER, hexadecimal. */
    fingerprint: text().notNull(),
    notAfter: instant('not_after').notNull(),
    certificate: text().notNull(),
    chain: text().array().notNull(),
    /** PKCS#8, sealed under the master key; null if only the certificate is known. */
    sealedKey: bytea('sealed_key'),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.ispb, table.type, table.version] }),
    uniqueIndex('certificates_fingerprint').on(table.ispb, table.type, table.fingerprint),
  ],
)

/** The numbers of certificates that were removed: each is given again to the same certificate alone. */
export const removedCertificates = pgTable(
  'removed_certificates',
  {
    ispb: text().notNull(),
    type: text().notNull(),
    version: integer().notNull(),
    /** SHA-256 of the DER, hexadecimal. */
    fingerprint: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.ispb, table.type, table.version] })],
)
