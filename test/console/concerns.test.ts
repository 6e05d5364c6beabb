import { afterEach, expect, mock, test } from 'bun:test'
import { answerOf, loadConsole } from './load-console.ts'

/* The console counts what waits for a person as far as it asks, and says "more" only where there is more. */

type Concern = { readonly name: string; readonly many: number; readonly isMore: boolean }

const { concernsOf, manyText } = await loadConsole<{
  readonly concernsOf: (session: object, purpose: string) => Promise<readonly Concern[]>
  readonly manyText: (concerns: readonly Concern[]) => string
}>(['concerns.ts'])

afterEach(() => mock.restore())

const told = async (scope: string, answers: Readonly<Record<string, object>>) => {
  const { fetch: own } = globalThis
  const answered = async (asked: string | URL | Request) => {
    const [, path = '', limit = '0'] =
      /(\/(?:v1\/[\w/-]+|health))(?:.*limit=(\d+))?/.exec(String(asked)) ?? []
    if (path === '/health') return answerOf(answers[path] ?? { status: 'ok' })
    const rows = (answers[path] ?? {}) as Readonly<Record<string, readonly object[]>>
    const cut = Object.entries(rows).map(([name, all]) => [
      name,
      name === 'classes' ? all : all.slice(0, Number(limit)),
    ])
    return answerOf(Object.fromEntries(cut))
  }
  globalThis.fetch = Object.assign(answered, { preconnect: own.preconnect })
  try {
    return manyText(await concernsOf({ scopes: [scope] }, 'user'))
  } finally {
    globalThis.fetch = own
  }
}

test.each([
  [49, '49'],
  [50, '50'],
  [51, '50+'],
  [99, '50+'],
])('of %i payments, %s', async (count, text) => {
  const transactions = Array.from({ length: count }, () => ({}))
  expect(await told('cards:read', { '/v1/transactions': { transactions } })).toBe(text)
})

test.each([
  [50, '50'],
  [51, '51'],
  [120, '120'],
  [9_999, '9,999'],
  [10_000, '10,000+'],
])('dead letters are counted as far as the API counts them: %i', async (count, text) => {
  const classes = [{ count: count - 1 }, { count: 1 }]
  const letters = { '/v1/ops/dead-letters': { dead_letters: [{}], classes } }
  const held = { '/v1/drex/held': { held: [] } }
  expect(await told('ops:read', { ...letters, ...held })).toBe(text)
})

const down = { status: 'down', reason: 'no answer in time' }

test.each([
  [
    'each that is not in order',
    { checks: { database: down, broker: down, outbound: { status: 'ok' } } },
    '2',
  ],
  ['all of them as one while it is not told how each is', {}, '1'],
])('of the parts %s is counted', async (_, health, text) => {
  const others = {
    '/v1/ops/dead-letters': { dead_letters: [], classes: [] },
    '/v1/drex/held': { held: [] },
  }
  expect(await told('ops:read', { ...others, '/health': { status: 'degraded', ...health } })).toBe(
    text,
  )
})
