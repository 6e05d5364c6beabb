import {
  ApiError,
  callerOf,
  httpErrors,
  idParams,
  pageOf,
  type Route,
  readJson,
  readParams,
  readQuery,
  respond,
} from '#src/platform/http/index.ts'
import { documents, entriesQuery, reportBody, reportsQuery } from './documents.ts'
import type { ReportService } from './service.ts'
import { entryView, reportView } from './views.ts'

const bodyBytesMax = 16_384
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Reports are of the institution's account: every account with the scope sees them. */
export const reportRoutes = (service: ReportService): readonly Route[] => [
  {
    method: 'POST',
    path: '/v1/pix/reports',
    scope: 'spi:send',
    accepts: ['application/json'],
    bodyBytesMax,
    document: documents.create,
    handle: async (c) => respond(await service.request(await readJson(c, reportBody), callerOf(c))),
  },
  {
    method: 'GET',
    path: '/v1/pix/reports',
    scope: 'messages:read',
    document: documents.list,
    handle: async (c) => {
      const { limit, cursor } = readQuery(c, reportsQuery)
      const { items, next } = pageOf(await service.list(limit + 1, cursor), limit, ({ id }) => id)
      return Response.json({ reports: items.map(reportView), next_cursor: next })
    },
  },
  {
    method: 'GET',
    path: '/v1/pix/reports/{id}',
    scope: 'messages:read',
    document: documents.find,
    handle: async (c) => {
      const id = readParams(c, idParams).id.toLowerCase()
      const found = uuidForm.test(id) ? await service.find(id) : undefined
      if (found === undefined) throw new ApiError(httpErrors.not_found, 'No such report.')
      return Response.json(reportView(found))
    },
  },
  {
    method: 'GET',
    path: '/v1/pix/entries',
    scope: 'messages:read',
    document: documents.entries,
    handle: async (c) => {
      const { outcome, request_id: requestId, limit, cursor } = readQuery(c, entriesQuery)
      const [messageId, position] = cursor?.split(' ') ?? []
      const before = messageId === undefined ? undefined : ([messageId, Number(position)] as const)
      const all = await service.entries({ outcome, requestId }, limit + 1, before)
      const { items, next } = pageOf(all, limit, (one) => `${one.messageId} ${one.position}`)
      return Response.json({ entries: items.map(entryView), next_cursor: next })
    },
  },
]
