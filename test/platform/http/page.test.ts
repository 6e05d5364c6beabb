import { expect, test } from 'bun:test'
import { Hono } from 'hono'
import { z } from 'zod'
import {
  type ApiError,
  cursor,
  cursorOf,
  type RequestContext,
  readQuery,
} from '#src/platform/http/index.ts'

const any = cursor(/^[!-~ ]{1,100}$/)
const uuid = '0193b3a0-7b1c-7000-8000-0123456789ab'

test.each([
  'a@example.com',
  '12',
  uuid,
  `${uuid} 999999999`,
  `theirs ${uuid} 0`,
  `2024-02-29T23:59:59.999Z ${uuid}`,
  `2026-12-31T00:00:00.123456Z dlv_${'-'.repeat(36)}`,
])('a cursor may name %s', (key) => {
  expect(any.parse(cursorOf(key))).toBe(key)
})

test.each([
  '-'.repeat(36),
  uuid.replace('-', '0'),
  `${'-'.repeat(36)} 1`,
  `theirs ${'a'.repeat(36)} 0`,
  `2026-02-30T00:00:00.000Z ${uuid}`,
  `2026-13-01T00:00:00.000Z ${uuid}`,
  `2026-01-01T24:00:00.000Z ${uuid}`,
  `0000-01-01T00:00:00.000Z ${uuid}`,
  `9999-99-99T99:99:99.999999Z ${uuid}`,
  `2026-01-01T00:00:00.000Z ${'-'.repeat(36)}`,
])('no list gave %s', (key) => {
  expect(any.safeParse(cursorOf(key)).error?.issues).toMatchObject([{ params: { rule: 'cursor' } }])
})

test.each([
  ['?limit=1', 200],
  ['?limit=1&limit=2', 400],
  ['?limit=1&other=1', 400],
  ['?limit=1&__proto__=1', 400],
  ['?limit=1&constructor=1', 400],
])('the query %s answers %d', async (query, status) => {
  const app = new Hono<{ Bindings: RequestContext['env'] }>()
    .get('/', (c) => c.json(readQuery(c, z.strictObject({ limit: z.string() }))))
    .onError((error) => new Response(null, { status: (error as ApiError).definition.status }))
  expect((await app.request(`/${query}`)).status).toBe(status)
})
