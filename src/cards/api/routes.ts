import {
  activityQuery,
  callerOf,
  idParams,
  pageResponse,
  parseJson,
  type RequestContext,
  type Route,
  readBytes,
  readJsonValue,
  readParams,
  readQuery,
  requireDay,
  respond,
  route,
} from '#src/platform/http/index.ts'
import type { WaitingReversal } from '../reversals/waiting.ts'
import { eventViewOf, recordOf } from '../use-cases/answers.ts'
import type { CardService } from '../use-cases/service.ts'
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
import { documents, listQuery } from './documents.ts'
import { inPortuguese } from './portuguese.ts'
import { reconciliationRoutes } from './reconciliation-routes.ts'
import { adviceParams, reversalQuery, waitingDocuments } from './waiting-documents.ts'

const bodyBytesMax = 16_384
const base = '/v1/transactions'

const idOf = (c: RequestContext): string => readParams(c, idParams).id

/** A route that does something, and takes a body of JSON. */
const posting = (
  path: string,
  scope: Route['scope'],
  document: Route['document'],
  handle: Route['handle'],
): Route => ({
  method: 'POST',
  path,
  scope,
  bodyBytesMax,
  document,
  handle,
})

/** The body as JSON; undefined without one. */
const optionalBody = async (c: RequestContext) => {
  const bytes = await readBytes(c)
  return bytes.length === 0 ? undefined : parseJson(bytes)
}

/** Authorization, capture, void and query of card transactions. */
export const cardRoutes = (service: CardService): readonly Route[] =>
  routesOf(service).map((route) => ({ ...route, errorStyle: 'envelope', inPortuguese }))

const routesOf = (service: CardService): readonly Route[] => [
  posting(`${base}/authorize`, 'cards:authorize', documents.authorize, async (c) => {
    const request = readAuthorization(await readJsonValue(c))
    return respond(await service.authorize(request, callerOf(c)))
  }),
  posting(`${base}/verify`, 'cards:authorize', documents.verify, async (c) => {
    const request = readVerification(await readJsonValue(c))
    return respond(await service.verify(request, callerOf(c)))
  }),
  posting(`${base}/{id}/increment`, 'cards:authorize', documents.increment, async (c) => {
    const amount = readIncrement(await readJsonValue(c))
    return respond(await service.increment(idOf(c), amount, callerOf(c)))
  }),
  posting(`${base}/{id}/capture`, 'cards:capture', documents.capture, async (c) => {
    const request = readCapture((await optionalBody(c)) ?? {})
    return respond(await service.capture(idOf(c), request, callerOf(c)))
  }),
  posting(`${base}/{id}/void`, 'cards:void', documents.void, async (c) => {
    const body = await optionalBody(c)
    const amount = body === undefined ? undefined : readVoid(body)
    return respond(await service.void(idOf(c), amount, callerOf(c)))
  }),
  ...laterRoutes(service),
  ...unmatchedRoutes(service),
  ...reconciliationRoutes(service),
  ...readingRoutes(service),
]

/** What gives back, and what operators do. */
const laterRoutes = (service: CardService): readonly Route[] => [
  posting(`${base}/{id}/refund`, 'cards:refund', documents.refund, async (c) => {
    const body = await optionalBody(c)
    const amount = body === undefined ? undefined : readRefund(body)
    return respond(await service.refund(idOf(c), amount, callerOf(c)))
  }),
  posting(`${base}/{id}/resolve`, 'ops:admin', documents.resolve, async (c) => {
    const request = readResolution(await readJsonValue(c))
    return respond(await service.resolve(idOf(c), request, callerOf(c)))
  }),
]

const unmatchedPath = `${base}/unmatched-advices`

/** What networks told of that is not known here; of all accounts, as it belongs to none. */
const unmatchedRoutes = (service: CardService): readonly Route[] => [
  route(`GET ${unmatchedPath}`, 'ops:read', waitingDocuments.unmatched, async (c) => {
    const { limit, cursor } = readQuery(c, reversalQuery)
    const found = await service.unmatched(cursor, limit + 1)
    return pageResponse('advices', found, limit, unmatchedView)
  }),
  {
    ofInstitution: true,
    ...posting(
      `${unmatchedPath}/{id}/resolve`,
      'ops:admin',
      waitingDocuments.resolveAdvice,
      async (c) => {
        const reason = readAdviceResolution(await readJsonValue(c))
        const { id } = readParams(c, adviceParams)
        return respond(await service.resolveAdvice(id, reason, callerOf(c)))
      },
    ),
  },
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
  times: one.times,
  first_at: one.firstAt.toISOString(),
  last_at: one.lastAt.toISOString(),
})

const waitingView = (one: WaitingReversal) => ({
  id: String(one.id),
  transaction_id: one.transactionId,
  network: one.network,
  amount: Number(one.amountCents),
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
  route(`GET ${base}/reversals`, 'cards:read', waitingDocuments.reversals, async (c) => {
    const { limit, cursor } = readQuery(c, reversalQuery)
    const page = { isAdvice: false, afterId: cursor, limit: limit + 1 }
    const found = await service.reversals(page, callerOf(c))
    return pageResponse('reversals', found, limit, reversalView)
  }),
  route(`GET ${base}/advices`, 'cards:read', waitingDocuments.advices, async (c) => {
    const { limit, cursor } = readQuery(c, reversalQuery)
    const page = { isAdvice: true, afterId: cursor, limit: limit + 1 }
    const found = await service.reversals(page, callerOf(c))
    return pageResponse('advices', found, limit, adviceView)
  }),
  route(`GET ${base}/activity`, 'cards:read', documents.activity, async (c) => {
    const { minutes } = readQuery(c, activityQuery)
    return Response.json(await service.activity(minutes, callerOf(c)))
  }),
  route(`GET ${base}`, 'cards:read', documents.list, async (c) => {
    const query = readQuery(c, listQuery)
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
    const found = await service.list(filter, callerOf(c))
    return pageResponse('transactions', found, limit, recordOf)
  }),
  route(`GET ${base}/{id}`, 'cards:read', documents.find, async (c) =>
    Response.json(recordOf(await service.find(idOf(c), callerOf(c)))),
  ),
  route(`GET ${base}/{id}/events`, 'cards:read', documents.events, async (c) => {
    const { traceId, events } = await service.events(idOf(c), callerOf(c))
    return Response.json({ trace_id: traceId, events: events.map(eventViewOf) })
  }),
]
