/** A commit that waits for a standby which is away is silent, and its server is not. */
import { afterAll, afterEach, expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'
import postgres from 'postgres'
import { openDatabase, startEmbeddedPostgres } from '#src/platform/database/index.ts'
import { createLogger } from '#src/platform/observe/index.ts'
import { createWriteProbe } from '../../../src/platform/database/write-probe.ts'
import { fallingSilent } from '../../support/falling-silent.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { until } from '../../support/until.ts'

const statementTimeoutMs = 500
const isThere = 'the database is there and does not end statements'
/** Longer than what is given up needs to be gone, and opened anew. */
const laterMs = 2_000
const connectionsMax = 4

const directory = temporaryDirectory()
chmodSync(directory, 0o755)
const server = await startEmbeddedPostgres({ directory, settings: {} })
const admin = postgres(server.url, { max: 1, connection: { synchronous_commit: 'off' } })
await admin`create table written (n int)`
await admin`create table write_probes (filler bytea)`
afterAll(async () => {
  await admin.end()
  await server.stop()
}, 60_000)

/** No name is one that no standby has. */
const setStandby = async (name: string): Promise<void> => {
  await admin.unsafe(`alter system set synchronous_standby_names = '${name}'`)
  await admin`select pg_reload_conf()`
  await until(async () => {
    const [row] = await admin`select current_setting('synchronous_standby_names') as name`
    return row?.['name'] === name
  })
}
afterEach(() => setStandby(''))

const lines: string[] = []
const logger = createLogger({
  level: 'warn',
  format: 'json',
  sink: { write: (line) => lines.push(String(line)) > 0 },
})
const told = (text: string): number => lines.filter((line) => line.includes(text)).length

const waitingCommits = () => admin<{ pid: number }[]>`
  select pid from pg_stat_activity where wait_event = 'SyncRep' order by pid`

test('its connections stay, and no other is opened in their place', async () => {
  const database = openDatabase({ dsn: server.url, connectionsMax, statementTimeoutMs, logger })
  await setStandby('ghost')
  const writes = Array.from({ length: connectionsMax }, (_, n) =>
    Promise.resolve(database.sql`insert into written values (${n})`),
  )
  await until(async () => (await waitingCommits()).length === connectionsMax)
  const before = await waitingCommits()
  // Once its limit and the five seconds have passed in which an answer may arrive.
  await until(() => told(isThere) > 0)
  await Bun.sleep(laterMs)
  expect([...(await waitingCommits())]).toEqual([...before])
  expect(told('its connections are given up')).toBe(0)
  await setStandby('')
  await Promise.all(writes)
  await database.close()
}, 60_000)

test('what is lost on its way beside it is given up', async () => {
  const road = await fallingSilent(server.url, 'lost on its way')
  const database = openDatabase({ dsn: road.dsn, connectionsMax: 2, statementTimeoutMs, logger })
  await setStandby('ghost')
  const write = Promise.resolve(database.sql`insert into written values (9)`)
  await until(async () => (await waitingCommits()).length === 1)
  expect(await database.sql`select 'lost on its way'`.catch(({ code }) => code)).toBe(
    'CONNECTION_CLOSED',
  )
  expect(await waitingCommits()).toHaveLength(1)
  await setStandby('')
  await write
  await database.close()
  road.stop()
}, 60_000)

test('the database takes no writes until one has ended, whatever ends the probe', async () => {
  const database = openDatabase({ dsn: server.url, connectionsMax, statementTimeoutMs, logger })
  await setStandby('ghost')
  const probe = createWriteProbe({ name: 'database', sql: database.sql, logger, everyMs: 100 })
  expect(await probe.refusal()).toBe('a write does not end')
  probe.start()
  await until(() => told('the database takes no writes: not ready') === 1)
  for (const { pid } of await waitingCommits()) await admin`select pg_terminate_backend(${pid})`
  for (const _ of Array(20)) {
    expect(await probe.refusal()).toBe('a write does not end')
    await Bun.sleep(50)
  }
  await setStandby('')
  await until(async () => (await probe.refusal()) === undefined)
  probe.stop()
  await database.close()
}, 60_000)
