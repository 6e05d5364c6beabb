/** Streams say when a list has changed: they tell it once, resume, are bounded, and never delay an end. */
import { expect, test } from 'bun:test'
import type { Route } from '#src/platform/http/index.ts'
import { createAuthenticator, createSealer } from '#src/platform/security/index.ts'
import { createConsole } from '../../src/console/index.ts'
import { createLive, type Live, type LiveOptions } from '../../src/console/live.ts'
import { createOwnSessions } from '../../src/console/record.ts'
import { consoleRoutes } from '../../src/console/routes.ts'
import { createSessions } from '../../src/console/session.ts'
import { openStream } from '../../src/console/stream.ts'
import { testApp, testKey } from '../support/app.ts'
import { quietLogger } from '../support/database.ts'
import { until } from '../support/until.ts'

const liveOf = (...lists: readonly string[]): string =>
  `/console/live?list=${encodeURIComponent(lists.join(' '))}`
const messages = '/v1/messages?limit=50'
const path = liveOf(messages)
const own = { 'X-Trilho-Console': 'user', 'Sec-Fetch-Site': 'same-origin' }

/** A list behind the console, behind a socket; `list.asked` counts the requests for it. */
const createRig = async (options: LiveOptions = {}) => {
  const made = testKey('messages:read')
  const newList = (): { rows: unknown[]; asked: number; status: number } => ({
    rows: ['a'],
    asked: 0,
    status: 200,
  })
  const [list, lanes] = [newList(), newList()]
  const routeOf = (path: string, of: typeof list): Route => ({
    method: 'GET',
    path,
    scope: 'messages:read',
    document: { operation: undefined, summary: '', responses: {} },
    handle: () => {
      of.asked += 1
      return Response.json(of.rows, { status: of.status })
    },
  })
  const routes = [routeOf('/v1/messages', list), routeOf('/v1/drex/lanes', lanes)]
  const api = testApp(routes, { keys: [made.record] })
  const records = [made.record]
  const authenticator = createAuthenticator({
    sources: [{ find: async (id) => records.find((record) => record.id === id) }],
    cacheMs: 0,
  })
  const sessions = createSessions({
    sealer: createSealer(new Uint8Array(32)),
    record: createOwnSessions(),
    idleMs: 60_000,
    absoluteMs: 60_000,
  })
  const live = createLive(quietLogger, { everyMs: 2, checkMs: 10, ...options })
  const whole = { fetch: api.app.fetch, authenticator }
  const { app } = testApp(
    consoleRoutes({ sessions, live, absoluteSeconds: 60, traceUrl: undefined, api: () => whole }),
  )
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
  const follow = async (more: Readonly<Record<string, string>> = {}, path = liveOf(messages)) => {
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
  return {
    list,
    lanes,
    live,
    call,
    cookie,
    follow,
    signIn,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const marksOf = ({ text }: { readonly text: string }): readonly string[] =>
  [...text.matchAll(/^id: (.+)\nevent: changed$/gm)].map(([, mark]) => mark ?? '')

/** The lists for which the stream had this event. */
const toldOf = ({ text }: { readonly text: string }, event = 'changed'): readonly string[] =>
  [...text.matchAll(/^event: (\w+)\ndata: "(.+)"$/gm)]
    .filter(([, kind]) => kind === event)
    .map(([, , list]) => list ?? '')

/** A single page that follows one list. */
const watchedBy = (
  name: string,
  over: Partial<Parameters<Live['open']>[0] & { ask: () => Promise<Response> }> = {},
) => {
  const ask = over.ask ?? (async () => new Response('[]'))
  return {
    sessionId: name,
    shown: [{ path: '/health', name, turns: 1, ask }],
    isSessionOn: async () => true,
    lastId: undefined,
    ...over,
  }
}

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
  const live = createLive(quietLogger, { everyMs: 2 })
  const asked = [0, 0]
  for (const at of [0, 1]) {
    const ask = async () => {
      asked[at] = (asked[at] ?? 0) + 1
      return new Response('[]')
    }
    live.open(watchedBy('one list', { sessionId: String(at), ask }))
  }
  await until(() => (asked[0] ?? 0) > 2)
  expect(asked[1]).toBe(0)
  live.close()
})

const neverAnswered = new Promise<never>(() => {})

test.each([
  ['a list is never answered for', { ask: () => neverAnswered }],
  ['a session is never looked up', { isSessionOn: () => neverAnswered }],
  [
    'looking throws',
    {
      isSessionOn: () => {
        throw new Error('away')
      },
    },
  ],
])('where %s, the pages of others are told of theirs', async (_, over) => {
  const live = createLive(quietLogger, { everyMs: 2, checkMs: 10, askMs: 50 })
  live.open(watchedBy('one', over))
  await Bun.sleep(30)
  let asked = 0
  const ask = async () => {
    asked += 1
    return new Response('[]')
  }
  live.open(watchedBy('other', { ask }))
  await until(() => asked > 3)
  live.close()
})

test('a stream tells that it is there, whatever is not answered', async () => {
  const live = createLive(quietLogger, { everyMs: 2, checkMs: 10 })
  const never = watchedBy('never', { ask: () => neverAnswered, isSessionOn: () => neverAnswered })
  const reader = live.open(never).body?.getReader()
  for (const told of ['retry: 1000\n\n', ...Array(3).fill('event: beat\ndata: {}\n\n')]) {
    const { value } = (await reader?.read()) ?? {}
    expect(new TextDecoder().decode(value)).toBe(told)
  }
  await reader?.cancel()
})

test('lists that are never answered for hold up neither another one nor the look at sessions', async () => {
  const live = createLive(quietLogger, { everyMs: 2, checkMs: 10, askMs: 60_000 })
  for (const name of ['one', 'other']) live.open(watchedBy(name, { ask: () => neverAnswered }))
  live.open(watchedBy('over', { ask: () => neverAnswered, isSessionOn: async () => false }))
  await Bun.sleep(30)
  let asked = 0
  const ask = async () => {
    asked += 1
    return new Response('[]')
  }
  live.open(watchedBy('third', { ask }))
  await until(() => asked > 3 && live.size() === 3)
  live.close()
})

test('so many lists are asked for at once, each not again while its answer is awaited, and the rest as soon as there is room', async () => {
  const live = createLive(quietLogger, { everyMs: 2, askMs: 60_000 })
  const answers = Array.from({ length: 40 }, () => Promise.withResolvers<Response>())
  const asked: number[] = []
  for (const [at, { promise }] of answers.entries()) {
    const ask = () => {
      asked.push(at)
      return promise
    }
    live.open(watchedBy(`list ${at}`, { ask, sessionId: String(at) }))
  }
  await until(() => asked.length >= 4)
  await Bun.sleep(30)
  expect(asked).toEqual(Array.from({ length: 4 }, (_, at) => at))
  for (const { resolve } of answers) resolve(new Response('[]', { status: 503 }))
  await until(() => asked.length === 40)
  live.close()
})

test('lists of one session that are never answered for leave room to others, which are asked for in turn', async () => {
  const live = createLive(quietLogger, { everyMs: 2, askMs: 60_000 })
  let hung = 0
  const ask = () => {
    hung += 1
    return neverAnswered
  }
  for (let at = 0; at < 12; at += 1) live.open(watchedBy(`list ${at}`, { ask, sessionId: 'hung' }))
  const asked: string[] = []
  const many = Array.from({ length: 12 }, (_, at) => ({
    path: `/health?${at}`,
    name: `many ${at}`,
    turns: 1,
    ask: async () => {
      asked.push('many')
      return new Response('[]')
    },
  }))
  live.open({ ...watchedBy('many'), shown: many })
  const askOne = async () => {
    asked.push('one')
    return new Response('[]')
  }
  live.open(watchedBy('one', { ask: askOne }))
  await until(() => asked.length > 12)
  expect(hung).toBe(2)
  expect(asked.slice(0, 3)).toContain('one')
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
  // The turn that ran when the page left may still have asked.
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
  const settings = { isEnabled: true, idleMinutes: 1, sessionHours: 1, traceUrl: undefined }
  const feature = createConsole(settings, undefined, undefined, quietLogger)
  feature.reach?.({ fetch: api.app.fetch, authenticator })
  const { call } = testApp(feature.routes ?? [])
  const body = { key: made.key }
  const signedIn = await call('POST', '/console/session', { body, headers: own })
  const Cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const stream = await call('GET', path, { headers: { Cookie } })
  await feature.drain?.()
  expect(await stream.text()).toBe('retry: 1000\n\n')
})

test('one stream tells of several lists, each by its name, and goes on from the marks of all', async () => {
  await using rig = await createRig()
  const both = liveOf(messages, '/v1/drex/lanes')
  const first = await rig.follow({}, both)
  await until(() => marksOf(first).length === 2)
  expect(toldOf(first)).toEqual([messages, '/v1/drex/lanes'])
  rig.lanes.rows.push('b')
  await until(() => marksOf(first).length === 3)
  expect(toldOf(first)).toEqual([messages, '/v1/drex/lanes', '/v1/drex/lanes'])
  first.leave()
  await until(() => rig.live.size() === 0)
  rig.list.rows.push('b')
  const later = await rig.follow({ 'Last-Event-ID': marksOf(first).at(-1) ?? '' }, both)
  await until(() => marksOf(later).length === 1)
  const before = rig.lanes.asked
  await until(() => rig.lanes.asked > before + 1)
  expect(toldOf(later)).toEqual([messages])
})

test('a page that follows other lists than before says from which marks, and a later one is preferred', async () => {
  await using rig = await createRig()
  const both = liveOf(messages, '/v1/drex/lanes')
  const first = await rig.follow({}, liveOf(messages))
  await until(() => marksOf(first).length === 1)
  const [since = ''] = marksOf(first)
  const second = await rig.follow({}, `${both}&since=${since}.`)
  await until(() => rig.lanes.asked > 1)
  expect(toldOf(second)).toEqual(['/v1/drex/lanes'])
  const later = marksOf(second).at(-1) ?? ''
  expect(later).toStartWith(`${since}.`)
  const third = await rig.follow({ 'Last-Event-ID': later }, `${both}&since=old.`)
  const before = rig.lanes.asked
  await until(() => rig.lanes.asked > before + 1)
  expect(toldOf(third)).toEqual([])
})

test('what changes more seldom is asked for more seldom', async () => {
  await using rig = await createRig()
  const both = await rig.follow({}, liveOf(messages, '/v1/drex/lanes'))
  await until(() => marksOf(both).length === 2)
  await until(() => rig.list.asked > 30)
  expect(rig.lanes.asked).toBeLessThan(rig.list.asked / 2)
})

test('a clock in an answer is no change', async () => {
  await using rig = await createRig()
  rig.list.rows = [{ silent_seconds: 1, round_trip_ms: null, name: 'a' }]
  const one = await rig.follow()
  await until(() => marksOf(one).length === 1)
  rig.list.rows = [{ silent_seconds: 2, round_trip_ms: 1.5, name: 'a' }]
  const before = rig.list.asked
  await until(() => rig.list.asked > before + 3)
  expect(marksOf(one)).toHaveLength(1)
  rig.list.rows = [{ silent_seconds: 2, round_trip_ms: 1.5, name: 'b' }]
  await until(() => marksOf(one).length === 2)
})

test('the time of the last block is no change of a balance; when a transfer changed is one', async () => {
  const live = createLive(quietLogger, { everyMs: 2 })
  let block = 0
  const ask = async () => Response.json({ total: '1.00', updated_at: ++block })
  const textsOf = ['/v1/drex/balance/0x1', '/v1/drex/transfers/1'].map((path) => {
    const shown = [{ path, name: path, turns: 1, ask }]
    return live.open({ ...watchedBy(path), shown }).text()
  })
  await until(() => block > 8)
  live.close()
  const told = (await Promise.all(textsOf)).map((text) => text.split('event: changed').length - 1)
  expect(told[0]).toBe(1)
  expect(told[1]).toBeGreaterThan(1)
})

test('what the API refuses is told once and not asked for again; the others go on', async () => {
  await using rig = await createRig()
  rig.lanes.status = 503
  const one = await rig.follow({}, liveOf(messages, '/v1/drex/lanes'))
  await until(() => toldOf(one, 'refused').length === 1)
  expect(toldOf(one, 'refused')).toEqual(['/v1/drex/lanes'])
  const asked = rig.lanes.asked
  rig.list.rows.push('b')
  await until(() => toldOf(one).length === 2)
  const before = rig.list.asked
  await until(() => rig.list.asked > before + 6)
  expect(rig.lanes.asked).toBe(asked)
  expect(toldOf(one)).toEqual([messages, messages])
})

test('a sign-out ends the streams of its session', async () => {
  await using rig = await createRig()
  const one = await rig.follow()
  await rig.call('DELETE', '/console/session', { headers: { ...own, Cookie: rig.cookie } })
  await until(() => one.isOver)
  expect(one.text).toContain('event: over')
  expect((await rig.follow()).status).toBe(401)
})

test('another origin, a key beside the cookie, another key that is shown, another path, and HEAD open none', async () => {
  await using rig = await createRig()
  expect((await rig.follow({ 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect((await rig.follow({ Origin: 'https://evil.example' })).status).toBe(403)
  expect((await rig.follow({ Cookie: '' })).status).toBe(401)
  expect((await rig.follow({ Authorization: 'Bearer x' })).status).toBe(401)
  expect((await rig.follow({}, `${path}&key=${testKey('messages:read').record.id}`)).status).toBe(
    401,
  )
  const headers = { Cookie: rig.cookie }
  for (const list of [
    '/v1/keys',
    '/v1/messages/1/raw',
    '//evil.example/',
    '/v1/drex/lanes/1',
    '/v1/drex/liens',
    '',
    `/v1/messages?${'x'.repeat(988)}`,
    Array.from({ length: 17 }, () => '/health').join(' '),
  ]) {
    expect((await rig.call('GET', liveOf(list), { headers })).status).toBe(400)
  }
  expect((await rig.call('HEAD', path, { headers })).status).toBe(200)
  expect(rig.live.size()).toBe(0)
  const longest = `/v1/messages?${'x'.repeat(987)}`
  const many = Array.from({ length: 15 }, () => '/health')
  const { status, body } = await rig.call('GET', liveOf(longest, ...many), { headers })
  expect(status).toBe(200)
  await body?.cancel()
})

test('who reads nothing is ended when his queue is full', async () => {
  let ends = 0
  const { body, stream } = openStream(() => {
    ends += 1
  })
  // The first block in the queue tells when to come back.
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
