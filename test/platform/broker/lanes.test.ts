import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createPostgresBroker, type TransactionalBroker } from '#src/platform/broker/index.ts'
import {
  createTestDatabase,
  quietLogger as logger,
  type TestDatabase,
} from '../../support/database.ts'

/** None of these brokers was started: as if the database had been away then. */
describe('topics that nobody has named before', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase(1)
  })
  afterAll(() => database.close())

  const open = (): TransactionalBroker =>
    createPostgresBroker({ sql: database.sql, dsn: database.dsn, logger })
  const message = (topic: string) => ({ topic, key: 'k', value: Buffer.from('one') })
  const depthOf = async (topic: string): Promise<number> => {
    const [row] = await database.sql<{ depth: number }[]>`
      select count(*)::int as depth from broker_queue where topic = ${topic}`
    return row?.depth ?? 0
  }

  test('get their lanes in the transaction that names them, which may hold the only connection', async () => {
    const broker = open()
    await database.sql.begin((tx) => broker.publishIn(tx, [message('first')]))
    await broker.publish([message('first')])
    expect(await depthOf('first')).toBe(2)
  })

  test('have none after a transaction that was rolled back, and get them from the next one', async () => {
    const broker = open()
    const failed = database.sql.begin(async (tx) => {
      await broker.publishIn(tx, [message('second')])
      await broker.publishIn(tx, [message('second')])
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    await broker.publish([message('second')])
    await database.sql.begin((tx) => broker.publishIn(tx, [message('second')]))
    expect(await depthOf('second')).toBe(2)
    const [lanes] = await database.sql<{ count: number }[]>`
      select count(*)::int as count from broker_lanes l
      where topic = 'second' and exists (select from broker_queue where id >> 44 = l.lane)`
    expect(lanes?.count).toBe(1)
  })
})
