import {
  pageOf,
  pageResponse,
  type Route,
  readJsonValue,
  requireDay,
  respond,
  route,
} from '#src/platform/http/index.ts'
import type { WaitingReversal } from '../reversals/waiting.ts'
import { eventViewOf, transactionView } from '../use-cases/answers.ts'
import type { CardService } from '../use-cases/service.ts'
import { actRoute } from './act-route.ts'
import {
  readAdviceResolution,
  readAuthorization,
  readCapture,
  readIncrement,
  readRefund,
  readResolution,
  readVerification,
  readVoid,
} from './bodies.ts'
import { documents } from './documents.ts'
import { inPortuguese } from './portuguese.ts'
import { reconciliationRoutes } from './reconciliation-routes.ts'
import { waitingDocuments } from './waiting-documents.ts'

/** Authorization, capture, void and query of card transactions. */
export const cardRoutes = (service: CardService): readonly Route[] =>
  routesOf(service).map((route) => ({ ...route, errorStyle: 'envelope', inPortuguese }))

const routesOf = (service: CardService): readonly Route[] => [
  route(documents.authorize, async (asked) => {
    const request = readAuthorization(await readJsonValue(asked.c))
    return respond(await service.authorize(request, asked.caller))
  }),
  route(documents.verify, async (asked) => {
    const request = readVerification(await readJsonValue(asked.c))
    return respond(await service.verify(request, asked.caller))
  }),
  actRoute(documents.increment, readIncrement, service.increment),
  actRoute(documents.capture, readCapture, service.capture),
  actRoute(documents.void, readVoid, service.void),
  ...laterRoutes(service),
  ...unmatchedRoutes(service),
  ...reconciliationRoutes(service),
  ...readingRoutes(service),
]

/** The routes that give money back, and those for operators. */
const laterRoutes = (service: CardService): readonly Route[] => [
  actRoute(documents.refund, readRefund, service.refund),
  actRoute(documents.resolve, readResolution, service.resolve),
]

/** What networks told about transactions unknown here; for all accounts, because it belongs to none. */
const unmatchedRoutes = (service: CardService): readonly Route[] => [
  route(waitingDocuments.unmatched, async ({ query: { limit, cursor }, caller }) => {
    const found = await service.unmatched(cursor, limit + 1, caller)
    return pageResponse('advices', found, limit, unmatchedView)
  }),
  actRoute(waitingDocuments.resolveAdvice, readAdviceResolution, service.resolveAdvice),
]

const unmatchedView = (one: Awaited<ReturnType<CardService['unmatched']>>[number]) => ({
  id: String(one.id),
  network: one.network,
  mti: one.mti,
  stan: one.stan,
  transmission: one.transmission,
  rrn: one.rrn,
  processing_code: one.processingCode,
  response_code: one.responseCode,
  amount: one.amountCents === null ? null : Number(one.amountCents),
  currency: one.currency,
  times: one.times,
  first_at: one.firstAt.toISOString(),
  last_at: one.lastAt.toISOString(),
})

const waitingView = (one: WaitingReversal) => ({
  id: String(one.id),
  transaction_id: one.transactionId,
  network: one.network,
  amount: Number(one.amountCents),
  currency: one.currency,
  attempts: one.attempts,
  next_attempt_at: one.nextAttemptAt.toISOString(),
  last_attempt_at: one.lastAttemptAt?.toISOString() ?? null,
  response_code: one.responseCode,
  created_at: one.createdAt.toISOString(),
})

const reversalView = (one: WaitingReversal) => ({ ...waitingView(one), reverses: one.reverses })

const adviceView = (one: WaitingReversal) => ({
  ...waitingView(one),
  advises: one.reverses.replace('_advice', ''),
  expires_at: one.expiresAt?.toISOString() ?? null,
})

const readingRoutes = (service: CardService): readonly Route[] => [
  route(waitingDocuments.reversals, async ({ query: { limit, cursor }, caller }) => {
    const page = { isAdvice: false, afterId: cursor, limit: limit + 1 }
    const found = await service.reversals(page, caller)
    return pageResponse('reversals', found, limit, reversalView)
  }),
  route(waitingDocuments.advices, async ({ query: { limit, cursor }, caller }) => {
    const page = { isAdvice: true, afterId: cursor, limit: limit + 1 }
    const found = await service.reversals(page, caller)
    return pageResponse('advices', found, limit, adviceView)
  }),
  route(documents.activity, async ({ query: { minutes }, caller }) =>
    Response.json(await service.activity(minutes, caller)),
  ),
  route(documents.list, async ({ query, caller }) => {
    const { status, merchant_id, reference, rrn, stan, needs_attention, from, to } = query
    const { limit, cursor, amount } = query
    const { amount_from: amountFrom = amount, amount_to: amountTo = amount } = query
    if (stan !== undefined) requireDay('stan', query)
    if (amountFrom !== undefined || amountTo !== undefined) requireDay('amount', query)
    const filter = {
      status,
      merchantId: merchant_id,
      reference,
      rrn,
      stan,
      amountFrom,
      amountTo,
      needsAttention: needs_attention !== undefined,
      from,
      to,
      beforeId: cursor,
      limit: limit + 1,
    }
    const found = await service.list(filter, caller)
    return pageResponse('transactions', found, limit, transactionView)
  }),
  route(documents.find, async ({ params, caller }) =>
    Response.json(transactionView(await service.find(params.id, caller))),
  ),
  route(documents.events, async ({ params, query: { limit, cursor }, caller }) => {
    const { traceId, events } = await service.events(params.id, cursor, limit + 1, caller)
    const { items, next } = pageOf(events, limit, ({ id }) => String(id))
    const shown = items.map(eventViewOf)
    return Response.json({ trace_id: traceId, events: shown, next_cursor: next })
  }),
]
