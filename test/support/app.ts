import { expect } from 'bun:test'
import {
  type App,
  createApp,
  createHttpMetrics,
  type RateLimits,
  type RecordAct,
  type Rooms,
  type Route,
} from '#src/platform/http/index.ts'
import { createLogger, createMetrics, type LogLevel } from '#src/platform/observe/index.ts'
import {
  type Authenticator,
  createAuthenticator,
  generateKey,
  type KeyRecord,
} from '#src/platform/security/index.ts'

export type TestApp = {
  readonly app: App
  readonly metrics: ReturnType<typeof createMetrics>
  /** Log lines written so far. */
  readonly lines: string[]
  /** Calls the application; a body that is no string is sent as JSON. */
  readonly call: (
    method: string,
    path: string,
    options?: {
      readonly key?: string
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
    },
  ) => Promise<Response>
}

/** A feature's routes behind the real application, with the real authenticator and logger. */
export const testApp = (
  routes: readonly Route[],
  options: {
    readonly keys?: readonly KeyRecord[]
    readonly level?: LogLevel
    /** The place where keys are kept is away. */
    readonly failingKeys?: boolean
    readonly recordAct?: RecordAct
    readonly rates?: RateLimits
    readonly roomsFor?: (route: Route) => Rooms | undefined
  } = {},
): TestApp => {
  const lines: string[] = []
  const metrics = createMetrics({ version: 'test', withProcess: false })
  const app = createApp({
    routes,
    authenticator: authenticatorOf(
      [...(options.keys ?? []), rotatedKey.record, otherAccountKey.record],
      options.failingKeys ?? false,
    ),
    logger: createLogger({
      level: options.level ?? 'info',
      sink: { write: (line) => lines.push(line) },
    }),
    metrics: createHttpMetrics(metrics),
    recordAct: options.recordAct,
    rates: options.rates,
    ...(options.roomsFor === undefined ? {} : { roomsFor: options.roomsFor }),
  })
  return {
    app,
    metrics,
    lines,
    call: (method, path, { key, body, headers } = {}) =>
      app.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: {
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
            ...headers,
          },
          ...(body === undefined
            ? {}
            : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
      ),
  }
}

const authenticatorOf = (keys: readonly KeyRecord[], isFailing: boolean): Authenticator =>
  createAuthenticator({
    institution: ['default', 'other'],
    sources: [
      {
        find: async (id) => {
          if (isFailing) throw new Error('away')
          return keys.find((record) => record.id === id)
        },
      },
    ],
  })

/** A new key with these grants: its text and its record. */
export const testKey = (
  ...grants: readonly string[]
): { readonly key: string; readonly record: KeyRecord } => {
  const { key, id, hash } = generateKey('test')
  return {
    key,
    record: {
      id,
      name: 'test',
      account: 'default',
      hash,
      grants,
      environment: 'test',
      expiresAt: undefined,
      revokedAt: undefined,
    },
  }
}

/** Two keys that every application knows: a further one of the account of all test keys, and one of another account. */
const rotatedKey = testKey('*')
export const otherAccountKey = testKey('*')
Object.assign(otherAccountKey.record, { account: 'other' })

/**
 * What is done under an Idempotency-Key belongs to the account: a repetition with another API key of the account gets
 * the first answer, another account's request with the same Idempotency-Key is one of its own.
 */
export const expectOwnedByAccount = async (
  post: (headers: Readonly<Record<string, string>>) => Promise<Response>,
): Promise<void> => {
  const idempotency = { 'Idempotency-Key': `owned-${Bun.randomUUIDv7()}` }
  const first = await post(idempotency)
  const text = await first.text()
  expect(first.ok).toBe(true)
  const again = await post({ ...idempotency, Authorization: `Bearer ${rotatedKey.key}` })
  expect(again.headers.get('Idempotent-Replayed')).toBe('true')
  expect([again.status, await again.text()]).toEqual([first.status, text])
  const other = await post({ ...idempotency, Authorization: `Bearer ${otherAccountKey.key}` })
  expect(other.ok).toBe(true)
  expect(other.headers.get('Idempotent-Replayed')).toBeNull()
  expect(await other.text()).not.toBe(text)
}
