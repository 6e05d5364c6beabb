/** However many messages wait and whatever they hold, a batch holds so many bytes and its last value. */
import { afterAll, expect, test } from 'bun:test'
import { createPostgresBroker, valueBytesMax } from '#src/platform/broker/index.ts'
import { batchBytesMax, fetchRows } from '../../../src/platform/broker/postgresql/queue.ts'
import { createTestDatabase, quietLogger as logger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const database = await createTestDatabase()
afterAll(() => database.close())
const { sql, dsn } = database

const third = Math.ceil(batchBytesMax / 3)
const noise = (bytes: number): Uint8Array => {
  const value = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(value.subarray(at, at + 65_536))
  return value
}
const zeros = (bytes: number): Uint8Array => new Uint8Array(bytes)

test.each([
  ['values that stay large', noise],
  ['values that are kept small', zeros],
])(
  '%s go three at a time, the largest beside no other, and all in their order',
  async (_, make) => {
    const broker = createPostgresBroker({ sql, dsn, logger })
    const topic = `bytes.${make.name}`
    const sizes = [...Array.from({ length: 7 }, (_, at) => third + at), valueBytesMax, 10, 20]
    for (const size of sizes) await broker.publish([{ topic, key: 'k', value: make(size) }])
    const batches: number[][] = []
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 200,
      handler: async (batch) => {
        batches.push(batch.map(({ value }) => value.length))
      },
    })
    await until(() => batches.flat().length === sizes.length)
    await broker.stop()
    expect(batches.flat()).toEqual(sizes)
    expect(batches.map(({ length }) => length)).toEqual([3, 3, 2, 2])
  },
)

test('no more is read than a batch holds', async () => {
  await sql`
    insert into broker_queue (id, topic, value)
    select (9::bigint << 44) + n, 'read', decode(repeat('00', 500000), 'hex')
    from generate_series(1, 20) n`
  const low = 9n << 44n
  const rows = await fetchRows(sql, [{ low, high: 10n << 44n }], 200)
  expect(rows.map(({ id }) => id - low)).toEqual([1n, 2n, 3n, 4n, 5n])
})
