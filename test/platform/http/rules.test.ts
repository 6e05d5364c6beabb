import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { z } from 'zod'
import { type Route, readJson, readQuery } from '#src/platform/http/index.ts'
import { testApp, testKey } from '../../support/app.ts'

const user = testKey('*')
const form = z.strictObject({
  kind: z.enum(['a', 'b']),
  of: z.discriminatedUnion('by', [
    z.strictObject({ by: z.literal('x') }),
    z.strictObject({ by: z.literal('y') }),
  ]),
  amount: z.int().min(1).max(9),
  name: z.string().min(2).max(3),
  code: z.string().regex(/^[a-z]+$/),
  list: z.array(z.string()).min(1).max(2),
  either: z.union([z.string(), z.boolean()]),
})
const right = {
  kind: 'a',
  of: { by: 'x' },
  amount: 1,
  name: 'ab',
  code: 'c',
  list: ['1'],
  either: true,
}
const route: Route = {
  method: 'POST',
  path: '/form',
  scope: 'ops:read',
  accepts: ['application/json'],
  document: { operation: 'form', summary: 'x', responses: {} },
  handle: async (c) => {
    readQuery(c, z.strictObject({ side: z.enum(['left', 'right']) }))
    await readJson(c, form)
    return c.json({})
  },
}
const app = testApp([route], { keys: [user.record] })

const brokenBy = async (body: object, query = '?side=left'): Promise<readonly object[]> => {
  const sent = { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  const response = await app.call('POST', `/form${query}`, { ...sent, key: user.key })
  return ((await response.json()) as { errors: readonly object[] }).errors
}

test.each(Object.keys(right))('%s is missing, whatever it must be', async (name) => {
  const { [name as keyof typeof right]: _, ...rest } = right
  const expected: object = { pointer: `/${name}`, rule: 'required', message: 'is missing' }
  expect(await brokenBy(rest)).toEqual([expected])
})

test('what tells the members apart is missing, within and in the query too', async () => {
  expect(await brokenBy({ ...right, of: {} })).toMatchObject([
    { pointer: '/of/by', rule: 'required' },
  ])
  expect(await brokenBy(right, '')).toMatchObject([{ pointer: 'side', rule: 'required' }])
})

test.each([
  [{ surprise: 1 }, '/surprise', 'unknown'],
  [{ kind: 'c' }, '/kind', 'enum'],
  [{ kind: null }, '/kind', 'enum'],
  [{ of: { by: 'z' } }, '/of/by', 'enum'],
  [{ amount: '1' }, '/amount', 'type'],
  [{ amount: 1.5 }, '/amount', 'type'],
  [{ amount: 0 }, '/amount', 'minimum'],
  [{ amount: 10 }, '/amount', 'maximum'],
  [{ name: 'a' }, '/name', 'length'],
  [{ name: 'abcd' }, '/name', 'length'],
  [{ code: '1' }, '/code', 'format'],
  [{ list: [] }, '/list', 'count'],
  [{ list: ['1', '2', '3'] }, '/list', 'count'],
  [{ list: null }, '/list', 'type'],
  [{ either: 1 }, '/either', 'type'],
])('%j breaks the rule of its name', async (change, pointer, rule) => {
  expect(await brokenBy({ ...right, ...change })).toMatchObject([{ pointer, rule }])
})

test('no check calls such a rule by another name', async () => {
  const root = join(import.meta.dir, '../../..')
  const called: string[] = []
  for (const path of new Glob('src/**/*.ts').scanSync(root)) {
    const text = await Bun.file(join(root, path)).text()
    called.push(...(text.match(/\brule: '(?:min|max|range|known|form|missing)'/g) ?? []))
  }
  expect(called).toEqual([])
})
