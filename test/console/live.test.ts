/** Streams that say when a list has changed: told once, resumed, bounded, and in the way of no end. */
import { expect, test } from 'bun:test'
import type { Route } from '#src/platform/http/index.ts'
import { createAuthenticator, createSealer } from '#src/platform/security/index.ts'
import { createConsole } from '../../src/console/index.ts'
import { createLive, type LiveOptions } from '../../src/console/live.ts'
import { createOwnSessions } from '../../src/console/record.ts'
import { consoleRoutes } from '../../src/console/routes.ts'
import { createSessions } from '../../src/console/session.ts'
import { openStream } from '../../src/console/stream.ts'
import { testApp, testKey } from '../support/app.ts'
import { until } from '../support/until.ts'

const path = `/console/live?list=${encodeURIComponent('/v1/messages?limit=50')}`
const own = { 'X-Trilho-Console': 'user', 'Sec-Fetch-Site': 'same-origin' }

/** A list behind the console, behind a socket; `list.asked` counts how often it was asked for. */
const createRig = async (options: LiveOptions = {}) => {
  const made = testKey('messages:read')
  const list = { rows: ['a'], asked: 0, status: 200 }
  const route: Route = {
    method: 'GET',
    path: '/v1/messages',
    scope: 'messages:read',
    document: { operation: undefined, summary: '', tag: 'Operation', responses: {} },
    handle: () => {
      list.asked += 1
      return Response.json(list.rows, { status: list.status })
    },
  }
  const api = testApp([route], { keys: [made.record] })
  const records = [made.record]
  const authenticator = createAuthenticator({
    sources: [{ find: async (id) => records.find((record) => record.id === id) }],
    cacheMs: 0,
  })
  const sessions = createSessions({
    sealer: createSealer(new Uint8Array(32)),
    record: createOwnSessions(),
    ...{ idleMs: 60_000, absoluteMs: 60_000 },
  })
  const live = createLive({ everyMs: 2, checkMs: 10, ...options })
  const whole = { fetch: api.app.fetch, authenticator }
  const { app } = testApp(consoleRoutes({ sessions, live, absoluteSeconds: 60, api: () => whole }))
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (asked, by) => app.fetch(asked, by),
  })
  const call = (method: string, to: string, init: RequestInit = {}) =>
    fetch(new URL(to, server.url), { ...init, method })
  const body = JSON.stringify({ key: made.key })
  const signIn = async (): Promise<string> => {
    const headers = { ...own, 'Content-Type': 'application/json' }
    const answer = await call('POST', '/console/session', { headers, body })
    return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  }
  const cookie = await signIn()
  const follow = async (more: Readonly<Record<string, string>> = {}) => {
    const ending = new AbortController()
    const answer = await call('GET', path, {
      headers: { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin', ...more },
      signal: ending.signal,
    })
    const stream = { status: answer.status, headers: answer.headers, text: '', isOver: false }
    const read = async () => {
      for await (const part of answer.body ?? []) stream.text += new TextDecoder().decode(part)
      stream.isOver = true
    }
    void read().catch(() => {
      stream.isOver = true
    })
    return Object.assign(stream, { leave: () => ending.abort() })
  }
  const stop = async () => {
    live.close()
    await server.stop(true)
  }
  return { ...{ list, live, call, cookie, follow, signIn, stop }, [Symbol.asyncDispose]: stop }
}

const marksOf = ({ text }: { readonly text: string }): readonly string[] =>
  [...text.matchAll(/^id: (.+)\nevent: changed$/gm)].map(([, mark]) => mark ?? '')

test('pages of one list are told of each change once', async () => {
  await using rig = await createRig()
  const [one, other] = [await rig.follow(), await rig.follow()]
  expect(one.headers.get('content-type')).toBe('text/event-stream')
  expect(one.headers.get('cache-control')).toBe('no-store')
  expect(one.headers.get('set-cookie')).toBeNull()
  await until(() => marksOf(one).length === 1 && marksOf(other).length === 1)
  const before = rig.list.asked
  await until(() => rig.list.asked > before + 3)
  expect(marksOf(one)).toHaveLength(1)
  rig.list.rows.unshift('b')
  await until(() => marksOf(one).length === 2 && marksOf(other).length === 2)
  expect(marksOf(one)).toEqual(marksOf(other))
})

test('a list that many pages show is asked for once for all of them', async () => {
  const live = createLive({ everyMs: 2 })
  const asked = [0, 0]
  const watchedBy = (at: number) => ({
    name: 'one list',
    sessionId: String(at),
    ask: async () => {
      asked[at] = (asked[at] ?? 0) + 1
      return new Response('[]')
    },
    isSessionOn: async () => true,
    mark: undefined,
  })
  live.open(watchedBy(0))
  live.open(watchedBy(1))
  await until(() => (asked[0] ?? 0) > 2)
  expect(asked[1]).toBe(0)
  live.close()
})

