/** Keys over the API: what is made, shown once and never again; by whom, of which account, and never more than one has. */
import { afterAll, expect, setSystemTime, test } from 'bun:test'
import {
  createKeyTable,
  createKeyTableStore,
  createSealer,
  type NewKey,
  type Scope,
  type StoredRestrictions,
} from '#src/platform/security/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase, quietLogger as logger } from '../../../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const sealer = createSealer(new Uint8Array(32).fill(7))
const { routes } = createKeyTable({ sql, sealer, logger })
const admin = testKey('*')
const reader = testKey('keys:read')
const manager = testKey('keys:read', 'keys:manage', 'cards:read')
const restricted = (restrictions: StoredRestrictions) => {
  const { key, record } = testKey('*')
  return { key, record: { ...record, restrictions } }
}
const readOnly = restricted({ read_only: true })
const { call } = testApp(routes, {
  keys: [admin, reader, manager, readOnly].map(({ record }) => record),
})

type Shown = {
  readonly id: string
  readonly key?: string
  readonly scopes: readonly string[]
  readonly restrictions: Readonly<Record<string, unknown>>
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly previous_until: string | null
}
const ask = async (
  method: string,
  path: string,
  body?: unknown,
  { key = admin.key, headers = {} } = {},
) => {
  const answer = await call(method, path, { key, headers, ...(body === undefined ? {} : { body }) })
  const text = await answer.text()
  const json = (text === '' ? {} : JSON.parse(text)) as Shown & {
    readonly keys: readonly Shown[]
    readonly next_cursor: string | null
    readonly code: string
    readonly error?: { readonly message: string }
  }
  return { status: answer.status, headers: answer.headers, text, json }
}

const till = { name: 'till', scopes: ['cards:read'], restrictions: { merchant_ids: ['SHOP'] } }

const stored = (more: Partial<NewKey> = {}) =>
  createKeyTableStore(sql, { id: 'cli:test', requestId: undefined }).create({
    name: 'old',
    account: 'default',
    environment: 'test',
    grants: ['cards:read'],
    expiresAt: undefined,
    ...more,
  })

test('a key that has expired since is told again to who repeats the request', async () => {
  const body = { ...till, expires_at: new Date(Date.now() + 60_000).toISOString() }
  const options = { headers: { 'Idempotency-Key': 'short-lived' } }
  const first = await ask('POST', '/v1/keys', body, options)
  setSystemTime(Date.now() + 120_000)
  const again = await ask('POST', '/v1/keys', body, options)
  setSystemTime()
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
})

test('a key is made, shown once, and is what was asked for', async () => {
  const made = await ask('POST', '/v1/keys', { ...till, expires_at: '2999-01-01T00:00:00Z' })
  expect(made.status).toBe(201)
  expect(made.json.key).toStartWith(`trl_test_${made.json.id}_`)
  const { key = '', ...view } = made.json
  const shown = await ask('GET', `/v1/keys/${view.id}`)
  expect(shown.json).toEqual(view as never)
  expect(view).toMatchObject({
    ...till,
    account: 'default',
    expires_at: '2999-01-01T00:00:00.000Z',
  })
  const listed = await ask('GET', '/v1/keys')
  expect(listed.json.keys.map(({ id }) => id)).toContain(view.id)
  for (const { text } of [shown, listed]) {
    expect(text).not.toContain(key)
    expect(text).not.toMatch(/hash|previous_hash/)
  }
  const acts = await sql`select actor, action, outcome from audit_log where object = ${view.id}`
  expect([...acts]).toEqual([{ actor: admin.record.id, action: 'keys.create', outcome: 'created' }])
})

test('a repetition gets the same key, which the database does not hold in clear', async () => {
  const headers = { 'Idempotency-Key': 'make-one' }
  const first = await ask('POST', '/v1/keys', till, { headers })
  const again = await ask('POST', '/v1/keys', till, { headers })
  expect([again.status, again.text]).toEqual([201, first.text])
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  const rows = await sql`select convert_from(body, 'UTF8') as body from idempotency_keys`
  expect(JSON.stringify(rows)).not.toContain(first.json.key ?? 'none')
  // Another master key, or a process without one.
  const elsewhere = testApp(createKeyTable({ sql, logger }).routes, { keys: [admin.record] })
  const lost = await elsewhere.call('POST', '/v1/keys', { key: admin.key, body: till, headers })
  expect([lost.status, ((await lost.json()) as { code: string }).code]).toEqual([409, 'conflict'])
})

