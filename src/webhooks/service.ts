import { randomBytes } from 'node:crypto'
import type { Actor } from '#src/platform/http/index.ts'
import type { Sealer } from '#src/platform/security/index.ts'
import { audited } from './audited.ts'
import type { ActiveEndpoint } from './dispatcher.ts'
import { bodyOf } from './events.ts'
import { createSecrets } from './secrets.ts'
import type { AttemptResult, Sender } from './sender.ts'
import { generateSecret } from './signing.ts'
import type { EndpointChange, EndpointRow, EndpointStore } from './store.ts'

export type WebhookServiceDeps = {
  readonly store: EndpointStore
  readonly send: Sender
  /** WEBHOOK_SECRET. */
  readonly commonSecret: string | undefined
  /** Undefined: secrets are stored as they are. */
  readonly sealer: Sealer | undefined
}

export type NewEndpoint = {
  readonly url: string
  readonly events: readonly string[]
  readonly include: 'thin' | 'full'
  readonly active: boolean
  readonly secret: string | undefined
}

/** `no_secret`: the endpoint has none and WEBHOOK_SECRET is not set. */
export type Created =
  | { readonly ok: true; readonly endpoint: EndpointRow }
  | { readonly ok: false; readonly reason: 'no_secret' }

export type WebhookService = {
  readonly store: EndpointStore
  readonly create: (request: NewEndpoint, actor: Actor) => Promise<Created>
  readonly change: (
    id: string,
    change: EndpointChange,
    actor: Actor,
  ) => Promise<EndpointRow | undefined>
  /** False when there was none. */
  readonly remove: (id: string, actor: Actor) => Promise<boolean>
  /** `generated`: the new secret when the caller gave none; shown once. */
  readonly rotate: (
    id: string,
    secret: string | undefined,
    overlapSeconds: number,
    actor: Actor,
  ) => Promise<
    { readonly endpoint: EndpointRow; readonly generated: string | undefined } | undefined
  >
  /** Sends a `webhook.test` event at once; it is not logged nor repeated. */
  readonly test: (endpoint: EndpointRow) => Promise<AttemptResult>
  readonly activeEndpoints: () => Promise<readonly ActiveEndpoint[]>
  /** The list of endpoints is read anew. */
  readonly invalidate: () => void
}

/** How long a change made by another process may go unseen. */
const cacheMs = 1_000

/** Endpoints and their secrets. */
export const createWebhookService = (deps: WebhookServiceDeps): WebhookService => {
  const { store, sealer, commonSecret, send } = deps
  const { seal, open, keysOf } = createSecrets(sealer, commonSecret)
  let cached:
    | { readonly atMs: number; readonly list: Promise<readonly ActiveEndpoint[]> }
    | undefined

  const invalidate = (): void => {
    cached = undefined
  }

  const readActive = async (): Promise<readonly ActiveEndpoint[]> =>
    (await store.list())
      .filter((row) => row.active)
      .map((row) => ({ id: row.id, url: row.url, include: row.include, keys: keysOf(row) }))

  return {
    store,
    invalidate,
    create: async ({ url, events, include, active, secret }, actor) => {
      if (secret === undefined && commonSecret === undefined)
        return { ok: false, reason: 'no_secret' }
      const id = `whk_${Bun.randomUUIDv7()}`
      const row = {
        ...{ id, url, events, include, active, sealed: sealer !== undefined },
        secret: secret === undefined ? null : seal(id, secret),
      }
      const entry = { actor, action: 'webhooks.create', object: id, outcome: 'created' } as const
      const endpoint = await audited(store, entry, ({ add }) => add(row))
      invalidate()
      if (endpoint === undefined) throw new Error('the endpoint was not stored')
      return { ok: true, endpoint }
    },
    change: async (id, change, actor) => {
      const entry = { actor, action: 'webhooks.change', object: id, outcome: 'changed' } as const
      const changed = await audited(store, entry, (statements) => statements.change(id, change))
      invalidate()
      return changed
    },
    remove: async (id, actor) => {
      const entry = { actor, action: 'webhooks.delete', object: id, outcome: 'deleted' } as const
      const removed = await audited(store, entry, ({ remove }) => remove(id))
      invalidate()
      return removed
    },
    rotate: async (id, given, overlapSeconds, actor) => {
      const row = await store.find(id)
      if (row === undefined) return undefined
      const secret = given ?? generateSecret()
      const present = row.secret === null ? commonSecret : open(row, row.secret)
      const previous = present === undefined ? null : seal(id, present)
      const isSealed = sealer !== undefined
      const entry = { actor, action: 'webhooks.rotate', object: id, outcome: 'rotated' } as const
      const endpoint = await audited(store, entry, ({ rotate }) =>
        rotate(id, seal(id, secret), isSealed, previous, overlapSeconds),
      )
      invalidate()
      if (endpoint === undefined) return undefined
      return { endpoint, generated: given === undefined ? secret : undefined }
    },
    test: (row) => {
      const id = `evt_test_${randomBytes(12).toString('hex')}`
      const data = JSON.stringify({ endpoint_id: row.id })
      const event = { id, type: 'webhook.test', createdAt: new Date(), sequence: 0n, data }
      return send({ url: row.url, eventId: id, body: bodyOf(event), keys: keysOf(row) })
    },
    activeEndpoints: () => {
      const nowMs = performance.now()
      if (cached === undefined || nowMs - cached.atMs > cacheMs) {
        const list = readActive()
        list.catch(invalidate)
        cached = { atMs: nowMs, list }
      }
      return cached.list
    },
  }
}
