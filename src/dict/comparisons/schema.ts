import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import type { KeyType } from '#codecs/dict'
import { instant } from '#src/platform/database/columns.ts'
import type { ComparisonMethod, comparisonStatuses } from './domain.ts'

/** Comparisons of our entries with the directory's, by the identifiers of their contents. */
export const dictComparisons = pgTable(
  'dict_comparisons',
  {
    id: uuid().primaryKey(),
    keyType: text('key_type').$type<KeyType>().notNull(),
    /** `events` or `file`. */
    method: text().$type<ComparisonMethod>().notNull(),
    /** With `events`: the moment from which they are read. */
    since: instant('since'),
    /** `running`, `done` or `failed`. */
    status: text().$type<(typeof comparisonStatuses)[number]>().notNull(),
    /** With `file`: the id of the file, once it is asked for. */
    fileId: bigint('file_id', { mode: 'number' }),
    entries: integer(),
    onlyOurs: integer('only_ours'),
    onlyTheirs: integer('only_theirs'),
    /** Whether the differences explain the directory's check. */
    isComplete: boolean('is_complete'),
    failure: text(),
    createdAt: instant('created_at').notNull(),
    endedAt: instant('ended_at'),
  },
  (table) => [
    uniqueIndex('dict_comparisons_running').on(table.keyType).where(sql`status = 'running'`),
    index('dict_comparisons_ended').on(table.endedAt),
  ],
)

/** Where both sides differ, key by key. */
export const dictDifferences = pgTable(
  'dict_differences',
  {
    comparisonId: uuid('comparison_id').notNull(),
    key: text().notNull(),
    /** Our entry; null: we have none. */
    entryId: uuid('entry_id'),
    /** JSON of the directory's entry with its RequestId; null: it has none. */
    theirs: text(),
    /** `ours` or `theirs`: which of both was kept. */
    kept: text(),
  },
  (table) => [primaryKey({ columns: [table.comparisonId, table.key] })],
)
