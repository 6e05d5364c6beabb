import { afterAll, afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { join } from 'node:path'
import {
  createAuthenticator,
  createKeyFileSource,
  createKeyFileStore,
  createKeyTable,
  createKeyTableStore,
  type KeySource,
  type KeyStore,
  type NewKey,
} from '#src/platform/security/index.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
afterEach(() => {
  setSystemTime()
})

const { sql } = database
const table = createKeyTable({ sql, logger: quietLogger })
const path = join(temporaryDirectory(), 'keys.json')

/** The file is read again only once a second: each look is by a source of its own. */
const fromFile: KeySource = {
  find: (id) =>
    createKeyFileSource({
      path,
      onProblem: (error) => {
        throw error
      },
    }).find(id),
}

const places: readonly (readonly [string, KeyStore, KeySource])[] = [
  ['table', createKeyTableStore(sql, { id: 'cli:test', requestId: undefined }), table.keySource],
  ['file', createKeyFileStore(path, () => new Date()), fromFile],
]

const shop: NewKey = {
  name: 'shop',
  account: 'shop',
  grants: ['cards:*'],
  expiresAt: undefined,
  environment: 'test',
  restrictions: { merchant_ids: ['M1'], addresses: ['192.0.2.0/24'] },
}

const rotated = async (store: KeyStore, id: string, overlapSeconds: number) => {
  const made = await store.rotate(id, overlapSeconds, 'live')
  if (made === undefined) throw new Error('there is no such key')
  return made
}

describe.each(places)('keys of the %s', (_, store, source) => {
  const verify = (key: string, nowMs = Date.now()) =>
    createAuthenticator({ sources: [source], now: () => nowMs }).verify(`Bearer ${key}`)

  test('both secrets count until the former one’s time is over, as one key', async () => {
    const { id, key: former } = await store.create(shop)
    const { key: present, previousUntil } = await rotated(store, id, 60)
    expect(present).toStartWith(`trl_test_${id}_`)
    for (const key of [former, present]) {
      const principal = await verify(key)
      expect(principal).toMatchObject({ keyId: id, owner: 'shop' })
      expect(principal?.restrictions.merchantIds).toEqual(new Set(['M1']))
    }
    const endMs = previousUntil.getTime()
    expect(await verify(former, endMs - 5_000)).toBeDefined()
    expect(await verify(former, endMs)).toBeUndefined()
    expect(await verify(present, endMs)).toBeDefined()
    // The first of three secrets no longer counts: an account has two at most.
    await rotated(store, id, 60)
    expect(await verify(former)).toBeUndefined()
    expect(await verify(present)).toBeDefined()
    expect(await store.revoke(id)).toBe(true)
    expect(await verify(present)).toBeUndefined()
    expect(await store.rotate(id, 60, 'live')).toBeUndefined()
  })

  test('a former secret leaves the cache when its time is over', async () => {
    const { id, key } = await store.create(shop)
    let nowMs = Date.now()
    await rotated(store, id, 60)
    const { verify } = createAuthenticator({ sources: [source], now: () => nowMs })
    expect(await verify(`Bearer ${key}`)).toBeDefined()
    nowMs += 61_000
    expect(await verify(`Bearer ${key}`)).toBeUndefined()
  })

  test('restrictions and expiry are changed, listed, and lifted', async () => {
    const { id, key } = await store.create(shop)
    const listed = async () => (await store.list()).find((one) => one.id === id)
    expect((await listed())?.restrictions).toEqual({ ...shop.restrictions })
    expect(await store.change(id, { restrictions: { read_only: true } })).toBe(true)
    expect((await listed())?.restrictions).toEqual({ read_only: true })
    expect((await verify(key))?.restrictions).toEqual({ readOnly: true })
    const expiresAt = new Date(Date.now() + 60_000)
    expect(await store.change(id, { expiresAt })).toBe(true)
    expect(await listed()).toMatchObject({
      expires_at: expiresAt.toISOString(),
      restrictions: { read_only: true },
    })
    expect(await store.change(id, { restrictions: {} })).toBe(true)
    expect((await listed())?.restrictions).toEqual({})
    expect(JSON.stringify(await listed())).not.toContain('hash')
    expect(await store.change('000000000000', { restrictions: {} })).toBe(false)
  })
})

test('a key with a restriction that this version does not know is none', async () => {
  const store = createKeyTableStore(sql, { id: 'cli:test', requestId: undefined })
  const { id, key } = await store.create(shop)
  const verify = () => createAuthenticator({ sources: [table.keySource] }).verify(`Bearer ${key}`)
  expect(await verify()).toBeDefined()
  await sql`update api_keys set restrictions = '{"hours": "9-17"}' where id = ${id}`
  expect(await verify()).toBeUndefined()
})

test.each([-2, 2])(
  'times are the database’s, where a process’s clock is wrong by %d hours',
  async (hours) => {
    const store = createKeyTableStore(sql, { id: 'cli:test', requestId: undefined })
    const verify = (key: string) =>
      createAuthenticator({ sources: [table.keySource] }).verify(`Bearer ${key}`)
    const { id, key: former } = await store.create(shop)
    const { id: ending, key } = await store.create(shop)
    await store.change(ending, { expiresAt: new Date(Date.now() + 60_000) })
    setSystemTime(new Date(Date.now() + hours * 3_600_000))
    await rotated(store, id, 60)
    const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from previous_until - now())::float8 as seconds
    from api_keys where id = ${id}`
    expect(row?.seconds).toBeGreaterThan(50)
    expect(row?.seconds).toBeLessThanOrEqual(60)
    expect([await verify(former), await verify(key)]).toEqual([
      expect.objectContaining({ keyId: id }),
      expect.objectContaining({ keyId: ending }),
    ])
    await sql`update api_keys set previous_until = now(), expires_at = now()`
    expect([await verify(former), await verify(key)]).toEqual([undefined, undefined])
  },
)
