import {
  type AllowList,
  ApiError,
  type Asked,
  actorOf,
  checkUrl,
  cursorOf,
  httpErrors,
  pageOf,
  type RequestContext,
  type Route,
  refusedValue,
  respond,
  route,
  TargetError,
} from '#src/platform/http/index.ts'
import type { Principal } from '#src/platform/security/index.ts'
import { documents } from './documents.ts'
import { webhookErrors } from './errors.ts'
import { type SentEvent, sentBody } from './events.ts'
import { isLimited, requireUnlimited, visibleTo } from './rights.ts'
import { viewOf, viewOfDelivery, viewsOf, type WebhookService } from './service.ts'
import { isKeyLong, keyBytesMin } from './signing.ts'
import { targetOf } from './topics.ts'

type Endpoint = NonNullable<Awaited<ReturnType<WebhookService['store']['find']>>>

export type WebhookRoutesDeps = {
  readonly service: WebhookService
  readonly allowed: AllowList
  readonly isProduction: boolean
  /** Called when something is due at once. */
  readonly kick: () => void
}

const deliveriesBase = '/v1/webhook-deliveries'

const noSuch = (what: string): ApiError => new ApiError(httpErrors.not_found, `No such ${what}.`)

/** Endpoints of subscribers, deliveries and their attempts. */
export const webhookRoutes = (deps: WebhookRoutesDeps): readonly Route[] => [
  ...endpointRoutes(deps),
  deliveriesOfRoute(deps),
  ...deliveryRoutes(deps).flatMap((route) => [route, ...formerly(route)]),
]

/** The former path of a delivery still answers, but the document leaves it out: it looks like one of an endpoint. */
const formerly = (route: Route): readonly Route[] => {
  if (!route.path.startsWith(deliveriesBase)) return []
  const path = `/v1/webhooks/deliveries${route.path.slice(deliveriesBase.length)}`
  return [{ ...route, path, document: { ...route.document, operation: undefined } }]
}

/** For keys without restrictions, whatever they send. */
const managing: typeof route = (contract, handle) => {
  const made = route(contract, handle)
  return {
    ...made,
    handle: (c) => {
      requireUnlimited(rightsOf(c), 'managing webhooks')
      return made.handle(c)
    },
  }
}

/** A request about one endpoint or delivery. */
type OfOne = Pick<Asked<typeof documents.find>, 'params' | 'c'>

/** Does not read the Idempotency-Key, which would need the body. */
const rightsOf = ({ env: { principal } }: RequestContext): Principal => {
  if (principal === undefined) throw new ApiError(httpErrors.unauthorized, 'No key.')
  return principal
}

/** Whether a key could have an event sent to it with all that the event holds. */
const mayHaveFull = (rights: Principal, { dataFull }: SentEvent): boolean =>
  dataFull === null ||
  (rights.scopes.has('webhooks:manage') && rights.restrictions.readOnly !== true)

/** A key may read here only what it could have had sent to it. */
const shownBody = (
  rights: Principal,
  { include, topic }: Endpoint,
  event: SentEvent,
): string | null =>
  isLimited(rights) || (include === 'full' && !mayHaveFull(rights, event))
    ? null
    : sentBody({ include, isBare: topic !== null }, event)

const finder =
  ({ service }: WebhookRoutesDeps) =>
  async ({ params, c }: OfOne): Promise<Endpoint> => {
    const row = await service.find(params.id, rightsOf(c))
    if (row === undefined) throw noSuch('webhook')
    return row
  }

/** Endpoints of another interface can be read here, but changed only there. */
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

  const checkSecret = (secret: string | undefined): void => {
    if (secret === undefined || !deps.isProduction || isKeyLong(secret)) return
    const message = `must be a key of at least ${keyBytesMin} bytes`
    throw refusedValue([{ pointer: '/secret', rule: 'bytes', message }])
  }

  return [
    managing(documents.create, async ({ body: { secret, ...request }, caller }) => {
      checkTarget(request.url)
      checkSecret(secret)
      return respond(await service.create({ ...request, secret }, caller))
    }),
    route(documents.list, async ({ c, query: { limit, cursor: after, needs_attention } }) => {
      const page = { limit: limit + 1, after, needsAttention: needs_attention === 'true' }
      const rows = await service.list(rightsOf(c), page)
      const { items, next } = pageOf(rows, limit, ({ at, id }) => `${at} ${id}`)
      return Response.json({ webhooks: await viewsOf(service.store, items), next_cursor: next })
    }),
    route(documents.find, async (asked) => {
      const [view] = await viewsOf(service.store, [await found(asked)])
      return Response.json(view)
    }),
    managing(documents.change, async (asked) => {
      const { body: change, caller } = asked
      checkTarget(change.url)
      const { id } = changeable(await found(asked))
      const row = await service.change(id, change, actorOf(caller))
      if (row === undefined) throw noSuch('webhook')
      kick()
      return Response.json(viewOf(row))
    }),
    managing(documents.remove, async (asked) => {
      const { id } = changeable(await found(asked))
      const removed = await service.remove(id, actorOf(asked.caller))
      if (!removed) throw noSuch('webhook')
      return new Response(null, { status: 204 })
    }),
    managing(documents.test, async (asked) => {
      const result = await service.test(changeable(await found(asked)), actorOf(asked.caller))
      return Response.json({
        delivered: result.outcome.kind === 'delivered',
        status_code: result.statusCode ?? null,
        duration_ms: result.durationMs,
        answer: result.answer ?? null,
        error_class: result.errorClass ?? null,
      })
    }),
    managing(documents.rotate, async (asked) => {
      const { secret, overlap_seconds } = asked.body
      checkSecret(secret)
      const { id } = changeable(await found(asked))
      return respond(await service.rotate(id, secret, overlap_seconds, asked.caller))
    }),
  ]
}

