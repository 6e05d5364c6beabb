import { afterEach, expect, mock, spyOn, test } from 'bun:test'
import { loadConsole } from './load-console.ts'

/* A request that nobody knows the outcome of takes its Idempotency-Key again, whoever asks for the same. */

type Send = (
  method: string,
  path: string,
  body?: unknown,
  onReplay?: () => void,
) => Promise<unknown>
const { sendOnce } = await loadConsole<{ readonly sendOnce: Send }>(['once.ts'])

afterEach(() => mock.restore())

const problem = (status: number, code: string, headers = {}) =>
  Response.json({ code, detail: code }, { status, headers })

/** The keys of two requests in turn, of which the first is answered so. @param second asks for something else */
const keysAfter = async (first: () => Response, second: Readonly<Record<number, unknown>> = {}) => {
  const keys: (string | null)[] = []
  spyOn(globalThis, 'fetch').mockImplementation((async (
    _: unknown,
    { headers }: { headers: Headers },
  ) => {
    keys.push(headers.get('idempotency-key'))
    return keys.length === 1 ? first() : Response.json({})
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
  ['one that still runs', () => problem(409, 'idempotency_in_progress')],
  ['one of the API Pix that still runs', () => Response.json({ status: 409 }, { status: 409 })],
])('after %s the same takes the same key', async (_, first) => {
  const [one, other] = await keysAfter(first)
  expect(one).toMatch(/^[0-9a-f]{32}$/)
  expect(other).toBe(one as string)
})

test.each([
  ['it was done', () => Response.json({})],
  ['it was refused', () => problem(422, 'message_rejected')],
  ['the state does not allow it', () => problem(409, 'conflict')],
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
    return keys.length === 1 ? lost() : Response.json({}, answers[keys.length - 1])
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
