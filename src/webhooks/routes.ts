import {
  type AllowList,
  ApiError,
  actorOf,
  callerOf,
  checkUrl,
  httpErrors,
  idParams,
  pageOf,
  type RequestContext,
  type Route,
  readJson,
  readParams,
  readQuery,
  refusedValue,
  respond,
  TargetError,
} from '#src/platform/http/index.ts'
import type { Principal } from '#src/platform/security/index.ts'
import {
  changeBody,
  createBody,
  deliveriesOfQuery,
  deliveriesQuery,
  documents,
  replayBody,
  rotateBody,
} from './documents.ts'
import { webhookErrors } from './errors.ts'
import { type SentEvent, sentBody } from './events.ts'
import { isLimited, requireUnlimited } from './rights.ts'
import { viewOf, viewOfDelivery, viewsOf, type WebhookService } from './service.ts'
import { targetOf } from './topics.ts'

type Endpoint = NonNullable<Awaited<ReturnType<WebhookService['store']['find']>>>

export type WebhookRoutesDeps = {
  readonly service: WebhookService
  readonly allowed: AllowList
  /** Called when something is due at once. */
  readonly kick: () => void
}

const base = '/v1/webhooks'
const deliveriesBase = '/v1/webhook-deliveries'

const noSuch = (what: string): ApiError => new ApiError(httpErrors.not_found, `No such ${what}.`)

/** Endpoints of subscribers, deliveries and their attempts. */
export const webhookRoutes = (deps: WebhookRoutesDeps): readonly Route[] => [
  ...endpointRoutes(deps),
  deliveriesOfRoute(deps),
  ...deliveryRoutes(deps).flatMap((route) => [route, ...formerly(route)]),
]

/** The former path of a delivery still answers, but is told to nobody: it looks like one of an endpoint. */
const formerly = (route: Route): readonly Route[] => {
  if (!route.path.startsWith(deliveriesBase)) return []
  const path = `${base}/deliveries${route.path.slice(deliveriesBase.length)}`
  return [{ ...route, path, document: { ...route.document, operation: undefined } }]
}

const reading = (path: string, document: Route['document'], handle: Route['handle']): Route => ({
  method: 'GET',
  path,
  scope: 'webhooks:read',
  document,
  handle,
})

const managing = (
  method: Route['method'],
  path: string,
  document: Route['document'],
  handle: Route['handle'],
): Route => ({
  method,
  path,
  scope: 'webhooks:manage',
  document,
  handle: (c) => {
    requireUnlimited(rightsOf(c), 'managing webhooks')
    return handle(c)
  },
})

const idOf = (c: RequestContext): string => readParams(c, idParams).id

/** Without the Idempotency-Key, for which a body must have been read. */
const rightsOf = ({ env: { principal } }: RequestContext): Principal => {
  if (principal === undefined) throw new ApiError(httpErrors.unauthorized, 'No key.')
  return principal
}

/** What a key reads here it could have had sent to it: nothing more. */
const shownBody = (
  c: RequestContext,
  { include, topic }: Endpoint,
  event: SentEvent,
): string | null => {
  const rights = rightsOf(c)
  if (isLimited(rights)) return null
  const isPersonal = include === 'full' && event.dataFull !== null
  const maySubscribe = rights.scopes.has('webhooks:manage') && rights.restrictions.readOnly !== true
  return isPersonal && !maySubscribe ? null : sentBody({ include, isBare: topic !== null }, event)
}

const finder =
  ({ service }: WebhookRoutesDeps) =>
  async (c: RequestContext): Promise<Endpoint> => {
    const row = await service.find(idOf(c), rightsOf(c))
    if (row === undefined) throw noSuch('webhook')
    return row
  }

/** What another interface has set is read here, and changed there. */
const changeable = (row: Endpoint): Endpoint => {
  if (row.topic === null) return row
  throw new ApiError(webhookErrors.webhook_of_standard, 'The API Pix has set the webhook.')
}

