/** A process that is stopped between the two steps in which the driver asks a statement, and what becomes of its locks. */
import { afterAll, expect, test } from 'bun:test'
import { openDatabase } from '#src/platform/database/index.ts'
import { createSilentSessions } from '../../../src/platform/database/silent-sessions.ts'
import { withTransactionRules } from '../../../src/platform/database/transactions.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

// More than run at once: the driver lets what finds no free connection wait behind another, which may wait for it.
const database = await createTestDatabase(6)
await database.sql`create table held (id int primary key)`
await database.sql`insert into held values (1)`
afterAll(() => database.close())

/** Between a client and the server; once the client has sent this text, nothing more of it goes on, or only later. */
const startStopper = (dsn: string, after: string, forMs = Number.POSITIVE_INFINITY) => {
  const { hostname, port } = new URL(dsn)
  let isStopped = false
  const proxy = Bun.listen<{ server: Promise<Bun.Socket<undefined>> }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (client) => {
        const server = Bun.connect({
          hostname,
          port: Number(port),
          socket: { data: (_, bytes) => void client.write(bytes), close: () => void client.end() },
        })
        client.data = { server }
      },
      data: async (client, bytes) => {
        const copy = Uint8Array.from(bytes)
        if (isStopped && forMs === Number.POSITIVE_INFINITY) return
        if (isStopped) await Bun.sleep(forMs)
        isStopped ||= Buffer.from(copy).includes(after)
        ;(await client.data.server).write(copy)
      },
      close: async (client) => void (await client.data.server).end(),
    },
  })
  const url = new URL(dsn)
  url.port = String(proxy.port)
  return { dsn: url.href, isStopped: () => isStopped, stop: () => proxy.stop(true) }
}

const activity = async () => {
  const rows = await database.sql<{ state: string; wait: string | null }[]>`
    select state, wait_event as wait from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()`
  return rows.map(({ state, wait }) => `${state} ${wait}`)
}

test('is ended, where no limit of the server ends it, and others get what it held', async () => {
  const stopper = startStopper(database.dsn, 'from held where id =')
  const stopped = openDatabase({
    dsn: stopper.dsn,
    connectionsMax: 1,
    statementTimeoutMs: 200,
    logger: quietLogger,
  })
  const silent = withTransactionRules(stopped.sql, 100)
    .begin(async (tx) => {
      await tx`update held set id = 1`
      await tx`select from held where id = ${1}`
    })
    .catch((error: unknown) => error)
  await until(() => stopper.isStopped())
  // The server waits for its client, counts the session as active, and keeps to neither limit.
  await until(async () => (await activity()).join() === 'active ClientRead')
  const job = createSilentSessions({
    name: 'test',
    dsn: database.dsn,
    sql: database.sql,
    logger: quietLogger,
    everyMs: 50,
    silenceMs: 100,
  })
  void job.start()
  expect((await database.sql`select from held where id = 1 for update`).count).toBe(1)
  await job.stop()
  stopper.stop()
  expect(await silent).toBeInstanceOf(Error)
  await stopped.close()
})

test('a session that works, that waits for a lock, or that is somebody else’s is left alone', async () => {
  const job = createSilentSessions({
    name: 'test',
    dsn: database.dsn,
    sql: database.sql,
    logger: quietLogger,
    everyMs: 20,
    silenceMs: 100,
  })
  void job.start()
  const release = Promise.withResolvers<void>()
  const holding = database.sql.begin(async (tx) => {
    await tx`select from held for update`
    await release.promise
  })
  const waiting = database.sql`select from held for update`.execute()
  const slow = await database.sql`select pg_sleep(0.4)`
  release.resolve()
  await holding
  expect([(await waiting).count, slow.count]).toEqual([1, 1])
  await job.stop()
})

test('a session that waited long for a lock, and then for its client for a moment, is left alone', async () => {
  const slow = startStopper(database.dsn, 'from held where id =', 150)
  const slowed = openDatabase({
    dsn: slow.dsn,
    connectionsMax: 1,
    statementTimeoutMs: 30_000,
    logger: quietLogger,
  })
  const release = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = database.sql.begin(async (tx) => {
    await tx`lock table held in access exclusive mode`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  const asked = slowed.sql`select from held where id = ${1}`.execute()
  await until(async () => (await activity()).includes('active relation'))
  const job = createSilentSessions({
    name: 'test',
    dsn: database.dsn,
    sql: database.sql,
    logger: quietLogger,
    everyMs: 10,
    silenceMs: 1_000,
  })
  await Bun.sleep(1_100)
  void job.start()
  release.resolve()
  await holding
  expect((await asked).count).toBe(1)
  await job.stop()
  await slowed.close()
  slow.stop()
})
