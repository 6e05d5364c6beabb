import { afterAll, afterEach, expect, mock, setSystemTime, spyOn, test } from 'bun:test'
import { answerOf, loadConsole } from './load-console.ts'

/* A request with an unknown outcome takes its Idempotency-Key again, whoever repeats it. */

type Send = (
  method: string,
  path: string,
  body?: unknown,
  onReplay?: () => void,
) => Promise<unknown>
type Page = {
  readonly sendOnce: Send
  readonly currentSession: () => Promise<unknown>
  readonly refusalOf: (thrown: unknown) => {
    readonly message: string
    readonly isOpen: boolean
    readonly isSecond: boolean
  }
}
const loadPage = () => loadConsole<Page>(['once.ts', 'api.ts'])
const { sendOnce, refusalOf } = await loadPage()

const kept = new Map<string, string>()
Object.defineProperty(globalThis, 'localStorage', {
  value: {
    get length() {
      return kept.size
    },
    key: (at: number) => [...kept.keys()][at] ?? null,
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  },
  configurable: true,
})
afterAll(() => Reflect.deleteProperty(globalThis, 'localStorage'))

afterEach(() => {
  mock.restore()
  setSystemTime()
})

const problem = (status: number, code: string, headers = {}) =>
  Response.json({ type: `/v1/errors/${code}`, code, detail: code }, { status, headers })
const pixProblem = (status: number) =>
  Response.json({ type: 'https://pix.bcb.gov.br/api/v2/error/X', status }, { status })
const envelope = (status: number, code: string) =>
  Response.json({ error: { code, message: code, details: {} } }, { status })

/** The keys of two requests in turn; `first` answers the first. @param second what differs in the second request */
const keysAfter = async (first: () => Response, second: Readonly<Record<number, unknown>> = {}) => {
  const keys: (string | null)[] = []
  spyOn(globalThis, 'fetch').mockImplementation((async (
    _: unknown,
    { headers }: { headers: Headers },
  ) => {
    keys.push(headers.get('idempotency-key'))
    return keys.length === 1 ? first() : answerOf({})
  }) as unknown as typeof fetch)
  const path = `/v1/pix/payments/${crypto.randomUUID()}/refunds`
  const given: Parameters<Send> = ['POST', path, { amount: 400 }]
  await sendOnce(...given).catch(() => {})
  await sendOnce(...(Object.assign([...given], second) as Parameters<Send>))
  return keys
}

const lost = (): Response => {
  throw new TypeError('Failed to fetch')
}

test.each([
  ['no answer', lost],
  ['no answer that can be read', () => new Response('<html>')],
  ['a proxy', () => new Response('<html>', { status: 502 })],
  ['a fault', () => problem(500, 'internal')],
  ['a session that is over', () => problem(401, 'unauthorized')],
  ['a limit', () => problem(429, 'rate_limited')],
  ['somebody in between who answers with nothing', () => new Response(null, { status: 204 })],
  ['somebody in between who says that it is done', () => Response.json({ status: 'ok' })],
  ['a proxy that finds no such path', () => new Response('<h1>Not Found</h1>', { status: 404 })],
  ['a proxy that takes no such body', () => new Response(null, { status: 413 })],
  ['a proxy with errors of its own', () => Response.json({ error: 'no' }, { status: 400 })],
  [
    'a proxy with codes of its own',
    () => Response.json({ error: { code: 'NotFound', message: 'no' } }, { status: 404 }),
  ],
  [
    'a proxy with problems of its own',
    () => Response.json({ type: 'about:blank', status: 404, code: 'x' }, { status: 404 }),
  ],
  ['one that still runs', () => problem(409, 'idempotency_in_progress')],
  ['one of the API Pix that still runs', () => pixProblem(409)],
])('after %s the same takes the same key', async (_, first) => {
  const [one, other] = await keysAfter(first)
  expect(one).toMatch(/^[0-9a-f]{32}$/)
  expect(other).toBe(one as string)
})

test.each([
  ['it was done', () => answerOf({})],
  ['it was refused', () => problem(422, 'message_rejected')],
  ['the state does not allow it', () => problem(409, 'conflict')],
  ['it was refused as cards and transfers are', () => envelope(400, 'VALIDATION_FAILED')],
  ['the API Pix refused it', () => pixProblem(404)],
  [
    'a fault is the answer that is kept',
    () => problem(504, 'x', { 'Idempotent-Replayed': 'true' }),
  ],
])('where %s the same is something new', async (_, first) => {
  const [one, other] = await keysAfter(first)
  expect(other).toMatch(/^[0-9a-f]{32}$/)
  expect(other).not.toBe(one as string)
})

test('something else takes another key', async () => {
  const bodies = await keysAfter(lost, { 2: { amount: 500 } })
  const paths = await keysAfter(lost, { 1: '/v1/other' })
  const methods = await keysAfter(lost, { 0: 'PUT' })
  for (const keys of [bodies, paths, methods]) expect(new Set(keys).size).toBe(2)
})

test('what was done the first time is told as that, and the same is something new then', async () => {
  const answers = [{}, { headers: { 'Idempotent-Replayed': 'true' } }, {}]
  const keys: (string | null)[] = []
  spyOn(globalThis, 'fetch').mockImplementation((async (
    _: unknown,
    { headers }: { headers: Headers },
  ) => {
    keys.push(headers.get('idempotency-key'))
    return keys.length === 1 ? lost() : answerOf({}, answers[keys.length - 1])
  }) as unknown as typeof fetch)
  let replays = 0
  const ask = () =>
    sendOnce('POST', '/v1/transactions/txn_1/refund', { amount: 1_000 }, () => {
      replays += 1
    })
  await ask().catch(() => {})
  await ask()
  expect(replays).toBe(1)
  await ask()
  expect(replays).toBe(1)
  expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false])
})

