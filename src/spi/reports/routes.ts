import {
  ApiError,
  callerOf,
  cursorOf,
  httpErrors,
  idParams,
  pageOf,
  pageResponse,
  type Route,
  readJson,
  readParams,
  readQuery,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { dayAt } from '#src/platform/runtime/index.ts'
import { readMessageBody, xmlTypes } from '../api/message-body.ts'
import {
  comparedQuery,
  differencesQuery,
  documents,
  entriesQuery,
  figuresQuery,
  reportBody,
  reportsQuery,
} from './documents.ts'
import { type DifferencePage, statementOfDay } from './reconcile.ts'
import type { ReportService } from './service.ts'
import { differenceView, entryView, figuresView, reportView } from './views.ts'

const bodyBytesMax = 16_384
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Reports are of the institution's account: every account with the scope sees them. */
export const reportRoutes = (service: ReportService): readonly Route[] => [
  route('POST /v1/pix/reports', 'spi:send', documents.create, { bodyBytesMax }, async (c) =>
    respond(await service.request(await readJson(c, reportBody), callerOf(c))),
  ),
  route('GET /v1/pix/reports', 'messages:read', documents.list, async (c) => {
    const { limit, cursor } = readQuery(c, reportsQuery)
    return pageResponse('reports', await service.list(limit + 1, cursor), limit, reportView)
  }),
  route('GET /v1/pix/reports/{id}', 'messages:read', documents.find, async (c) => {
    const id = readParams(c, idParams).id.toLowerCase()
    const found = uuidForm.test(id) ? await service.find(id) : undefined
    if (found === undefined) throw new ApiError(httpErrors.not_found, 'No such report.')
    return Response.json(reportView(found))
  }),
  ...comparisons(service),
  route('GET /v1/pix/entries', 'messages:read', documents.entries, async (c) => {
    const { outcome, request_id: requestId, limit, cursor } = readQuery(c, entriesQuery)
    const [messageId, position] = cursor?.split(' ') ?? []
    const before = messageId === undefined ? undefined : ([messageId, Number(position)] as const)
    const all = await service.entries({ outcome, requestId }, limit + 1, before)
    const { items, next } = pageOf(all, limit, (one) => `${one.messageId} ${one.position}`)
    return Response.json({ entries: items.map(entryView), next_cursor: next })
  }),
]

const comparisons = (service: ReportService): readonly Route[] => [
  route('GET /v1/pix/differences', 'messages:read', documents.differences, async (c) => {
    const { day, limit, cursor } = readQuery(c, differencesQuery)
    const statement = statementOfDay(day ?? dayAt(new Date()))
    return differences(await service.differences(statement, { limit, cursor }))
  }),
  route(
    'POST /v1/pix/differences',
    'messages:read',
    documents.compare,
    { accepts: xmlTypes, isPure: true },
    async (c) => {
      const { limit, cursor } = readQuery(c, comparedQuery)
      const statement = await service.statementIn(await readMessageBody(c))
      return differences(await service.differences(statement, { limit, cursor }))
    },
  ),
  route('GET /v1/pix/figures', 'messages:read', documents.figures, async (c) => {
    const { day } = readQuery(c, figuresQuery)
    const figures = await service.figures(day ?? dayAt(new Date()))
    return Response.json({ figures: figures.map(figuresView) })
  }),
  route(
    'POST /v1/pix/figures',
    'messages:read',
    documents.figuresOf,
    { accepts: xmlTypes, isPure: true },
    async (c) => {
      const figures = await service.figuresIn(await readMessageBody(c))
      return Response.json({ figures: figures.map(figuresView) })
    },
  ),
]

const differences = ({ differences: found, next }: DifferencePage): Response =>
  Response.json({
    differences: found.map(differenceView),
    next_cursor: next === null ? null : cursorOf(next),
  })
