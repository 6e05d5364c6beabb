/** The session of the console: who gets one, when it ends, and that no other page can use it. */
import { expect, test } from 'bun:test'
import type { Route } from '#src/platform/http/index.ts'
import { createAuthenticator, createSealer } from '#src/platform/security/index.ts'
import { createLive } from '../../src/console/live.ts'
import {
  createAuditedSessions,
  createOwnSessions,
  type SessionRecord,
} from '../../src/console/record.ts'
import { consoleRoutes } from '../../src/console/routes.ts'
import { createSessions } from '../../src/console/session.ts'
import { testApp, testKey } from '../support/app.ts'
import { createTestDatabase, quietLogger } from '../support/database.ts'

const minuteMs = 60_000
const own = { 'X-Trilho-Console': 'user', 'Sec-Fetch-Site': 'same-origin' }

/** An API of one route behind the console, with a clock and a key that can be revoked. */
const createRig = (
  record: SessionRecord = createOwnSessions(),
  made = testKey('messages:read'),
) => {
  const clock = { ms: Date.UTC(2026, 0, 1) }
  const records = [made.record]
  const route: Route = {
    method: 'GET',
    path: '/v1/who',
    scope: 'messages:read',
    document: { operation: undefined, summary: '', responses: {} },
    handle: (c) =>
      Response.json({
        key: c.env.principal?.keyId,
        cookie: c.req.header('cookie') ?? null,
        forwarded: c.req.header('x-forwarded-for') ?? null,
      }),
  }
  const api = testApp([route], { keys: records })
  const authenticator = createAuthenticator({
    sources: [{ find: async (id) => records.find((record) => record.id === id) }],
    cacheMs: 0,
  })
  const sessions = createSessions({
    sealer: createSealer(new Uint8Array(32)),
    record,
    idleMs: 30 * minuteMs,
    absoluteMs: 120 * minuteMs,
    now: () => clock.ms,
  })
  const live = createLive(quietLogger)
  const whole = { fetch: api.app.fetch, authenticator }
  const { call } = testApp(
    consoleRoutes({
      sessions,
      live,
      absoluteSeconds: 7_200,
      traceUrl: undefined,
      api: () => whole,
    }),
  )
  const signIn = async (headers: Readonly<Record<string, string>> = own) =>
    call('POST', '/console/session', { body: { key: made.key }, headers })
  const who = (cookie: string, headers: Readonly<Record<string, string>> = own) =>
    call('GET', '/console/api/v1/who', { headers: { ...headers, Cookie: cookie } })
  return { clock, made, records, call, signIn, who, sessions }
}

