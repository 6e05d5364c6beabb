/** Rows of the tables, without what only statements read. */
import type { dictComparisons } from './comparisons/schema.ts'
import type { dictDisputes } from './disputes/schema.ts'
import type { dictClaims, dictEntries } from './schema.ts'

export type EntryRow = Readonly<Omit<typeof dictEntries.$inferSelect, 'changedAt'>>
export type ClaimRow = Readonly<Omit<typeof dictClaims.$inferSelect, 'dueAt'>>
/** A comparison, as its row has it. */
export type Comparison = Readonly<typeof dictComparisons.$inferSelect>
export type DisputeRow = Readonly<
  Omit<typeof dictDisputes.$inferSelect, 'kind' | 'toldAt' | 'triedAt'>
>
