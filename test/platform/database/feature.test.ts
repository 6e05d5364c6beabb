import { describe, expect, test } from 'bun:test'
import {
  createDatabaseFeature,
  type Database,
  isTransientDatabaseError,
  migrate,
  openDatabase,
  pendingMigrations,
  SameDatabaseError,
  SchemaMismatchError,
} from '#src/platform/database/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import { migrations } from '../../../drizzle/index.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const known = migrations
const extra = { name: '9998_later', sql: 'create table later (id int)' }

const opened = (dsn: string): Database =>
  openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs: 20_000, logger: quietLogger })

const featureOf = (
  dsn: string,
  options: {
    readonly migrateOnStart?: boolean
    readonly wanted?: typeof migrations
    readonly database?: Database
    readonly demandApart?: () => Promise<boolean>
  } = {},
): Feature =>
  createDatabaseFeature({
    name: 'database',
    setting: 'DATABASE_DSN',
    dsn,
    database: options.database ?? opened(dsn),
    migrations: options.wanted ?? known,
    migrateOnStart: options.migrateOnStart ?? true,
    ...(options.demandApart && { demandApart: options.demandApart }),
    logger: quietLogger,
  })

const health = async (feature: Feature) =>
  (await feature.health?.()) ?? { ready: undefined, detail: undefined }

const untilReady = async (feature: Feature): Promise<boolean> => {
  const deadline = Date.now() + 40_000
  while (Date.now() < deadline) {
    if ((await health(feature)).ready) return true
    await Bun.sleep(50)
  }
  return false
}

