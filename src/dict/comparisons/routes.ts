import {
  callerOf,
  pageOf,
  type RequestContext,
  type Route,
  readJson,
  readParams,
  readQuery,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { bodyBytesMax } from '../disputes/routes.ts'
import {
  comparisonParams,
  differencesQuery,
  comparisonDocuments as documents,
  mending,
  newComparison,
} from './documents.ts'
import type { ComparisonService } from './service.ts'
import { comparisonView, differenceView } from './view.ts'

const base = '/v1/dict/comparisons'

const idOf = (c: RequestContext): string => readParams(c, comparisonParams).id

/** Comparisons of our entries with the directory's, and what is done about differences. */
export const comparisonRoutes = (service: ComparisonService): readonly Route[] => [
  route(`POST ${base}`, 'dict:write', documents.start, { bodyBytesMax }, async (c) => {
    const { key_type: keyType, method, since } = await readJson(c, newComparison)
    const asked = { keyType, method, since: since ?? null }
    return respond(await service.start(asked, callerOf(c)))
  }),
  route(`GET ${base}/{id}`, 'dict:read', documents.find, async (c) =>
    Response.json(comparisonView(await service.find(idOf(c)))),
  ),
  route(`GET ${base}/{id}/differences`, 'dict:read', documents.differences, async (c) => {
    const { limit, cursor } = readQuery(c, differencesQuery)
    const found = await service.differences(idOf(c), { after: cursor, limit: limit + 1 })
    const { items, next } = pageOf(found, limit, ({ key }) => key)
    return Response.json({ differences: items.map(differenceView), next_cursor: next })
  }),
  route(`POST ${base}/{id}/mend`, 'dict:write', documents.mend, { bodyBytesMax }, async (c) => {
    const { key, keep } = await readJson(c, mending)
    return respond(await service.mend(idOf(c), key, keep, callerOf(c)))
  }),
]