test('a stream that goes on from a mark is told of what happened since, and of nothing else', async () => {
  await using rig = await createRig()
  const first = await rig.follow()
  await until(() => marksOf(first).length === 1)
  const [mark = ''] = marksOf(first)
  first.leave()
  await until(() => rig.live.size() === 0)
  const same = await rig.follow({ 'Last-Event-ID': mark })
  const before = rig.list.asked
  await until(() => rig.list.asked > before + 3)
  expect(marksOf(same)).toEqual([])
  same.leave()
  await until(() => rig.live.size() === 0)
  rig.list.rows.unshift('b')
  const later = await rig.follow({ 'Last-Event-ID': mark })
  await until(() => marksOf(later).length === 1)
  expect(marksOf(later)).not.toContain(mark)
})

test('nothing is asked for once nobody listens', async () => {
  await using rig = await createRig()
  const one = await rig.follow()
  await until(() => marksOf(one).length === 1)
  one.leave()
  await until(() => rig.live.size() === 0)
  const before = rig.list.asked
  await Bun.sleep(30)
  // The turn that ran while it left may still have asked.
  expect(rig.list.asked).toBeLessThanOrEqual(before + 1)
})

test('a session has so many streams, and the process so many: one more is refused', async () => {
  await using rig = await createRig({ streamsMax: 3, sessionStreamsMax: 2 })
  const statuses = [await rig.follow(), await rig.follow(), await rig.follow()].map((s) => s.status)
  expect(statuses).toEqual([200, 200, 503])
  const Cookie = await rig.signIn()
  expect((await rig.follow({ Cookie })).status).toBe(200)
  expect((await rig.follow({ Cookie })).status).toBe(503)
  expect(rig.live.size()).toBe(3)
})

test('an end of the process ends every stream at once, asks its page to come back, and takes no more', async () => {
  await using rig = await createRig()
  const one = await rig.follow()
  await until(() => marksOf(one).length === 1)
  rig.live.close()
  await until(() => one.isOver)
  expect(one.text).toStartWith('retry: 1000\n\n')
  expect(one.text).not.toContain('event: over')
  expect((await rig.follow()).status).toBe(503)
})

test('the console ends them when the process is to drain', async () => {
  const made = testKey('messages:read')
  const api = testApp([], { keys: [made.record] })
  const authenticator = createAuthenticator({
    sources: [{ find: async () => made.record }],
    cacheMs: 0,
  })
  const settings = { isEnabled: true, idleMinutes: 1, sessionHours: 1 }
  const feature = createConsole(settings, undefined, undefined)
  feature.reach?.({ fetch: api.app.fetch, authenticator })
  const { call } = testApp(feature.routes ?? [])
  const body = { key: made.key }
  const signedIn = await call('POST', '/console/session', { body, headers: own })
  const Cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const stream = await call('GET', path, { headers: { Cookie } })
  await feature.drain?.()
  expect(await stream.text()).toBe('retry: 1000\n\n')
})

test('a sign-out ends the streams of its session, and what the API refuses ends the stream', async () => {
  await using rig = await createRig()
  const one = await rig.follow()
  await rig.call('DELETE', '/console/session', { headers: { ...own, Cookie: rig.cookie } })
  await until(() => one.isOver)
  expect(one.text).toContain('event: over')
  expect((await rig.follow()).status).toBe(401)
  const Cookie = await rig.signIn()
  rig.list.status = 503
  const other = await rig.follow({ Cookie })
  await until(() => other.isOver)
  expect(other.text).toContain('event: over')
})

test('another origin, a key beside the cookie, another path, and HEAD open none', async () => {
  await using rig = await createRig()
  expect((await rig.follow({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect((await rig.follow({ Origin: 'https://evil.example' })).status).toBe(403)
  expect((await rig.follow({ Cookie: '' })).status).toBe(401)
  expect((await rig.follow({ Authorization: 'Bearer x' })).status).toBe(401)
  const headers = { Cookie: rig.cookie }
  for (const list of [
    '/v1/keys',
    '/v1/messages/1',
    '//evil.example/',
    `/v1/messages?${'x'.repeat(988)}`,
  ]) {
    const to = `/console/live?list=${encodeURIComponent(list)}`
    expect((await rig.call('GET', to, { headers })).status).toBe(400)
  }
  expect((await rig.call('HEAD', path, { headers })).status).toBe(200)
  expect(rig.live.size()).toBe(0)
  const longest = encodeURIComponent(`/v1/messages?${'x'.repeat(987)}`)
  const { status, body } = await rig.call('GET', `/console/live?list=${longest}`, { headers })
  expect(status).toBe(200)
  await body?.cancel()
})

test('who reads nothing is ended when his queue is full', async () => {
  let ends = 0
  const { body, stream } = openStream(() => {
    ends += 1
  })
  // The first block in the queue is when to come back.
  for (let at = 0; at < 15; at++) stream.write(':\n\n')
  expect(ends).toBe(0)
  stream.write(':\n\n')
  expect(ends).toBe(1)
  stream.write(':\n\n')
  stream.end()
  expect(ends).toBe(1)
  const text = await new Response(body).text()
  expect(text).toBe(`retry: 1000\n\n${':\n\n'.repeat(15)}`)
})
