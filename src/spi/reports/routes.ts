import {
  ApiError,
  cursorOf,
  httpErrors,
  pageOf,
  pageResponse,
  type Route,
  refusedValue,
  respond,
  route,
} from '#src/platform/http/index.ts'
import { dayAt } from '#src/platform/runtime/index.ts'
import { readMessageBody } from '../api/message-body.ts'
import { uuidForm } from '../messages/index.ts'
import { documents } from './documents.ts'
import { type DifferencePage, statementOfDay } from './reconcile.ts'
import type { ReportService } from './service.ts'
import { differenceView, entryView, figuresView, reportView } from './views.ts'

/** Reports are of the institution's account: every account with the scope sees them. */
export const reportRoutes = (service: ReportService): readonly Route[] => [
  route(documents.create, async ({ body, caller }) => respond(await service.request(body, caller))),
  route(documents.list, async ({ query: { limit, cursor } }) =>
    pageResponse('reports', await service.list(limit + 1, cursor), limit, reportView),
  ),
  route(documents.find, async ({ params }) => {
    const id = params.id.toLowerCase()
    const found = uuidForm.test(id) ? await service.find(id) : undefined
    if (found === undefined) throw new ApiError(httpErrors.not_found, 'No such report.')
    return Response.json(reportView(found))
  }),
  ...comparisons(service),
  route(documents.entries, async ({ query: { outcome, request_id: requestId, limit, cursor } }) => {
    const [messageId, position] = cursor?.split(' ') ?? []
    const before = messageId === undefined ? undefined : ([messageId, Number(position)] as const)
    const all = await service.entries({ outcome, requestId }, limit + 1, before)
    const { items, next } = pageOf(all, limit, (one) => `${one.messageId} ${one.position}`)
    return Response.json({ entries: items.map(entryView), next_cursor: next })
  }),
]

const comparisons = (service: ReportService): readonly Route[] => [
  route(documents.differences, async ({ query: { day, limit, cursor } }) => {
    const [begun] = cursor?.split(' ', 1) ?? []
    if (begun !== undefined && day !== undefined && begun !== day) {
      const message = 'is not the day of the cursor'
      throw refusedValue([{ pointer: 'day', rule: 'cursor', message }])
    }
    const walked = begun ?? day ?? dayAt(new Date())
    const place = cursor?.slice(walked.length + 1)
    const page = await service.differences(statementOfDay(walked), { limit, cursor: place })
    return differences({ ...page, next: page.next && `${walked} ${page.next}` })
  }),
  route(documents.compare, async ({ query: { limit, cursor }, c }) => {
    const statement = await service.statementIn(await readMessageBody(c))
    return differences(await service.differences(statement, { limit, cursor }))
  }),
  route(documents.figures, async ({ query: { day } }) => {
    const figures = await service.figures(day ?? dayAt(new Date()))
    return Response.json({ figures: figures.map(figuresView) })
  }),
  route(documents.figuresOf, async ({ c }) => {
    const figures = await service.figuresIn(await readMessageBody(c))
    return Response.json({ figures: figures.map(figuresView) })
  }),
]

const differences = ({ differences: found, next }: DifferencePage): Response =>
  Response.json({
    differences: found.map(differenceView),
    next_cursor: next === null ? null : cursorOf(next),
  })
