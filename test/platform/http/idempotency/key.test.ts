import { expect, test } from 'bun:test'
import { callerOf } from '#src/platform/http/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { storedKey } from '../../../support/stored-key.ts'

const { key: apiKey, record } = testKey('*')
const { app, call } = testApp(
  [
    {
      method: 'POST',
      path: '/key',
      scope: 'spi:send',
      document: { operation: 'x', summary: 'x', idempotent: true, responses: {} },
      handle: (c) => c.json({ key: callerOf(c).idempotencyKey?.key ?? null }),
    },
  ],
  { keys: [record] },
)

const keyFor = async (header: string | undefined): Promise<unknown> => {
  const headers = header === undefined ? {} : { 'Idempotency-Key': header }
  const response = await call('POST', '/key', { headers, key: apiKey })
  return response.status === 200
    ? ((await response.json()) as { key: unknown }).key
    : response.status
}

test('a card number in it is refused, one of random digits is not', async () => {
  for (const key of ['4000000000000002', 'a 4000-0000-0000-0002 b', 'x4000000000000002']) {
    expect(await keyFor(key)).toBe(400)
  }
  expect(await keyFor('4000000000000001')).toBe(storedKey('4000000000000001'))
})

test('bare and quoted keys mean the same', async () => {
  expect(await keyFor(undefined)).toBeNull()
  expect(await keyFor('order-7')).toBe(storedKey('order-7'))
  expect(await keyFor('"order-7"')).toBe(storedKey('order-7'))
  expect(await keyFor('"a \\"b\\" \\\\"')).toBe(storedKey('a "b" \\'))
})

test('two headers are no key, and so is a list: a comma stands within quotes', async () => {
  const twice = async (one: string, other: string): Promise<number> => {
    const headers: [string, string][] = [
      ['Authorization', `Bearer ${apiKey}`],
      ['Idempotency-Key', one],
      ['Idempotency-Key', other],
    ]
    return (await app.fetch(new Request('http://localhost/key', { method: 'POST', headers })))
      .status
  }
  expect(await twice('a', 'b')).toBe(400)
  expect(await twice('a', 'a')).toBe(400)
  expect(await twice('"a"', '"b"')).toBe(400)
  expect(await keyFor('a,b')).toBe(400)
  expect(await keyFor('"a,b"')).toBe(storedKey('a,b'))
})

test('255 characters are taken, 256, none or others are not', async () => {
  expect(await keyFor('k'.repeat(255))).toBe(storedKey('k'.repeat(255)))
  expect(await keyFor('k'.repeat(256))).toBe(400)
  expect(await keyFor('""')).toBe(400)
  expect(await keyFor('caf\u00e9')).toBe(400)
})