const endpointRoutes = (deps: WebhookRoutesDeps): readonly Route[] => {
  const { service, allowed, kick } = deps
  const found = finder(deps)

  const checkTarget = (url: string | undefined): void => {
    try {
      if (url !== undefined) checkUrl(url, allowed)
    } catch (error) {
      if (error instanceof TargetError) {
        throw refusedValue([{ pointer: '/url', rule: error.reason, message: error.message }])
      }
      throw error
    }
  }

  return [
    managing('POST', base, documents.create, async (c) => {
      const { secret, ...request } = await readJson(c, createBody)
      checkTarget(request.url)
      return respond(await service.create({ ...request, secret }, callerOf(c)))
    }),
    reading(base, documents.list, async (c) =>
      Response.json({ webhooks: await viewsOf(service.store, await service.list(rightsOf(c))) }),
    ),
    reading(`${base}/{id}`, documents.find, async (c) => {
      const [view] = await viewsOf(service.store, [await found(c)])
      return Response.json(view)
    }),
    managing('PATCH', `${base}/{id}`, documents.change, async (c) => {
      const change = await readJson(c, changeBody)
      checkTarget(change.url)
      const { id } = changeable(await found(c))
      const row = await service.change(id, change, actorOf(callerOf(c)))
      if (row === undefined) throw noSuch('webhook')
      kick()
      return Response.json(viewOf(row))
    }),
    managing('DELETE', `${base}/{id}`, documents.remove, async (c) => {
      const { id } = changeable(await found(c))
      const removed = await service.remove(id, actorOf(callerOf(c)))
      if (!removed) throw noSuch('webhook')
      return new Response(null, { status: 204 })
    }),
    managing('POST', `${base}/{id}/test`, documents.test, async (c) => {
      const result = await service.test(changeable(await found(c)), actorOf(callerOf(c)))
      return Response.json({
        delivered: result.outcome.kind === 'delivered',
        status_code: result.statusCode ?? null,
        duration_ms: result.durationMs,
        answer: result.answer ?? null,
        error_class: result.errorClass ?? null,
      })
    }),
    managing('POST', `${base}/{id}/rotate`, documents.rotate, async (c) => {
      const { secret, overlap_seconds } = await readJson(c, rotateBody)
      const { id } = changeable(await found(c))
      const rotated = await service.rotate(id, secret, overlap_seconds, callerOf(c))
      if (rotated === undefined) throw noSuch('webhook')
      return respond(rotated)
    }),
  ]
}

const deliveriesOfRoute = ({ service }: WebhookRoutesDeps): Route =>
  reading(deliveriesBase, documents.deliveriesOf, async (c) => {
    const rights = rightsOf(c)
    // Whether something happened to another's payment is not for a key of some merchants or wallets.
    requireUnlimited(rights, 'deliveries by their subject')
    const { subject, limit, cursor: before } = readQuery(c, deliveriesOfQuery)
    const ids = (await service.list(rights)).map(({ id }) => id)
    const rows = await service.store.deliveriesOf(subject, ids, { limit: limit + 1, before })
    const { items, next } = pageOf(rows, limit, ({ at, id }) => `${at} ${id}`)
    return Response.json({ deliveries: items.map(viewOfDelivery), next_cursor: next })
  })

const deliveryRoutes = (deps: WebhookRoutesDeps): readonly Route[] => {
  const { service, kick } = deps
  const { store } = service
  const found = finder(deps)

  const findDelivery = async (c: RequestContext) => {
    const one = await store.delivery(idOf(c))
    const endpoint = one && (await service.find(one.delivery.endpointId, rightsOf(c)))
    if (one === undefined || endpoint === undefined) throw noSuch('delivery')
    return { ...one, endpoint }
  }

  const active = (endpoint: Endpoint): Endpoint => {
    if (endpoint.active) return endpoint
    throw new ApiError(webhookErrors.webhook_endpoint_disabled, 'The endpoint is not active.')
  }

  return [
    reading(`${base}/{id}/deliveries`, documents.deliveries, async (c) => {
      const { status, limit, before, cursor = before } = readQuery(c, deliveriesQuery)
      const { id } = await found(c)
      const rows = await store.deliveries(id, {
        status: status ?? null,
        limit: limit + 1,
        before: cursor,
      })
      const { items, next } = pageOf(rows, limit, ({ at, id }) => `${at} ${id}`)
      const deliveries = items.map(viewOfDelivery)
      return Response.json({ deliveries, next_cursor: next, next_before: next })
    }),
    managing('POST', `${base}/{id}/replay`, documents.replay, async (c) => {
      const span = await readJson(c, replayBody)
      const { id } = active(await found(c))
      const answered = await service.replayFailed(id, span, callerOf(c))
      kick()
      return respond(answered)
    }),
    reading(`${deliveriesBase}/{id}`, documents.delivery, async (c) => {
      const { delivery, attempts, event, endpoint } = await findDelivery(c)
      return Response.json({
        ...viewOfDelivery(delivery),
        request: { url: targetOf(endpoint), body: shownBody(c, endpoint, event) },
        attempt_log: attempts.map((attempt) => ({
          at: attempt.at.toISOString(),
          status_code: attempt.statusCode,
          duration_ms: attempt.durationMs,
          answer: attempt.answer,
          error_class: attempt.errorClass,
          next_attempt_at: attempt.nextAttemptAt?.toISOString() ?? null,
        })),
      })
    }),
    managing('POST', `${deliveriesBase}/{id}/replay`, documents.replayOne, async (c) => {
      const { delivery, endpoint } = await findDelivery(c)
      active(endpoint)
      const answered = await service.replay(delivery, callerOf(c))
      kick()
      return respond(answered)
    }),
  ]
}
