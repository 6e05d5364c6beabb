import { afterAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createPostgresBroker, type TransactionalBroker } from '#src/platform/broker/index.ts'
import { createHeldBackWatch } from '#src/platform/broker/postgresql/held-back.ts'
import { brokerContract } from '../../contract/broker.contract.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

const open = async (): Promise<TransactionalBroker> => {
  const { sql, dsn } = database
  const broker = createPostgresBroker({ sql, dsn, retentionDays: 7, logger: quietLogger })
  await broker.start()
  return broker
}

brokerContract('PostgreSQL', { open })

describe('PostgreSQL broker', () => {
  test('publishes with the transaction or not at all', async () => {
    const broker = await open()
    const topic = `transaction.${Date.now()}`
    const seen: string[] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
      },
    })
    const failed = database.sql.begin(async (transaction) => {
      await broker.publishIn(transaction, [{ topic, value: Buffer.from('rolled back') }])
      throw new Error('no')
    })
    await failed.catch(() => {})
    await database.sql.begin((transaction) =>
      broker.publishIn(transaction, [{ topic, value: Buffer.from('committed') }]),
    )
    broker.wake([topic])
    await until(() => seen.length > 0)
    expect(seen).toEqual(['committed'])
    await broker.stop()
  })

  test('passes over nothing that commits late', async () => {
    const broker = await open()
    const topic = `late.${Date.now()}`
    const seen: string[] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
      },
    })
    await database.sql.begin(async (transaction) => {
      await broker.publishIn(transaction, [{ topic, key: 'k', value: Buffer.from('early') }])
      await broker.publish([{ topic, key: 'k', value: Buffer.from('second') }])
      await Bun.sleep(300)
      expect(seen).toEqual([])
    })
    await until(() => seen.length === 2)
    expect(seen).toEqual(['early', 'second'])
    await broker.stop()
  })

  test('does not wait for transactions of other databases of the server', async () => {
    const elsewhere = await createTestDatabase(1)
    const broker = await open()
    const topic = `elsewhere.${Date.now()}`
    let seen = 0
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen += batch.length
      },
    })
    await elsewhere.sql.begin(async (transaction) => {
      await transaction`create table batch_job ()`
      await broker.publish([{ topic, value: Buffer.from('1') }])
      await until(() => seen === 1)
    })
    await broker.stop()
    await elsewhere.close()
  })

  test('names the transaction that holds messages back, and says when it is over', async () => {
    const lines: { readonly message: string; readonly pid: unknown }[] = []
    const note = ({ pid }: Readonly<Record<string, unknown>>, message: string): void => {
      lines.push({ message, pid })
    }
    const own = await createTestDatabase(2)
    const watch = createHeldBackWatch(
      { sql: own.sql, logger: { ...quietLogger, info: note, warn: note } },
      20,
    )
    await watch.start()
    let pid: unknown
    await own.sql.begin(async (transaction) => {
      await transaction`create table forgotten ()`
      const [row] = await transaction`select pg_backend_pid() as pid`
      pid = row?.['pid']
      await until(() => lines.length === 1)
    })
    await until(() => lines.length === 2)
    await watch.stop()
    expect(lines).toEqual([
      { message: expect.stringContaining('holds back every message'), pid },
      { message: 'messages are held back no more', pid: undefined },
    ])
    await own.close()
  })

  test('goes on after its connections are cut, and another member takes over at once', async () => {
    const broker = await open()
    const topic = `cut.${Date.now()}`
    const seen = new Set<string>()
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        for (const { value } of batch) seen.add(Buffer.from(value).toString())
      },
    })
    for (let round = 0; round < 5; round++) {
      const values = Array.from({ length: 50 }, (_, index) => `${round}-${index}`)
      await broker.publish(
        values.map((value) => ({ topic, key: value, value: Buffer.from(value) })),
      )
      await until(() => seen.size > round * 50)
      await database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where application_name like '%-broker' and datname = current_database()`
    }
    await until(() => seen.size === 250)
    await broker.stop()
  }, 60_000)

  test('gives the work of a process that is killed to another within seconds', async () => {
    const broker = await open()
    const topic = `killed.${Date.now()}`
    const victim = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'victim.ts'), database.dsn, topic],
      { stdout: 'pipe', stderr: 'ignore' },
    )
    const values = Array.from({ length: 20 }, (_, index) => `${index}`.padStart(2, '0'))
    await broker.publish(values.map((value) => ({ topic, key: 'k', value: Buffer.from(value) })))
    await victim.stdout.getReader().read()
    const seen: string[] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen.push(...batch.map(({ value }) => Buffer.from(value).toString()))
      },
    })
    await Bun.sleep(300)
    expect(seen).toEqual([])
    victim.kill('SIGKILL')
    await until(() => seen.length >= values.length, 40_000)
    expect(seen).toEqual(values)
    await broker.stop()
  }, 60_000)
})
