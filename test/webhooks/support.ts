import type { Client } from '#src/platform/database/index.ts'
import { createMetrics, type Logger } from '#src/platform/observe/index.ts'
import type { KeyMaterial, Sealer } from '#src/platform/security/index.ts'
import { createWebhooks, type EventBroker } from '#src/webhooks/index.ts'
import { emitEvents, type WebhookEvent } from '../../src/webhooks/events.ts'
import { testApp, testKey } from '../support/app.ts'
import { createTestDatabase, quietLogger, type TestDatabase } from '../support/database.ts'

export type Received = {
  readonly path: string
  readonly headers: Headers
  readonly body: string
  readonly atMs: number
}

export type Receiver = {
  readonly url: string
  readonly received: Received[]
  readonly stop: () => Promise<void>
}

/** A real HTTP server; `answer` says what it does with the n-th request, from 0. */
export const startReceiver = (
  answer: (index: number, request: Received) => Response | Promise<Response> = () =>
    new Response('ok'),
): Receiver => {
  const received: Received[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: async (request) => {
      const one = {
        path: new URL(request.url).pathname,
        headers: request.headers,
        body: await request.text(),
        atMs: performance.now(),
      }
      return answer(received.push(one) - 1, one)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/hook`,
    received,
    stop: async () => {
      await server.stop(true)
    },
  }
}

export type Overrides = {
  /** Undefined: WEBHOOK_SECRET is not set. */
  readonly secret?: string | undefined
  readonly allowedTargets?: readonly string[]
  readonly timeoutSeconds?: number
  readonly concurrencyMax?: number
  readonly broker?: EventBroker
  readonly elsewhere?: readonly Client[]
  readonly sealer?: Sealer
  readonly tls?: KeyMaterial
  readonly delivers?: boolean
  readonly isProduction?: boolean
  readonly logger?: Logger
}

/** The feature over a database, and a client for its endpoints. */
export const startWebhooks = async (database: TestDatabase, overrides: Overrides = {}) => {
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const feature = createWebhooks({
    sql: database.sql,
    broker: overrides.broker,
    elsewhere: overrides.elsewhere ?? [],
    sealer: overrides.sealer,
    settings: {
      secret: 'secret' in overrides ? overrides.secret : 'common secret of all',
      allowedTargets: overrides.allowedTargets ?? ['127.0.0.0/8', 'localhost'],
      timeoutSeconds: overrides.timeoutSeconds ?? 4,
      concurrencyMax: overrides.concurrencyMax ?? 64,
      retentionDays: 30,
      sequenceDays: 400,
      certificate: undefined,
      key: undefined,
      ca: undefined,
    },
    ...(overrides.tls && { tls: overrides.tls }),
    delivers: overrides.delivers ?? true,
    isProduction: overrides.isProduction ?? false,
    version: 'test',
    logger: overrides.logger ?? quietLogger,
    metrics,
  })
  await feature.start?.()
  const { key, record } = testKey('webhooks:*')
  const { call, lines } = testApp(feature.routes ?? [], { keys: [record] })
  return {
    feature,
    metrics,
    call: (
      method: string,
      path: string,
      body?: unknown,
      headers: Readonly<Record<string, string>> = {},
    ) =>
      call(method, `/v1/webhooks${path}`, {
        key,
        headers,
        ...(body === undefined ? {} : { body }),
      }),
    subscribe: async (url: string, more: Readonly<Record<string, unknown>> = {}) => {
      const body = { url, events: ['pacs.008'], ...more }
      const response = await call('POST', '/v1/webhooks', { key, body })
      if (response.status !== 201) throw new Error((await response.text()) + lines.join(''))
      return ((await response.json()) as { id: string }).id
    },
    stop: async () => {
      await feature.drain?.()
      await feature.stop?.()
    },
  }
}

export const openTestDatabase = (): Promise<TestDatabase> => createTestDatabase(8)

/** Emits in a transaction of its own, as a feature does beside its change of state. */
export const emit = (database: TestDatabase, event: Partial<WebhookEvent> = {}) =>
  database.sql.begin((tx) =>
    emitEvents(tx, [{ type: 'pacs.008', subject: 'msg_1', data: { id: 'msg_1' }, ...event }]),
  )

/** Waits for a condition; the test's own time limit ends it. */
export const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await Bun.sleep(5)
}