test('nobody gives what he does not have', async () => {
  const by = { key: manager.key }
  const made = await ask('POST', '/v1/keys', till, by)
  expect(made.status).toBe(201)
  for (const scopes of [['cards:*'], ['*'], ['cards:read', 'ops:admin']]) {
    const refused = await ask('POST', '/v1/keys', { name: 'more', scopes }, by)
    expect([scopes, refused.status]).toEqual([scopes, 403])
  }
  const strong = await stored({ grants: ['ops:admin'] })
  const at = `/v1/keys/${strong.id}`
  expect((await ask('POST', `${at}/rotate`, {}, by)).status).toBe(403)
  expect((await ask('PATCH', at, { restrictions: {} }, by)).status).toBe(403)
  // To take a key away is no gain.
  expect((await ask('DELETE', at, undefined, by)).status).toBe(204)
  expect((await ask('POST', '/v1/keys', till, { key: reader.key })).status).toBe(403)
  expect((await ask('POST', '/v1/keys', till, { key: readOnly.key })).status).toBe(403)
  expect((await ask('GET', '/v1/keys', undefined, { key: readOnly.key })).status).toBe(200)
})

test('nobody gives more time than he has', async () => {
  const end = new Date(Date.now() + 3_600_000)
  const at = (ms: number) => new Date(end.getTime() + ms).toISOString()
  const own = await stored({ grants: ['*'], expiresAt: end })
  const asker = await stored({ grants: ['*'] })
  const { keySource } = createKeyTable({ sql, sealer, logger })
  const found = await Promise.all([own, asker].map(({ id }) => keySource.find(id)))
  const app = testApp(routes, { keys: found.flatMap((record) => record ?? []) })
  const status = async (method: string, path: string, body: unknown, key = own.key) =>
    (await app.call(method, `/v1/keys${path}`, { key, body })).status
  expect(await status('POST', '', till)).toBe(403)
  expect(await status('POST', '', { ...till, expires_at: at(1) })).toBe(403)
  expect(await status('POST', '', { ...till, expires_at: at(0) })).toBe(201)
  // Its own: to rotate it or to end it sooner is no gain.
  expect(await status('POST', `/${own.id}/rotate`, { overlap_seconds: 600 })).toBe(200)
  expect(await status('PATCH', `/${own.id}`, { restrictions: {} })).toBe(200)
  expect(await status('PATCH', `/${own.id}`, { expires_at: at(1) })).toBe(403)
  // Another's that lasts longer.
  const { id } = await stored()
  expect(await status('PATCH', `/${id}`, { restrictions: {} })).toBe(403)
  expect(await status('POST', `/${id}/rotate`, {})).toBe(403)
  expect(await status('PATCH', `/${id}`, { restrictions: {} }, asker.key)).toBe(200)
  expect(await status('PATCH', `/${own.id}`, { expires_at: at(1) }, asker.key)).toBe(200)
})

test('a secret that was rotated gives nothing that lasts longer than itself', async () => {
  const { id, key } = await stored({ grants: ['*'] })
  const store = createKeyTableStore(sql, { id: 'cli:test', requestId: undefined })
  const present = (await store.rotate(id, 3_600, 'test'))?.key ?? ''
  const { keySource } = createKeyTable({ sql, sealer, logger })
  const record = await keySource.find(id)
  const app = testApp(routes, { keys: record === undefined ? [] : [record] })
  const status = async (secret: string, method: string, path: string, body: unknown) =>
    (await app.call(method, `/v1/keys${path}`, { key: secret, body })).status
  const soon = new Date(Date.now() + 60_000).toISOString()
  expect(await status(key, 'POST', '', till)).toBe(403)
  expect(await status(key, 'POST', '', { ...till, expires_at: soon })).toBe(201)
  expect(await status(key, 'POST', `/${id}/rotate`, {})).toBe(403)
  expect(await status(key, 'PATCH', `/${id}`, { restrictions: {} })).toBe(403)
  expect(await status(present, 'POST', '', till)).toBe(201)
  expect(await status(present, 'PATCH', `/${id}`, { restrictions: {} })).toBe(200)
  expect(await status(present, 'POST', `/${id}/rotate`, {})).toBe(200)
})

test.each([
  ['merchant_ids', { merchant_ids: ['SHOP'] }, 403],
  ['wallets', { wallets: [`0x${'a'.repeat(40)}`] }, 403],
  ['own_webhooks', { own_webhooks: true as const }, 403],
  ['requests_per_second', { requests_per_second: 100 }, 200],
])('who is restricted by %s makes no key', async (name, restrictions, reads) => {
  const { key, record } = restricted(restrictions)
  const rig = testApp(routes, { keys: [record] })
  const made = await rig.call('POST', '/v1/keys', { key, body: till })
  expect([made.status, await made.text()]).toEqual([403, expect.stringContaining(name)])
  expect((await rig.call('GET', '/v1/keys', { key })).status).toBe(reads)
})

test('restrictions that somebody else has changed since they were read are left as they are', async () => {
  const seen = { merchant_ids: ['SHOP'], requests_per_second: 5 }
  const { id } = await stored({ restrictions: seen })
  const at = `/v1/keys/${id}`
  const replaces = { requests_per_second: 5, merchant_ids: ['SHOP'], read_only: false }
  const [one, other] = await Promise.all([
    ask('PATCH', at, { restrictions: { read_only: true }, replaces }),
    ask('PATCH', at, { restrictions: { own_webhooks: true }, replaces }),
  ])
  const [done, stale] = one.status === 200 ? [one, other] : [other, one]
  expect([done.status, stale.status, stale.json.code]).toEqual([200, 409, 'changed_meanwhile'])
  expect((await ask('GET', at)).json.restrictions).toEqual(done.json.restrictions)
  const again = await ask('PATCH', at, { restrictions: {}, replaces: done.json.restrictions })
  expect([again.status, again.json.restrictions]).toEqual([200, {}])
  expect((await ask('PATCH', at, { replaces: {} })).status).toBe(400)
  const changes = await sql`
    select 1 from audit_log where object = ${id} and action = 'keys.change'`
  expect(changes.length).toBe(2)
})