describe('the database in the life of the process', () => {
  test('one that is found to be another setting’s only later is not ready, and says why', async () => {
    const { dsn, close } = await createTestDatabase()
    const answers: readonly (boolean | Error)[] = [false, false, new SameDatabaseError('the same')]
    let asked = 0
    const demandApart = async (): Promise<boolean> => {
      const answer = answers[asked++] ?? true
      if (answer instanceof Error) throw answer
      return answer
    }
    const feature = featureOf(dsn, { demandApart })
    await feature.start?.()
    expect((await health(feature)).ready).toBe(true)
    await until(async () => (await health(feature)).ready === false)
    expect(await health(feature)).toMatchObject({ status: 'down', detail: { reason: 'the same' } })
    expect(asked).toBe(3)
    await feature.stop?.()
    await close()
  })

  test('brings the schema up to date and is ready', async () => {
    const { dsn, close } = await createTestDatabase()
    expect(await pendingMigrations(dsn, [...known, extra])).toEqual(['9998_later'])
    const feature = featureOf(dsn, { wanted: [...known, extra] })
    await feature.start?.()
    expect(await health(feature)).toEqual({ status: 'ok', ready: true })
    expect(await pendingMigrations(dsn, [...known, extra])).toEqual([])
    await feature.stop?.()
    await close()
  })

  test('a server that cannot be reached leaves the process running, not ready', async () => {
    const feature = featureOf('postgres://nobody:x@127.0.0.1:1/none')
    await feature.start?.()
    expect(await health(feature)).toMatchObject({ status: 'down', ready: false })
    await feature.stop?.()
  })

  test('a server that comes later is taken into use', async () => {
    const { dsn, close, sql } = await createTestDatabase()
    const name = new URL(dsn).pathname.slice(1)
    await sql`select 1`
    await close()
    const admin = openDatabase({
      dsn: dsn.replace(/[^/]*$/, 'postgres'),
      connectionsMax: 1,
      statementTimeoutMs: 20_000,
      logger: quietLogger,
    })
    await admin.sql`alter database ${admin.sql(name)} rename to ${admin.sql(`${name}_away`)}`
    const feature = featureOf(dsn)
    await feature.start?.()
    expect((await health(feature)).ready).toBe(false)
    await admin.sql`alter database ${admin.sql(`${name}_away`)} rename to ${admin.sql(name)}`
    expect(await untilReady(feature)).toBe(true)
    await feature.stop?.()
    await admin.close()
  })

  test('waits for another to migrate when told not to', async () => {
    const { dsn, close } = await createTestDatabase()
    const wanted = [...known, extra]
    const feature = featureOf(dsn, { migrateOnStart: false, wanted })
    await feature.start?.()
    expect((await health(feature)).ready).toBe(false)
    await migrate(dsn, wanted, quietLogger)
    expect(await untilReady(feature)).toBe(true)
    await feature.stop?.()
    await close()
  })

  test('nobody reaches a database whose schema is behind, and everybody once it is not', async () => {
    const { dsn, close } = await createTestDatabase()
    const wanted = [...known, extra]
    const database = opened(dsn)
    const { sql, gate } = database
    const feature = featureOf(dsn, { migrateOnStart: false, wanted, database })
    await feature.start?.()
    const heard: string[] = []
    const listening = sql.listen('news', (text) => heard.push(text)).catch(() => {})
    for (const ask of [() => sql`select 1`, () => sql.begin((tx) => tx`select 1`)]) {
      const error: unknown = await ask().catch((err: unknown) => err)
      expect(error).toMatchObject({ code: 'DATABASE_NOT_READY' })
      expect(isTransientDatabaseError(error)).toBe(true)
    }
    expect(gate.demandOpen).toThrow('cannot be used yet')
    await migrate(dsn, wanted, quietLogger)
    expect(await untilReady(feature)).toBe(true)
    gate.demandOpen()
    await listening
    await until(
      async () => {
        await sql`select pg_notify('news', 'heard')`
        return heard.length > 0
      },
      40_000,
      'it hears',
    )
    await feature.stop?.()
    await close()
  })

  test('goes on waiting when the schema becomes one that it does not know', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    const wanted = [...known, extra]
    const feature = featureOf(dsn, { migrateOnStart: false, wanted })
    await feature.start?.()
    const foreign = '9999_foreign'
    await sql`insert into schema_migrations (name, sha256, kind) values (${foreign}, '', 'contract')`
    const detail = { reason: 'the schema is not one of this program' }
    await until(
      async () => Bun.deepEquals((await health(feature)).detail, detail),
      40_000,
      'it says so',
    )
    await sql`delete from schema_migrations where name = ${foreign}`
    await migrate(dsn, wanted, quietLogger)
    expect(await untilReady(feature)).toBe(true)
    await feature.stop?.()
    await close()
  })

  test('ends at once while it waits for the schema', async () => {
    const { dsn, close } = await createTestDatabase()
    const database = opened(dsn)
    const feature = featureOf(dsn, { migrateOnStart: false, wanted: [...known, extra], database })
    await feature.start?.()
    await feature.stop?.()
    expect(await database.sql`select 1`.catch(({ code }) => code)).toBe('CONNECTION_ENDED')
    await close()
  })

  test('an old program runs on a schema that newer ones only added to, forth and back', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    const added = {
      name: '9998_added',
      sql: "-- expand\nalter table api_keys add column later text default 'x' not null;",
    }
    const start = async (wanted: typeof migrations) => {
      const feature = featureOf(dsn, { wanted })
      await feature.start?.()
      // A busy server may take longer for its first answer than a probe waits.
      const isReady = await untilReady(feature)
      await feature.stop?.()
      return isReady
    }
    expect(await start(known)).toBe(true)
    expect(await start([...known, added])).toBe(true)
    expect(await start(known)).toBe(true)
    expect(await pendingMigrations(dsn, known)).toEqual([])
    expect(await start([...known, added])).toBe(true)
    const taken = {
      name: '9999_taken',
      sql: '-- contract\ndrop table write_probes_not_used_any_more',
    }
    await sql`create table write_probes_not_used_any_more ()`
    expect(await start([...known, added, taken])).toBe(true)
    for (const wanted of [known, [...known, added]]) {
      await expect(start(wanted)).rejects.toThrow('9999_taken')
      await expect(pendingMigrations(dsn, wanted)).rejects.toThrow(SchemaMismatchError)
    }
    expect(await start([...known, added, taken])).toBe(true)
    await close()
  })

  test('whoever has lost the lock of migrations migrates no further', async () => {
    const { dsn, sql, close } = await createTestDatabase()
    // As a session does that ends.
    const losing = { name: '9998_losing', sql: '-- expand\nselect pg_advisory_unlock_all()' }
    const table = { name: '9999_table', sql: '-- expand\ncreate table later (id int)' }
    const index = {
      name: '9999_index',
      sql: '-- expand\nCREATE INDEX "api_keys_later" ON "api_keys" USING btree ("id");',
    }
    for (const next of [table, index]) {
      const wanted = [...known, losing, next]
      await expect(migrate(dsn, wanted, quietLogger)).rejects.toThrow('lock of migrations was lost')
      expect(await pendingMigrations(dsn, wanted)).toEqual([next.name])
      await sql`delete from schema_migrations where name = ${losing.name}`
    }
    expect(
      await sql`select to_regclass('later') as one, to_regclass('api_keys_later') as other`,
    ).toMatchObject([{ one: null, other: null }])
    expect(await migrate(dsn, [...known, table, index], quietLogger)).toHaveLength(2)
    await close()
  })

  test('a schema of a newer program ends the start', async () => {
    const { dsn, close } = await createTestDatabase()
    await migrate(dsn, [...known, extra], quietLogger)
    const feature = featureOf(dsn)
    await expect(Promise.resolve(feature.start?.())).rejects.toThrow(SchemaMismatchError)
    await feature.stop?.()
    await close()
  })
})