const cookieOf = (answer: Response): string =>
  (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''

test('a key becomes a cookie that no script reads, and that asks the API as that key', async () => {
  const { made, signIn, who } = createRig()
  const answer = await signIn()
  expect(answer.status).toBe(200)
  const header = answer.headers.get('set-cookie') ?? ''
  expect(header).toContain('; HttpOnly; SameSite=Strict; Path=/')
  expect(header).not.toContain(made.key)
  expect(await answer.text()).not.toContain(made.key)
  const asked = await who(cookieOf(answer), { ...own, 'X-Forwarded-For': '10.0.0.1' })
  expect(await asked.json()).toEqual({ key: made.record.id, cookie: null, forwarded: null })
})

test('what the gateway answers through the console bears its mark', async () => {
  const { call, signIn, who } = createRig()
  const answer = await signIn()
  const headers = { ...own, Cookie: cookieOf(answer) }
  const others = [
    await who(cookieOf(answer)),
    await call('GET', '/console/session', { headers }),
    await call('DELETE', '/console/session', { headers }),
  ]
  for (const { headers: marked } of [answer, ...others]) {
    expect(marked.get('x-trilho-console')).toBe('answer')
  }
})

test('a wrong key gets none', async () => {
  const { call } = createRig()
  const answer = await call('POST', '/console/session', { body: { key: 'no' }, headers: own })
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([401, null])
})

test('away from loopback the cookie is for HTTPS and this host alone', async () => {
  const { call, made } = createRig()
  const { key } = made
  const app = await call('POST', '/console/session', { body: { key }, headers: own })
  expect(cookieOf(app)).toStartWith('trilho-console=')
  const { writeCookie } = await import('../../src/console/cookie.ts')
  expect(writeCookie(new Request('https://bank.example/console'), 'x', 1)).toBe(
    '__Host-trilho-console=x; Secure; HttpOnly; SameSite=Strict; Path=/; Max-Age=1',
  )
})

test.each([
  ['from another site', { ...own, 'Sec-Fetch-Site': 'cross-site' }],
  ['from a neighbour of the same site', { ...own, 'Sec-Fetch-Site': 'same-site' }],
  ['from another origin', { 'X-Trilho-Console': 'user', Origin: 'https://evil.example' }],
  ['from the origin null', { 'X-Trilho-Console': 'user', Origin: 'null' }],
  ['without our header', { 'Sec-Fetch-Site': 'same-origin' }],
])('a request %s is refused, signed in or not', async (_, headers) => {
  const { call, signIn, who, made } = createRig()
  const cookie = cookieOf(await signIn())
  expect((await signIn(headers)).status).toBe(403)
  expect((await who(cookie, headers)).status).toBe(403)
  const all = { ...headers, Cookie: cookie }
  expect((await call('DELETE', '/console/session', { headers: all })).status).toBe(403)
  expect((await call('GET', '/console/session', { headers: all })).status).toBe(403)
  expect((await who(cookie)).status).toBe(200)
  expect(made.key).toStartWith('trl_test_')
})

test('the cookie opens nothing but the console, and never beside a key', async () => {
  const { signIn, call, made } = createRig()
  const headers = { ...own, Cookie: cookieOf(await signIn()) }
  const both = await call('GET', '/console/api/v1/who', { headers, key: made.key })
  expect(both.status).toBe(401)
  expect((await call('GET', '/console/api/console/session', { headers })).status).toBe(404)
})

test('signing in makes a session anew and ends the one that was there', async () => {
  const { call, made, signIn, who } = createRig()
  const first = cookieOf(await signIn())
  const headers = { ...own, Cookie: first }
  const second = cookieOf(
    await call('POST', '/console/session', { body: { key: made.key }, headers }),
  )
  expect(second).not.toBe(first)
  expect([(await who(first)).status, (await who(second)).status]).toEqual([401, 200])
})

test('a page that shows another key asks nothing in its place, and does not end its session', async () => {
  const { call, made, signIn, who } = createRig()
  const cookie = cookieOf(await signIn())
  const shows = (id: string) => ({ ...own, 'X-Trilho-Console-Key': id })
  const other = shows(testKey('messages:read').record.id)
  expect((await who(cookie, other)).status).toBe(401)
  const out = await call('DELETE', '/console/session', { headers: { ...other, Cookie: cookie } })
  expect([out.status, out.headers.get('set-cookie')]).toEqual([401, null])
  expect((await who(cookie, shows(made.record.id))).status).toBe(200)
})

test('signing out ends the session, whoever has kept its cookie', async () => {
  const { call, signIn, who } = createRig()
  const cookie = cookieOf(await signIn())
  const out = await call('DELETE', '/console/session', { headers: { ...own, Cookie: cookie } })
  expect([out.status, out.headers.get('set-cookie')]).toEqual([
    204,
    'trilho-console=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0',
  ])
  expect((await who(cookie)).status).toBe(401)
})

test('signing out of one process ends the session in all of them, and both acts are audited', async () => {
  const database = await createTestDatabase()
  const record = createAuditedSessions(database.sql)
  const one = createRig(record)
  const other = createRig(record, one.made)
  const cookie = cookieOf(await one.signIn())
  expect((await other.who(cookie)).status).toBe(200)
  const stays = cookieOf(await one.signIn())
  await one.call('DELETE', '/console/session', { headers: { ...own, Cookie: cookie } })
  expect([(await other.who(cookie)).status, (await one.who(cookie)).status]).toEqual([401, 401])
  expect((await other.who(stays)).status).toBe(200)
  const acts = await database.sql<{ actor: string; action: string; object: string }[]>`
    select actor, action, object from audit_log order by id`
  expect(acts.map(({ action }) => action)).toEqual([
    ...['console.sign_in', 'console.sign_in', 'console.sign_out'],
  ])
  expect(acts.every(({ actor }) => actor === one.made.record.id)).toBe(true)
  expect(acts[2]?.object).toBe(acts[0]?.object ?? '')
  expect(JSON.stringify(acts)).not.toContain(one.made.key)
  await database.close()
})

test('it ends when nobody used it; what the page asks by itself is no use', async () => {
  const { clock, signIn, who } = createRig()
  const cookie = cookieOf(await signIn())
  clock.ms += 30 * minuteMs - 1
  const background = { ...own, 'X-Trilho-Console': 'background' }
  const asked = await who(cookie, background)
  expect([asked.status, asked.headers.get('set-cookie')]).toEqual([200, null])
  const renewed = cookieOf(await who(cookie))
  clock.ms += 1
  expect([(await who(cookie)).status, (await who(renewed)).status]).toEqual([401, 200])
})

test('it ends at its absolute time, however much it is used', async () => {
  const { clock, signIn, who } = createRig()
  let cookie = cookieOf(await signIn())
  for (let at = 0; at < 5; at++) {
    clock.ms += 20 * minuteMs
    cookie = cookieOf(await who(cookie))
  }
  clock.ms += 20 * minuteMs - 1
  expect((await who(cookie)).status).toBe(200)
  clock.ms += 1
  expect((await who(cookie)).status).toBe(401)
})

test('it ends with its key', async () => {
  const { call, made, records, signIn } = createRig()
  const headers = { ...own, Cookie: cookieOf(await signIn()) }
  records.splice(0, 1, { ...made.record, revokedAt: new Date(0) })
  expect((await call('GET', '/console/session', { headers })).status).toBe(401)
})

test('an altered cookie, and one of another master key, is none', async () => {
  const { signIn, who, made } = createRig()
  const cookie = cookieOf(await signIn())
  const at = cookie.length - 20
  const other = cookie[at] === 'A' ? 'B' : 'A'
  const altered = cookie.slice(0, at) + other + cookie.slice(at + 1)
  const foreign = await createSessions({
    sealer: createSealer(new Uint8Array(32).fill(1)),
    idleMs: minuteMs,
    record: createOwnSessions(),
    absoluteMs: minuteMs,
  }).begin(made.key, { id: made.record.id, requestId: undefined })
  for (const bad of [
    altered,
    `trilho-console=${foreign}`,
    'trilho-console=',
    `${cookie}; ${cookie}`,
  ]) {
    expect((await who(bad)).status).toBe(401)
  }
})