test('restrictions are replaced, an expiry is set, and what is revoked changes no more', async () => {
  const { id } = await stored({ restrictions: { merchant_ids: ['SHOP'] } })
  const at = `/v1/keys/${id}`
  const wallet = `0x${'A'.repeat(40)}`
  const changed = await ask('PATCH', at, { restrictions: { wallets: [wallet], read_only: false } })
  expect(changed.json.restrictions).toEqual({ wallets: [wallet.toLowerCase()] })
  const ends = await ask('PATCH', at, { expires_at: '2999-01-01T00:00:00Z' })
  expect(ends.json.expires_at).toBe('2999-01-01T00:00:00.000Z')
  expect(ends.json.restrictions).toEqual(changed.json.restrictions)
  expect((await ask('PATCH', at, { restrictions: {} })).json.restrictions).toEqual({})
  expect((await ask('DELETE', at)).status).toBe(204)
  // A lost answer is asked for again.
  expect((await ask('DELETE', at)).status).toBe(204)
  expect((await ask('GET', at)).json.revoked_at).not.toBeNull()
  for (const [method, path, body] of [
    ['PATCH', at, { restrictions: {} }],
    ['POST', `${at}/rotate`, {}],
  ] as const) {
    const refused = await ask(method, path, body)
    expect([refused.status, refused.json.code]).toEqual([409, 'conflict'])
  }
  const acts = await sql<{ action: string }[]>`
    select action from audit_log where object = ${id} order by id`
  expect(acts.map(({ action }) => action)).toEqual([
    ...['keys.create', 'keys.change', 'keys.change', 'keys.change', 'keys.revoke'],
  ])
})

test('a rotation shows the new key once, and says until when the former counts', async () => {
  const { id, key } = await stored()
  const headers = { 'Idempotency-Key': 'turn' }
  const turned = await ask('POST', `/v1/keys/${id}/rotate`, { overlap_seconds: 60 }, { headers })
  expect(turned.status).toBe(200)
  expect(turned.json.key).toStartWith(`trl_test_${id}_`)
  expect(turned.json.key).not.toBe(key)
  const leftMs = Date.parse(turned.json.previous_until ?? '') - Date.now()
  expect(leftMs).toBeGreaterThan(0)
  expect(leftMs).toBeLessThanOrEqual(60_000)
  const again = await ask('POST', `/v1/keys/${id}/rotate`, { overlap_seconds: 60 }, { headers })
  expect(again.text).toBe(turned.text)
})

test.each([
  [{ ...till, scopes: [] }, 'validation_failed'],
  [{ ...till, scopes: ['cards:fly'] }, 'value_refused'],
  [{ ...till, name: '' }, 'validation_failed'],
  [{ ...till, name: 'n'.repeat(101) }, 'validation_failed'],
  [{ ...till, account: 'other' }, 'validation_failed'],
  [{ ...till, restrictions: { addresses: ['nowhere'] } }, 'value_refused'],
  [{ ...till, restrictions: { later: true } }, 'validation_failed'],
  [{ ...till, expires_at: '2001-01-01T00:00:00Z' }, 'value_refused'],
])('%j is refused', async (body, code) => {
  const refused = await ask('POST', '/v1/keys', body)
  expect([refused.status, refused.json.code]).toEqual([400, code])
})

test('what is another account’s is not there, and lists are pages, newest first', async () => {
  const { id } = await stored({ account: 'other' })
  const at = `/v1/keys/${id}`
  const asked = [
    await ask('GET', at),
    await ask('PATCH', at, { restrictions: {} }),
    await ask('POST', `${at}/rotate`, {}),
    await ask('DELETE', at),
  ]
  expect(asked.map(({ status }) => status)).toEqual([404, 404, 404, 404])
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { json }: Awaited<ReturnType<typeof ask>> = await ask('GET', `/v1/keys?limit=2${query}`)
    seen.push(...json.keys.map((one) => one.id))
    cursor = json.next_cursor
  }
  const all = await sql<{ id: string }[]>`
    select id from api_keys where account = 'default' order by created_at desc, id desc`
  expect(seen).toEqual(all.map((one) => one.id))
})

test('without a scope for it, none of it is there to see', async () => {
  const scope: Scope = 'cards:read'
  const { key, record } = testKey(scope)
  const rig = testApp(routes, { keys: [record] })
  expect((await rig.call('GET', '/v1/keys', { key })).status).toBe(403)
})
