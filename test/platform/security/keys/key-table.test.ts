import { afterAll, expect, test } from 'bun:test'
import {
  createAuthenticator,
  createKeyTable,
  createKeyTableStore,
} from '#src/platform/security/index.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'

const database = await createTestDatabase()

afterAll(() => database.close())

const shop = {
  name: 'shop',
  account: 'default',
  environment: 'live',
  grants: ['cards:*', 'spi:send'],
  expiresAt: undefined,
} as const

const tableOf = () =>
  createKeyTable({
    sql: database.sql,
    logger: {
      ...quietLogger,
      warn: (fields) => {
        throw new Error(JSON.stringify(fields))
      },
    },
  })

test('a key made in the table opens what it is for until it is revoked', async () => {
  const store = createKeyTableStore(database.sql, { id: 'cli:test', requestId: undefined })
  const { id, key } = await store.create(shop)
  const table = tableOf()
  const authenticator = createAuthenticator({ sources: [table.keySource], cacheMs: 0 })
  const principal = await authenticator.verify(`Bearer ${key}`)
  expect(principal).toMatchObject({ keyId: id, name: 'shop' })
  expect(principal?.scopes.has('cards:void')).toBe(true)
  expect(principal?.scopes.has('drex:transfer')).toBe(false)
  expect(await store.revoke(id)).toBe(true)
  expect(await store.revoke(id)).toBe(false)
  expect(await authenticator.verify(`Bearer ${key}`)).toBeUndefined()
  await table.stop()
})

test('holds no secret, and says when a key was last used', async () => {
  const store = createKeyTableStore(database.sql, { id: 'cli:test', requestId: undefined })
  const { id, key } = await store.create({ ...shop, expiresAt: new Date('2999-01-01T00:00:00Z') })
  const table = tableOf()
  await table.start()
  await createAuthenticator({ sources: [table.keySource] }).verify(`Bearer ${key}`)
  await table.stop()
  const listed = (await store.list()).find((entry) => entry.id === id)
  expect(listed?.expires_at).toBe('2999-01-01T00:00:00.000Z')
  expect(Date.parse(listed?.last_used_at ?? '')).toBeGreaterThan(Date.now() - 60_000)
  const rows = await database.sql`select * from api_keys`
  expect(JSON.stringify(rows)).not.toContain(key.slice(-49, -6))
})

test('a last use is written though a first try failed, and never goes back', async () => {
  const store = createKeyTableStore(database.sql, { id: 'cli:test', requestId: undefined })
  const { id } = await store.create(shop)
  const { keySource, start, stop } = tableOf()
  const lastUse = async () => (await store.list()).find((entry) => entry.id === id)?.last_used_at
  await start()
  keySource.used?.(id, new Date('2026-01-02T00:00:00Z'))
  await database.sql`alter table api_keys rename to api_keys_away`
  await expect(stop()).rejects.toThrow('42P01')
  await database.sql`alter table api_keys_away rename to api_keys`
  await stop()
  expect(await lastUse()).toBe('2026-01-02T00:00:00.000Z')
  keySource.used?.(id, new Date('2026-01-01T00:00:00Z'))
  await stop()
  expect(await lastUse()).toBe('2026-01-02T00:00:00.000Z')
})

test('an expired key and an unknown one are refused', async () => {
  const store = createKeyTableStore(database.sql, { id: 'cli:test', requestId: undefined })
  const { key } = await store.create({ ...shop, expiresAt: new Date(Date.now() - 1) })
  const { keySource } = tableOf()
  expect(
    await createAuthenticator({ sources: [keySource] }).verify(`Bearer ${key}`),
  ).toBeUndefined()
  expect(await keySource.find('none')).toBeUndefined()
})
