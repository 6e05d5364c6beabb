import { randomBytes } from 'node:crypto'
import { rowCount, type Transaction } from '#src/platform/database/index.ts'
import {
  type Actor,
  type Answer,
  type Answered,
  ApiError,
  type AuditEntry,
  actorOf,
  type Caller,
  createBound,
  httpErrors,
  replayOf,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import type { Sealer } from '#src/platform/security/index.ts'
import type { ActiveEndpoint } from './dispatcher.ts'
import { countedMax, ownedMax } from './documents.ts'
import { webhookErrors } from './errors.ts'
import { bodyOf } from './events.ts'
import { requireOwn, visibleTo, type WebhookRights } from './rights.ts'
import { createSecrets } from './secrets.ts'
import type { AttemptResult, Sender } from './sender.ts'
import { generateSecret } from './signing.ts'
import {
  type DeliveryRow,
  type EndpointChange,
  type EndpointHealth,
  type EndpointRow,
  type EndpointStore,
  endpointStatements,
  replayedMax,
} from './store.ts'
import { targetOf } from './topics.ts'
import { createWaiting } from './waiting.ts'

export type WebhookServiceDeps = {
  readonly store: EndpointStore
  readonly send: Sender
  /** WEBHOOK_SECRET. */
  readonly commonSecret: string | undefined
  /** Undefined: we store secrets in clear. */
  readonly sealer: Sealer | undefined
  readonly logger: Logger
}

type NewEndpoint = {
  readonly url: string
  readonly events: readonly string[]
  readonly include: 'thin' | 'full'
  readonly active: boolean
  readonly secret: string | undefined
}

/** An endpoint as callers see it. */
export const viewOf = (row: EndpointRow) => ({
  id: row.id,
  url: row.url,
  events: row.events,
  active: row.active,
  include: row.include,
  disabled_reason: row.disabledReason,
  failing_since: row.failingSince?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
})

/** The same with its health, as reading shows it. */
export const viewsOf = async (
  store: EndpointStore,
  rows: readonly EndpointRow[],
): Promise<readonly (ReturnType<typeof viewOf> & { readonly health: EndpointHealth })[]> => {
  const health = await store.healthOf(
    rows.map(({ id }) => id),
    countedMax,
  )
  return rows.map((row) => ({
    ...viewOf(row),
    health: health.get(row.id) ?? { pending: 0, exhausted: 0 },
  }))
}

/** A delivery as callers see it. */
export const viewOfDelivery = (row: DeliveryRow) => ({
  id: row.id,
  event_id: row.eventId,
  endpoint_id: row.endpointId,
  event_type: row.eventType,
  status: row.status,
  attempts: row.attempts,
  next_attempt_at: row.status === 'pending' ? row.nextAttemptAt.toISOString() : null,
  created_at: row.createdAt.toISOString(),
})

/** When deliveries were made: exclusive of `until`, now when not given. */
type Span = { readonly since: Date; readonly until?: Date | undefined }

export type WebhookService = {
  readonly store: EndpointStore
  /** Undefined: the account has no such endpoint. @throws ApiError `restricted` */
  readonly find: (id: string, by: WebhookRights) => Promise<EndpointRow | undefined>
  readonly list: (
    by: WebhookRights,
    page: Parameters<EndpointStore['list']>[1],
  ) => ReturnType<EndpointStore['list']>
  /** The answer holds the secret if we made it: the request gave none, and WEBHOOK_SECRET is not set. */
  readonly create: (request: NewEndpoint, caller: Caller) => Promise<Answered>
  readonly change: (
    id: string,
    change: EndpointChange,
    actor: Actor,
  ) => Promise<EndpointRow | undefined>
  /** False when there was no such endpoint. */
  readonly remove: (id: string, actor: Actor) => Promise<boolean>
  /** The answer holds the new secret if the caller gave none. @throws ApiError 404 */
  readonly rotate: (
    id: string,
    secret: string | undefined,
    overlapSeconds: number,
    caller: Caller,
  ) => Promise<Answered>
  /** Makes deliveries due again at once: those that failed within the span, or the given one. */
  readonly replayFailed: (endpoint: string, span: Span, caller: Caller) => Promise<Answered>
  readonly replay: (delivery: DeliveryRow, caller: Caller) => Promise<Answered>
  /** Sends a `webhook.test` event at once; we neither log nor repeat it. @throws ApiError `overloaded` */
  readonly test: (endpoint: EndpointRow, actor: Actor) => Promise<AttemptResult>
  /** Gets the endpoints for which something has become due. */
  readonly note: (endpoints: readonly string[]) => void
  /**
   * All, or of many those for which something is pending. Without those for which nothing can sign, of which the log
   * tells: their deliveries wait.
   */
  readonly activeEndpoints: () => Promise<readonly ActiveEndpoint[]>
}

/** How long we may not see a change that another process has made. */
const cacheMs = 1_000
/** Endpoints that are kept meanwhile; the API Pix makes one for each Pix key. */
const keptMax = 100
/** Tests that run at once in a process: a receiver that does not answer occupies one until the time is over. */
export const testsMax = 16

/** Endpoints and their secrets. */
export const createWebhookService = (deps: WebhookServiceDeps): WebhookService => {
  const { store, send } = deps
  const { keysOf } = createSecrets(deps.sealer, deps.commonSecret)
  /** Undefined if there are too many to keep: then we read those with waiting work each time. */
  type Active = readonly ActiveEndpoint[] | undefined
  let cached: { readonly atMs: number; readonly all: Promise<Active> } | undefined
  const waiting = createWaiting(store)
  const boundTest = createBound(testsMax)

  const invalidate = (): void => {
    cached = undefined
  }

  const keysToTest = (row: EndpointRow): readonly Uint8Array[] => {
    try {
      return keysOf(row)
    } catch (err) {
      deps.logger.warn({ err, endpoint_id: row.id }, 'nothing can sign for a webhook')
      throw new ApiError(webhookErrors.webhook_secret_shut, 'Nothing can sign for the webhook.')
    }
  }
  /** Endpoints for which nothing could sign when we last looked. */
  let shut: ReadonlySet<string> = new Set()
  const activeOf = (rows: readonly EndpointRow[]): readonly ActiveEndpoint[] => {
    const shutNow = new Set<string>()
    const active = rows.flatMap((row): ActiveEndpoint[] => {
      const { id, account, url, include, topic } = row
      const isBare = topic !== null
      try {
        const keys = isBare ? [] : keysOf(row)
        return [{ id, account, url, target: targetOf(row), include, isBare, keys }]
      } catch (err) {
        shutNow.add(id)
        if (!shut.has(id)) {
          const fields = { err, endpoint_id: id }
          deps.logger.error(fields, 'nothing can sign for a webhook: its deliveries wait')
        }
        return []
      }
    })
    shut = shutNow
    return active
  }
  const readAll = async (): Promise<Active> => {
    const rows = await store.active(keptMax + 1)
    return rows.length > keptMax ? undefined : activeOf(rows)
  }

  return {
    store,
    find: async (id, by) => requireOwn(await store.find(id), by),
    list: (by, page) => store.list(visibleTo(by), page),
    ...onceOf(deps, invalidate, waiting.note),
    note: waiting.note,
    change: async (id, change, actor) => {
      const entry = { actor, action: 'webhooks.change', object: id, outcome: 'changed' } as const
      const changed = await audited(store, entry, (statements) => statements.change(id, change))
      invalidate()
      waiting.note([id])
      return changed
    },
    remove: async (id, actor) => {
      const entry = { actor, action: 'webhooks.delete', object: id, outcome: 'deleted' } as const
      const removed = await audited(store, entry, ({ remove }) => remove(id))
      invalidate()
      return removed
    },
    test: (row, actor) =>
      boundTest(row.account, async () => {
        const keys = keysToTest(row)
        const entry = { actor, action: 'webhooks.test', object: row.id, outcome: 'sent' } as const
        await writeAudit(store.sql, entry)
        const id = `evt_test_${randomBytes(12).toString('hex')}`
        const data = JSON.stringify({ endpoint_id: row.id })
        const event = { id, type: 'webhook.test', createdAt: new Date(), sequence: 0n, data }
        return send({ url: row.url, eventId: id, attempt: 1, body: bodyOf(event), keys })
      }),
    activeEndpoints: async () => {
      const nowMs = performance.now()
      if (cached === undefined || nowMs - cached.atMs > cacheMs) {
        const all = readAll()
        all.catch(invalidate)
        cached = { atMs: nowMs, all }
      }
      return (await cached.all) ?? activeOf(await waiting.read())
    },
  }
}

/** The operations that create or move something, once per Idempotency-Key. */
const onceOf = (
  { store, sealer, commonSecret, logger }: WebhookServiceDeps,
  invalidate: () => void,
  note: (endpoints: readonly string[]) => void,
): Pick<WebhookService, 'create' | 'rotate' | 'replayFailed' | 'replay'> => {
  const { seal, open } = createSecrets(sealer, commonSecret)
  /** Nobody can sign with a secret that cannot be opened: the new one then stands alone. */
  const openIfCan = (row: EndpointRow, secret: Uint8Array): string | undefined => {
    try {
      return open(row, secret)
    } catch (err) {
      const fields = { err, endpoint_id: row.id }
      logger.warn(fields, 'the secret of a webhook cannot be opened: the new one signs alone')
      return undefined
    }
  }
  const once = (
    { idempotencyKey }: Caller,
    work: (statements: ReturnType<typeof endpointStatements>, tx: Transaction) => Promise<Answer>,
  ) => runOnce(store.sql, idempotencyKey, (tx) => work(endpointStatements(tx), tx))

  return {
    create: async ({ url, events, include, active, secret: given }, caller) => {
      const id = `whk_${newUuid()}`
      const sealed = sealer !== undefined
      const isMade = given === undefined && commonSecret === undefined
      const clear = isMade ? generateSecret() : given
      const secret = clear === undefined ? null : seal(id, clear)
      const { owner: account, keyId: createdBy } = caller
      const row = { id, account, createdBy, url, events, include, active, sealed, secret }
      const answered = await once(caller, async ({ add }, tx) => {
        await requireRoom(tx, account)
        const endpoint = await add(row)
        if (endpoint === undefined) throw new Error('the endpoint was not stored')
        const actor = actorOf(caller)
        await writeAudit(tx, { actor, action: 'webhooks.create', object: id, outcome: 'created' })
        const kept = isMade && secret !== null ? { sealed, secret: secretText(secret) } : {}
        return { status: 201, body: JSON.stringify({ ...viewOf(endpoint), ...kept }) }
      })
      invalidate()
      return withSecret(answered, (isSealed, kept, of) => open({ id: of, sealed: isSealed }, kept))
    },
    rotate: async (id, given, overlapSeconds, caller) => {
      const sealed = sealer !== undefined
      const answered = await once(caller, async (statements, tx) => {
        // The second of two rotations at once has the first one's secret for the previous.
        const row = await statements.lock(id)
        if (row === undefined) throw noSuch()
        const present = row.secret === null ? commonSecret : openIfCan(row, row.secret)
        const previous = present === undefined ? null : seal(id, present)
        const secret = seal(id, given ?? generateSecret())
        const endpoint = await statements.rotate(id, secret, sealed, previous, overlapSeconds)
        if (endpoint === undefined) throw noSuch()
        const actor = actorOf(caller)
        await writeAudit(tx, { actor, action: 'webhooks.rotate', object: id, outcome: 'rotated' })
        // We keep a secret that we made under the key in the same form as in its row.
        const kept = given === undefined ? { sealed, secret: secretText(secret) } : {}
        return { status: 200, body: JSON.stringify({ ...viewOf(endpoint), ...kept }) }
      })
      invalidate()
      return withSecret(answered, (isSealed, secret) => open({ id, sealed: isSealed }, secret))
    },
    replayFailed: async (endpoint, span, caller) => {
      const kept = await replayOf(store.sql, caller.idempotencyKey)
      if (kept !== undefined) return kept
      const replayed = await replayAll(store, endpoint, span)
      note([endpoint])
      return once(caller, async (_, tx) => {
        const entry = { action: 'webhooks.replay', object: endpoint, outcome: 'replayed' } as const
        await writeAudit(tx, { ...entry, actor: actorOf(caller) })
        return { status: 202, body: JSON.stringify({ replayed }) }
      })
    },
    replay: async (delivery, caller) => {
      const answered = await once(caller, async (statements, tx) => {
        await statements.replay(delivery.id)
        const entry = {
          action: 'webhooks.replay',
          object: delivery.id,
          outcome: 'replayed',
        } as const
        await writeAudit(tx, { ...entry, actor: actorOf(caller) })
        const again = await statements.delivery(delivery.id)
        return { status: 202, body: JSON.stringify(viewOfDelivery(again?.delivery ?? delivery)) }
      })
      note([delivery.endpointId])
      return answered
    },
  }
}

/**
 * Works in batches, each a transaction: a repeated call goes on where an interrupted one ended. Deliveries that fail
 * again meanwhile keep their own schedule.
 */
const replayAll = async (
  store: EndpointStore,
  endpoint: string,
  { since, until: before = endOfTime }: Span,
): Promise<number> => {
  const until = await store.now()
  let replayed = 0
  for (let from: Date | null = since; from !== null; ) {
    const { count, last }: Awaited<ReturnType<EndpointStore['replayFailed']>> =
      await store.replayFailed(endpoint, { since: from, before, until })
    replayed += count
    from = count < replayedMax ? null : last
  }
  return replayed
}

const endOfTime = new Date('9999-12-31T23:59:59.999Z')

const noSuch = (): ApiError => new ApiError(httpErrors.not_found, 'No such webhook.')

const secretText = (secret: Uint8Array): string => Buffer.from(secret).toString('base64')

/** The answer to a call that made a secret, with the secret in clear. */
const withSecret = (
  answered: Answered,
  open: (isSealed: boolean, secret: Uint8Array, id: string) => string,
): Answered => {
  const { sealed, secret, ...view } = JSON.parse(answered.body) as {
    readonly id: string
    readonly sealed?: boolean
    readonly secret?: string
  }
  if (secret === undefined) return answered
  const shown = { ...view, secret: open(sealed === true, Buffer.from(secret, 'base64'), view.id) }
  return { ...answered, body: JSON.stringify(shown) }
}

/** Changes an endpoint and records who did it, in one transaction; a call without a change leaves no entry. */
const audited = async <T extends EndpointRow | boolean | undefined>(
  store: EndpointStore,
  entry: AuditEntry,
  work: (statements: ReturnType<typeof endpointStatements>) => Promise<T>,
): Promise<T> => {
  const done = await store.sql.begin(async (tx) => {
    const result = await work(endpointStatements(tx))
    if (result !== undefined && result !== false) await writeAudit(tx, entry)
    return { result }
  })
  return done.result
}

/**
 * Nobody else asks for the same account until the end of the transaction.
 *
 * @throws ApiError `webhooks_full`: the account has as many of types as it may
 */
const requireRoom = async (tx: Transaction, account: string): Promise<void> => {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`webhooks:${account}`}, 0))`
  const owned = await tx`
    select from webhook_endpoints where account = ${account} and topic is null
    limit ${rowCount(tx, ownedMax)}`
  if (owned.count < ownedMax) return
  throw new ApiError(webhookErrors.webhooks_full, `The account has ${ownedMax} webhooks.`)
}
