/** What is told of events holds up nobody's commit: NOTIFY makes the commits of a server wait for each other. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import postgres from 'postgres'
import { migrate, openDatabase, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { migrations } from '../../drizzle/index.ts'
import { emitEvents } from '../../src/webhooks/events.ts'
import { eventsChannel } from '../../src/webhooks/hints.ts'
import { quietLogger } from '../support/database.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { subscribe } from '../support/webhooks.ts'

let server: Awaited<ReturnType<typeof startEmbeddedPostgres>>
let admin: postgres.Sql
let database: ReturnType<typeof openDatabase>
beforeAll(async () => {
  const directory = temporaryDirectory()
  chmodSync(directory, 0o755)
  server = await startEmbeddedPostgres({ directory, settings: {} })
  await migrate(server.url, migrations, quietLogger)
  admin = postgres(server.url, { max: 1, connection: { synchronous_commit: 'off' } })
  const options = { dsn: server.url, connectionsMax: 6, statementTimeoutMs: 30_000 }
  database = openDatabase({ ...options, logger: quietLogger })
  await subscribe(database.sql)
}, 60_000)
afterAll(async () => {
  await database.close()
  await admin.end()
  await server.stop()
}, 60_000)

const emit = (subject: string, tx: Parameters<typeof emitEvents>[0] = database.sql) =>
  emitEvents(tx, [{ type: 'pacs.008', subject, data: {} }])

const setStandby = async (name: string): Promise<void> => {
  await admin.unsafe(`alter system set synchronous_standby_names = '${name}'`)
  await admin`select pg_reload_conf()`
  await until(async () => {
    const [row] = await admin`select current_setting('synchronous_standby_names') as name`
    return row?.['name'] === name
  })
}

const waitingCommits = async () =>
  (await admin`select from pg_stat_activity where wait_event = 'SyncRep'`).length

test('a commit with an event that waits for a standby keeps no other waiting, nor its hint', async () => {
  let heard = 0
  await database.sql.listen(eventsChannel, () => heard++)
  // No standby has this name.
  await setStandby('ghost')
  const slow = database.sql.begin((tx) => emit('slow', tx))
  await until(async () => (await waitingCommits()) === 1)
  await database.sql.begin(async (tx) => {
    await tx`set local synchronous_commit = off`
    await emit('quick', tx)
  })
  await until(() => heard === 1)
  expect(await waitingCommits()).toBe(1)
  await setStandby('')
  await slow
  await until(() => heard === 2)
}, 60_000)

test('what commits at once is told of in few hints, and what is rolled back in none', async () => {
  let heard = 0
  const { unlisten } = await database.sql.listen(eventsChannel, () => heard++)
  await database.sql
    .begin(async (tx) => {
      await emit('undone', tx)
      throw new Error('no')
    })
    .catch(() => {})
  await Bun.sleep(50)
  expect(heard).toBe(0)
  await Promise.all(Array.from({ length: 100 }, (_, n) => emit(`many ${n}`)))
  await until(() => heard > 0)
  let before = 0
  while (before !== heard) {
    before = heard
    await Bun.sleep(200)
  }
  expect(heard).toBeLessThan(50)
  await emit('alone')
  await until(() => heard > before)
  await unlisten()
})
