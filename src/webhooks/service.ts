import { randomBytes } from 'node:crypto'
import type { Sealer } from '#src/platform/sealing/index.ts'
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
  readonly create: (request: NewEndpoint) => Promise<Created>
  readonly change: (id: string, change: EndpointChange) => Promise<EndpointRow | undefined>
  /** `generated`: the new secret when the caller gave none; shown once. */
  readonly rotate: (
    id: string,
    secret: string | undefined,
    overlapSeconds: number,
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
    create: async ({ url, events, include, active, secret }) => {
      if (secret === undefined && commonSecret === undefined)
        return { ok: false, reason: 'no_secret' }
      const id = `whk_${Bun.randomUUIDv7()}`
      const endpoint = await store.add({
        ...{ id, url, events, include, active, sealed: sealer !== undefined },
        secret: secret === undefined ? null : seal(id, secret),
      })
      invalidate()
      if (endpoint === undefined) throw new Error('the endpoint was not stored')
      return { ok: true, endpoint }
    },
    change: async (id, change) => {
      const changed = await store.change(id, change)
      invalidate()
      return changed
    },
    rotate: async (id, given, overlapSeconds) => {
      const row = await store.find(id)
      if (row === undefined) return undefined
      const secret = given ?? generateSecret()
      const present = row.secret === null ? commonSecret : open(row, row.secret)
      const previous = present === undefined ? null : seal(id, present)
      const isSealed = sealer !== undefined
      const endpoint = await store.rotate(id, seal(id, secret), isSealed, previous, overlapSeconds)
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
