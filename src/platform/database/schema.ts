import { pgTable } from 'drizzle-orm/pg-core'
import { bytea } from './columns.ts'

/** Always empty: every process puts a row in and takes it back, to see whether the database takes any. */
export const writeProbes = pgTable('write_probes', { filler: bytea().notNull() })
