import { ApiError, httpErrors, pageOf, type Route, route } from '#src/platform/http/index.ts'
import { momentOf } from '../messages/index.ts'
import { documents } from './documents.ts'
import type { Kind } from './domain.ts'
import { reasonIn } from './project.ts'
import type {
  FoundRecurrence,
  Recurrence,
  RecurrenceFilter,
  RecurrenceStep,
  RecurringService,
} from './service.ts'

export const recurringRoutes = (service: RecurringService): readonly Route[] => [
  route(documents.mandates, async ({ query }) => {
    const { items, next } = await list(service, 'mandate', { state: query.state }, query)
    return Response.json({ mandates: items.map(mandateView), next_cursor: next })
  }),
  route(documents.mandate, async ({ params: { mandateId } }) => {
    const { recurrence, steps } = await found(service, 'mandate', mandateId)
    return Response.json({ ...mandateView(recurrence), timeline: steps.map(stepView) })
  }),
  route(documents.charges, async ({ query }) => {
    const filter = { state: query.state, mandateId: query.mandate_id }
    const { items, next } = await list(service, 'charge', filter, query)
    return Response.json({ charges: items.map(chargeView), next_cursor: next })
  }),
  route(documents.charge, async ({ params: { endToEndId } }) => {
    const { recurrence, steps } = await found(service, 'charge', endToEndId)
    return Response.json({ ...chargeView(recurrence), timeline: steps.map(stepView) })
  }),
]

const list = async (
  service: RecurringService,
  kind: Kind,
  filter: RecurrenceFilter,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
) => {
  const [createdBy, key] = cursor?.split(' ') ?? []
  const after =
    createdBy === undefined || key === undefined ? undefined : ([createdBy, key] as const)
  const all = await service.list(kind, filter, { limit: limit + 1, after })
  return pageOf(all, limit, (one) => `${one.createdBy} ${one.key}`)
}

const found = async (
  service: RecurringService,
  kind: Kind,
  key: string,
): Promise<FoundRecurrence> => {
  const one = await service.find(kind, key)
  if (one === undefined) throw new ApiError(httpErrors.not_found, `No such ${kind}.`)
  return one
}

const momentsOf = ({ createdBy, changedAt }: Recurrence) => ({
  created_at: momentOf(createdBy).toISOString(),
  changed_at: changedAt?.toISOString() ?? null,
})

const mandateView = (one: Recurrence) => ({
  mandate_id: one.key,
  state: one.state,
  terms: one.terms,
  ...momentsOf(one),
})

const chargeView = (one: Recurrence) => ({
  end_to_end_id: one.key,
  reconciliation_id: one.reconciliationId,
  mandate_id: one.mandateId,
  state: one.state,
  terms: one.terms,
  ...momentsOf(one),
})

const stepView = (step: RecurrenceStep) => ({
  at: step.at.toISOString(),
  type: step.type,
  direction: step.direction,
  message_id: step.messageId,
  message_status: step.messageStatus,
  request_id: step.requestId,
  status: step.status,
  reason: reasonIn(step.type, step.reason, step.direction),
  state: step.state,
})