/** The keys that these pages send in turn for the same request; all except the last page lose the answer. */
const keysOf = async (
  pages: readonly Page[],
  account = 'a',
  asked: string = crypto.randomUUID(),
) => {
  const keys: (string | null)[] = []
  spyOn(globalThis, 'fetch').mockImplementation((async (
    path: string,
    { headers }: { headers: Headers },
  ) => {
    if (path === '/console/session') return answerOf({ key_id: 'k', account })
    keys.push(headers.get('idempotency-key'))
    return keys.length < pages.length ? lost() : answerOf({})
  }) as unknown as typeof fetch)
  for (const page of pages) {
    await page.currentSession()
    await page.sendOnce('POST', '/v1/pix/payments', { asked }).catch(() => {})
  }
  return keys
}

test('a page that is loaded anew, or in another tab, takes the same key for the same', async () => {
  const [one, other] = await keysOf([await loadPage(), await loadPage()])
  expect(one).toMatch(/^[0-9a-f]{32}$/)
  expect(other).toBe(one as string)
})

test('another account takes another key for the same', async () => {
  const page = await loadPage()
  const asked = crypto.randomUUID()
  const own = await keysOf([page, page], 'a', asked)
  const others = await keysOf([page], 'b', asked)
  expect(own).not.toContain(others[0] as string)
})

test('what is kept of open acts is no text of theirs, is bounded, and is forgotten with the key', async () => {
  const page = await loadPage()
  await keysOf([page])
  spyOn(globalThis, 'fetch').mockImplementation((async () => lost()) as unknown as typeof fetch)
  for (let at = 0; at < 150; at++) {
    await page.sendOnce('POST', '/v1/pix/payments', { asked: `secret ${at}` }).catch(() => {})
  }
  const held = JSON.stringify([...kept])
  expect([held.includes('secret'), kept.size]).toEqual([false, 100])
  const [soon] = await keysOf([page], 'a', 'secret 149')
  expect(held).toContain(soon as string)
  setSystemTime(Date.now() + 72 * 3_600_000)
  const [late] = await keysOf([page], 'a', 'secret 148')
  expect(held).not.toContain(late as string)
})

test('an act that is not answered in a minute may have been done, as one whose answer is lost', async () => {
  const limits: number[] = []
  const { timeout } = AbortSignal
  spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    limits.push(ms)
    return timeout.call(AbortSignal, 1)
  })
  spyOn(globalThis, 'fetch').mockImplementation(
    ((_: unknown, { signal }: RequestInit) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })) as typeof fetch,
  )
  const thrown = await sendOnce('POST', '/v1/pix/payments', {}).catch((error: unknown) => error)
  const { message, isOpen } = refusalOf(thrown)
  expect([limits, message, isOpen]).toEqual([[60_000], 'The gateway does not answer.', true])
})

test.each([
  ['a dead letter that is gone', () => problem(404, 'not_found'), true],
  ['a transfer that is cancelled', () => problem(409, 'conflict'), true],
  ['a charge that is removed', () => pixProblem(400), true],
  ['a right that is missing', () => problem(403, 'forbidden'), false],
  [
    'the answer that is kept of the first time',
    () => problem(409, 'conflict', { 'Idempotent-Replayed': 'true' }),
    false,
  ],
])('after a lost answer, %s may be for having been done the first time', async (_, then, may) => {
  let asked = 0
  spyOn(globalThis, 'fetch').mockImplementation((async () => {
    asked += 1
    return asked === 1 ? lost() : then()
  }) as unknown as typeof fetch)
  const path = `/v1/ops/dead-letters/${crypto.randomUUID()}`
  const ask = async () =>
    refusalOf(await sendOnce('DELETE', path).catch((error: unknown) => error)).isSecond
  expect([await ask(), await ask()]).toEqual([false, may])
})

test.each([
  ['the gateway', () => problem(401, 'unauthorized'), true],
  ['the gateway as cards and transfers are', () => envelope(401, 'UNAUTHORIZED'), true],
  ['a proxy', () => new Response('<h1>Unauthorized</h1>', { status: 401 }), false],
  ['a proxy in JSON', () => Response.json({ error: 'unauthorized' }, { status: 401 }), false],
])('a session is over where %s says so', async (_, answer, isOver) => {
  spyOn(globalThis, 'fetch').mockImplementation((async () => answer()) as unknown as typeof fetch)
  const told: string[] = []
  Object.defineProperty(globalThis, 'dispatchEvent', {
    value: ({ type }: Event) => told.push(type) > 0,
    configurable: true,
  })
  await sendOnce('POST', '/v1/pix/payments', {}).catch(() => {})
  Reflect.deleteProperty(globalThis, 'dispatchEvent')
  expect(told).toEqual(isOver ? ['signed-out'] : [])
})

test('what is refused at once was not done before', async () => {
  spyOn(globalThis, 'fetch').mockImplementation((async () =>
    problem(404, 'not_found')) as unknown as typeof fetch)
  const thrown = await sendOnce('DELETE', '/v1/webhooks/1').catch((error: unknown) => error)
  expect(refusalOf(thrown).isSecond).toBe(false)
})

test('what somebody in between answers is told as that, and may be tried again', async () => {
  const foreign = async () => Response.json({ detail: 'ours' }, { status: 404 })
  spyOn(globalThis, 'fetch').mockImplementation(foreign as unknown as typeof fetch)
  const thrown = await sendOnce('POST', '/v1/pix/payments', {}).catch((error: unknown) => error)
  const { message, isOpen } = refusalOf(thrown)
  expect([message, isOpen]).toEqual([
    'Somebody between this page and the gateway answered (HTTP 404), not the gateway.',
    true,
  ])
})
