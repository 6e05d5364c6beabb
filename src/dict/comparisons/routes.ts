import { pageOf, type Route, respond, route } from '#src/platform/http/index.ts'
import { comparisonDocuments as documents } from './documents.ts'
import type { ComparisonService } from './service.ts'
import { comparisonView, differenceView } from './view.ts'

/** Comparisons of our entries with the directory's, and what is done about differences. */
export const comparisonRoutes = (service: ComparisonService): readonly Route[] => [
  route(documents.start, async ({ body: { key_type: keyType, method, since }, caller }) => {
    const asked = { keyType, method, since: since ?? null }
    return respond(await service.start(asked, caller))
  }),
  route(documents.find, async ({ params }) =>
    Response.json(comparisonView(await service.find(params.id))),
  ),
  route(documents.differences, async ({ params, query: { limit, cursor } }) => {
    const found = await service.differences(params.id, { after: cursor, limit: limit + 1 })
    const { items, next } = pageOf(found, limit, ({ key }) => key)
    return Response.json({ differences: items.map(differenceView), next_cursor: next })
  }),
  route(documents.mend, async ({ params, body: { key, keep }, caller }) =>
    respond(await service.mend(params.id, key, keep, caller)),
  ),
]
