import type { Comparison } from '../types.ts'
import { accountView, ownerView } from '../view.ts'
import type { Difference, Theirs } from './domain.ts'

export const comparisonView = ({ createdAt, endedAt, since, ...one }: Comparison) => ({
  id: one.id,
  key_type: one.keyType,
  method: one.method,
  status: one.status,
  since: since?.toISOString() ?? null,
  entries: one.entries,
  only_ours: one.onlyOurs,
  only_theirs: one.onlyTheirs,
  complete: one.isComplete,
  failure: one.failure,
  created_at: createdAt.toISOString(),
  ended_at: endedAt?.toISOString() ?? null,
})

export const differenceView = ({ key, entryId, theirs, kept }: Difference) => ({
  key,
  entry_id: entryId,
  kept,
  theirs: theirs && sideView(theirs),
})

const sideView = ({ entry }: Theirs) => ({ ...ownerView(entry.owner), account: accountView(entry) })
