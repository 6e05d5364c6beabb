/** A vault that says so is asked for the tokens of one turn together. */
import { afterEach, expect, test } from 'bun:test'
import { createHttpVault } from '../../../src/cards/vault/http-vault.ts'
import { CardTokenNotFoundError, VaultUnavailableError } from '../../../src/cards/vault/index.ts'
import { linesIn } from '../../../src/cards/vault/many.ts'
import { createTestVault, testTokens } from '../../../src/simulators/card-network/index.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const pan = '4000000000000002'

type Asked = { readonly path: string; readonly body: unknown }

const vaultThat = (
  many: (tokens: readonly string[]) => Response,
  tokensMax = '3',
  { slow = '', timeoutMs = 5_000 } = {},
) => {
  const asked: Asked[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const path = new URL(request.url).pathname
      const body = (await request.json()) as { token: string; tokens?: readonly string[] }
      const { tokens = [body.token] } = body
      asked.push({ path, body })
      if (tokens.includes(slow)) await Bun.sleep(3 * timeoutMs)
      if (path === '/v/resolve-many') return many(tokens)
      return new Response(pan, { headers: { 'card-tokens-max': tokensMax } })
    },
  })
  const url = `http://127.0.0.1:${server.port}/v/`
  const vault = createHttpVault({ url, token: 'key', timeoutMs })
  closing.push(() => server.stop(true), vault.close)
  return { asked, vault }
}

const outcomeOf = async (
  card: Promise<{ pan: Uint8Array; expiry?: string | undefined; cryptogram?: string | undefined }>,
) => {
  try {
    const { pan: digits, expiry, cryptogram } = await card
    return [new TextDecoder().decode(digits), expiry, cryptogram]
  } catch (error) {
    if (error instanceof VaultUnavailableError) return error.fault
    return error instanceof CardTokenNotFoundError ? 'not found' : error
  }
}

const cryptogram = 'AAAAAAAAAAAAAAAAAAAAAAAAAAA='

test('once it has said how many it takes, in their order, each with its own outcome', async () => {
  const { asked, vault } = vaultThat((tokens) => {
    const lines: Record<string, string> = {
      a: '4000000000000010',
      b: '',
      c: '5500000000000004;2812',
      d: `5500000000000012;;${cryptogram}`,
      e: 'no number',
      f: '4000000000000028;2813',
    }
    return new Response(tokens.map((token) => `${lines[token]}\n`).join(''))
  })
  await vault.resolve('first')
  const all = await Promise.all(
    ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((token) => outcomeOf(vault.resolve(token))),
  )
  expect(all).toEqual([
    ['4000000000000010', undefined, undefined],
    'not found',
    ['5500000000000004', '2812', undefined],
    ['5500000000000012', undefined, cryptogram],
    ...['malformed', 'malformed'],
    [pan, undefined, undefined],
  ])
  expect(asked).toEqual([
    { path: '/v/resolve', body: { token: 'first' } },
    { path: '/v/resolve-many', body: { tokens: ['a', 'b', 'c'] } },
    { path: '/v/resolve-many', body: { tokens: ['d', 'e', 'f'] } },
    { path: '/v/resolve', body: { token: 'g' } },
  ])
})

test.each([
  ['nothing of the kind', () => new Response(null, { status: 404 })],
  ['no right to it', () => new Response(null, { status: 403 })],
  ['a line too few', () => new Response(`${pan}\n`)],
  ['a line too many', () => new Response(`${pan}\n${pan}\n${pan}\n`)],
  ['a line without an end', () => new Response(`${pan}\n${pan}`)],
] as const)('that answers %s is asked for each alone', async (_, many) => {
  const { asked, vault } = vaultThat(many)
  await vault.resolve('first')
  const cards = await Promise.all([vault.resolve('a'), vault.resolve('b')])
  expect(cards.map(({ pan: digits }) => new TextDecoder().decode(digits))).toEqual([pan, pan])
  expect(asked.slice(1).map(({ path }) => path)).toEqual([
    '/v/resolve-many',
    '/v/resolve',
    '/v/resolve',
  ])
})

test('that has one of them slowly fails that one, and stays open to all', async () => {
  const all = (tokens: readonly string[]) => new Response(`${pan}\n`.repeat(tokens.length))
  const { vault } = vaultThat(all, '100', { slow: 'slow', timeoutMs: 300 })
  await vault.resolve('first')
  const tokens = ['a', 'b', 'slow', ...Array.from({ length: 20 }, (_, at) => `c${at}`)]
  const ended: string[] = []
  const outcomes = await Promise.all(
    tokens.map(async (token) => {
      const outcome = await outcomeOf(vault.resolve(token))
      ended.push(token)
      return outcome
    }),
  )
  // Nobody waits for its second time-out.
  expect(ended.at(-1)).toBe('slow')
  const found = [pan, undefined, undefined]
  expect(outcomes).toEqual(tokens.map((token) => (token === 'slow' ? 'timed_out' : found)))
  expect(await outcomeOf(vault.resolve('next'))).toEqual(found)
})

test.each(['1', '0', '-5', '2x', ''])('whose number is "%s" takes one at a time', async (told) => {
  const { asked, vault } = vaultThat(() => new Response(null, { status: 500 }), told)
  await vault.resolve('first')
  await Promise.all([vault.resolve('a'), vault.resolve('b')])
  expect(new Set(asked.map(({ path }) => path))).toEqual(new Set(['/v/resolve']))
})

test('is never asked for more than a hundred, whatever it says', async () => {
  const { asked, vault } = vaultThat(
    (tokens) => new Response(`${pan}\n`.repeat(tokens.length)),
    '9999',
  )
  await vault.resolve('first')
  await Promise.all(Array.from({ length: 201 }, () => vault.resolve('a')))
  expect(
    asked.slice(1).map(({ body }) => (body as { tokens?: readonly string[] }).tokens?.length),
  ).toEqual([...[100, 100, undefined]])
})

test('the test vault takes a hundred and no more', async () => {
  const { url, stop } = createTestVault({ key: 'key' })
  const vault = createHttpVault({ url, token: 'key', timeoutMs: 5_000 })
  closing.push(stop, vault.close)
  const tokens = [...testTokens.keys()]
  await vault.resolve(tokens[0] ?? '')
  const cards = await Promise.all(tokens.map((token) => vault.resolve(token)))
  expect(cards.map((card) => card.pan)).toEqual(
    tokens.map((token) => testTokens.get(token)!.slice()),
  )
  expect(new Set(cards.map(({ expiry }) => expiry))).toEqual(new Set(['4912']))
  expect(
    await outcomeOf(
      Promise.all([vault.resolve('tok_nobody'), vault.resolve(tokens[0] ?? '')]).then(
        ([one]) => one,
      ),
    ),
  ).toBe('not found')
  const post = (count: number) =>
    fetch(`${url}/resolve-many`, {
      method: 'POST',
      headers: { authorization: 'Bearer key' },
      body: JSON.stringify({ tokens: Array.from({ length: count }, () => tokens[0]) }),
    })
  expect([(await post(100)).status, (await post(101)).status]).toEqual([200, 400])
})

test('lines leave no card number behind where there are too few', () => {
  expect(linesIn(new TextEncoder().encode(`${pan}\n`), 2)).toEqual([])
  expect(linesIn(new Uint8Array(), 0)).toEqual([])
  expect(linesIn(new TextEncoder().encode('\n\n'), 2).map(({ status }) => status)).toEqual([
    404, 404,
  ])
})
