import { expect, test } from 'bun:test'
import { idempotencyKeyOf } from '#src/platform/http/index.ts'
import { testApp } from '../../../support/app.ts'

const { call } = testApp([
  {
    method: 'POST',
    path: '/key',
    scope: 'public',
    document: { summary: 'x', tag: 'x', responses: {} },
    handle: (c) => c.json({ key: idempotencyKeyOf(c) ?? null }),
  },
])

const keyFor = async (header: string | undefined): Promise<unknown> => {
  const headers = header === undefined ? {} : { 'Idempotency-Key': header }
  const response = await call('POST', '/key', { headers })
  return response.status === 200
    ? ((await response.json()) as { key: unknown }).key
    : response.status
}

test('bare and quoted keys mean the same', async () => {
  expect(await keyFor(undefined)).toBeNull()
  expect(await keyFor('order-7')).toBe('order-7')
  expect(await keyFor('"order-7"')).toBe('order-7')
  expect(await keyFor('"a \\"b\\" \\\\"')).toBe('a "b" \\')
})

test('255 characters are taken, 256, none or others are not', async () => {
  expect(await keyFor('k'.repeat(255))).toBe('k'.repeat(255))
  expect(await keyFor('k'.repeat(256))).toBe(400)
  expect(await keyFor('""')).toBe(400)
  expect(await keyFor('caf\u00e9')).toBe(400)
})