/**
 * Where a page begins for a cursor of an earlier release: it repeats the whole event of its delivery, since deliveries
 * of one event had another order.
 */
const eventBehind = async (
  { store }: WebhookService,
  cursor: string | undefined,
): Promise<string | undefined> => {
  const id = cursor?.split(' ').at(-1)
  if (id?.startsWith('dlv_') !== true) return cursor
  const one = await store.delivery(id)
  if (one !== undefined) return one.delivery.eventId
  const message = 'is not one that a list gave'
  throw refusedValue([{ pointer: 'cursor', rule: 'cursor', message }])
}

const deliveriesOfRoute = ({ service }: WebhookRoutesDeps): Route =>
  route(documents.deliveriesOf, async (asked) => {
    const rights = rightsOf(asked.c)
    // A key of some merchants or wallets must not learn whether something happened to another's payment.
    requireUnlimited(rights, 'deliveries by their subject')
    const { subject, limit, cursor } = asked.query
    const page = { limit: limit + 1, before: await eventBehind(service, cursor) }
    const { rows, end } = await service.store.deliveriesOf(subject, visibleTo(rights), page)
    const { items, next } = pageOf(rows, limit, (one) => `${one.eventId} ${one.endpointId}`)
    const more = end === undefined ? null : cursorOf(`${end} `)
    return Response.json({ deliveries: items.map(viewOfDelivery), next_cursor: next ?? more })
  })

const deliveryRoutes = (deps: WebhookRoutesDeps): readonly Route[] => {
  const { service, kick } = deps
  const { store } = service
  const found = finder(deps)

  const findDelivery = async ({ params, c }: OfOne) => {
    const one = await store.delivery(params.id)
    const endpoint = one && (await service.find(one.delivery.endpointId, rightsOf(c)))
    if (one === undefined || endpoint === undefined) throw noSuch('delivery')
    return { ...one, endpoint }
  }

  const active = (endpoint: Endpoint): Endpoint => {
    if (endpoint.active) return endpoint
    throw new ApiError(webhookErrors.webhook_endpoint_disabled, 'The endpoint is not active.')
  }

  return [
    route(documents.deliveries, async (asked) => {
      const { status, limit, before, cursor = before } = asked.query
      const { id } = await found(asked)
      const rows = await store.deliveries(id, {
        status: status ?? null,
        limit: limit + 1,
        before: cursor,
      })
      const { items, next } = pageOf(rows, limit, ({ at, id }) => `${at} ${id}`)
      const deliveries = items.map(viewOfDelivery)
      return Response.json({ deliveries, next_cursor: next, next_before: next })
    }),
    managing(documents.replay, async (asked) => {
      const { id } = active(await found(asked))
      const answered = await service.replayFailed(id, asked.body, asked.caller)
      kick()
      return respond(answered)
    }),
    route(documents.delivery, async (asked) => {
      const { delivery, attempts, event, endpoint } = await findDelivery(asked)
      const rights = rightsOf(asked.c)
      const body = shownBody(rights, endpoint, event)
      // A receiver's answer may repeat what we sent it, which may be more than we would send it now.
      const showsAnswers = body !== null && mayHaveFull(rights, event)
      return Response.json({
        ...viewOfDelivery(delivery),
        request: { url: targetOf(endpoint), body },
        attempt_log: attempts.map((attempt) => ({
          at: attempt.at.toISOString(),
          status_code: attempt.statusCode,
          duration_ms: attempt.durationMs,
          answer: showsAnswers ? attempt.answer : null,
          error_class: attempt.errorClass,
          next_attempt_at: attempt.nextAttemptAt?.toISOString() ?? null,
        })),
      })
    }),
    managing(documents.replayOne, async (asked) => {
      const { delivery, endpoint } = await findDelivery(asked)
      active(endpoint)
      const answered = await service.replay(delivery, asked.caller)
      kick()
      return respond(answered)
    }),
  ]
}
