import {
  callerOf,
  pageOf,
  type RequestContext,
  type Route,
  readJson,
  readParams,
  readQuery,
} from '#src/platform/http/index.ts'
import { writing } from '../disputes/routes.ts'
import {
  comparisonParams,
  differencesQuery,
  comparisonDocuments as documents,
  mending,
  newComparison,
} from './documents.ts'
import type { Comparison, Difference } from './domain.ts'
import type { ComparisonService } from './service.ts'

const base = '/v1/dict/comparisons'

const idOf = (c: RequestContext): string => readParams(c, comparisonParams).id

/** Comparisons of our entries with the directory's, and what is done about differences. */
export const comparisonRoutes = (service: ComparisonService): readonly Route[] => [
  {
    ...{ ...writing, path: base, document: documents.start },
    handle: async (c) => {
      const { key_type: keyType, method, since } = await readJson(c, newComparison)
      const made = await service.start({ keyType, method, since: since ?? null }, callerOf(c))
      return Response.json(comparisonView(made), { status: 202 })
    },
  },
  {
    ...{ method: 'GET', path: `${base}/{id}`, scope: 'dict:read', document: documents.find },
    handle: async (c) => Response.json(comparisonView(await service.find(idOf(c)))),
  },
  {
    ...{ method: 'GET', path: `${base}/{id}/differences`, scope: 'dict:read' },
    document: documents.differences,
    handle: async (c) => {
      const { limit, cursor } = readQuery(c, differencesQuery)
      const found = await service.differences(idOf(c), { after: cursor, limit: limit + 1 })
      const { items, next } = pageOf(found, limit, ({ key }) => key)
      return Response.json({ differences: items.map(differenceView), next_cursor: next })
    },
  },
  {
    ...{ ...writing, path: `${base}/{id}/mend`, document: documents.mend },
    handle: async (c) => {
      const { key, keep } = await readJson(c, mending)
      return Response.json(differenceView(await service.mend(idOf(c), key, keep, callerOf(c))))
    },
  },
]

const comparisonView = ({ createdAt, endedAt, since, ...one }: Comparison) => ({
  ...{ id: one.id, key_type: one.keyType, method: one.method, status: one.status },
  ...{ since: since?.toISOString() ?? null, entries: one.entries, only_ours: one.onlyOurs },
  ...{ only_theirs: one.onlyTheirs, complete: one.isComplete, failure: one.failure },
  ...{ created_at: createdAt.toISOString(), ended_at: endedAt?.toISOString() ?? null },
})

const differenceView = ({ key, entryId, theirs, kept }: Difference) => ({
  ...{ key, entry_id: entryId, kept, theirs: theirs && sideView(theirs) },
})

const sideView = ({ entry: { owner, account, openedAt } }: NonNullable<Difference['theirs']>) => ({
  ...{ tax_id: owner.taxIdNumber, name: owner.name, trade_name: owner.tradeName ?? null },
  account: {
    ...{ branch: account.branch ?? null, number: account.accountNumber },
    ...{ type: account.accountType, opened_at: openedAt },
  },
})
