import { afterAll, expect, test } from 'bun:test'
import { createPostgresBroker, openDeadLetters, topics } from '#src/platform/broker/index.ts'
import { migrate } from '#src/platform/database/index.ts'
import { migrations } from '../../../drizzle/index.ts'
import { createTestDatabase, quietLogger } from '../../support/database.ts'
import { until } from '../../support/until.ts'

/** The schema of before the lanes. */
const database = await createTestDatabase()
const { sql, dsn } = database
await sql`drop schema public cascade`
await sql`create schema public`
const before = migrations.findIndex(({ name }) => name.endsWith('_broker_lanes'))
await migrate(dsn, migrations.slice(0, before), quietLogger)

afterAll(() => database.close())

const textOf = ({ value }: { readonly value: Uint8Array }): string => Buffer.from(value).toString()

test('what waited in the log waits in the lanes, in its order; what was settled does not', async () => {
  const { sql, dsn } = database
  const log = (topic: string, partition: number, texts: readonly string[], at = 'now') => sql`
    insert into broker_log (topic, partition, xid, key, headers, value, published_at)
    select ${topic}, ${partition}, pg_current_xact_id(), 'k', '{"h":"1"}', text::bytea, ${at}::text::timestamptz
    from unnest(${[...texts]}::text[]) text`
  /** As if the group had settled all that is there now, in this partition. */
  const settle = (topic: string, partition: number, xid = 'now', at = 'now') => sql`
    insert into broker_positions (topic, group_name, partition, xid, id, settled_at)
    select ${topic}, 'g', ${partition}, ${xid === 'now' ? sql`max(xid)` : sql`${xid}::xid8`},
      max(id), ${at}::text::timestamptz
    from broker_log where topic = ${topic} and partition = ${partition}`
  await log(topics.outbound, 2, ['settled 1', 'settled 2'])
  await settle(topics.outbound, 2)
  await log(topics.outbound, 2, ['waits 1', 'waits 2'])
  await log(topics.outbound, 3, ['nobody came'])
  await log('outbox', 7, ['to relay'])
  await log(topics.deadLetters, 1, ['letter 1', 'letter 2'])
  // From a dump: the position counts the transactions of another server, far ahead of this one's.
  await log(topics.webhookEvents, 0, ['settled there'], '2026-01-01')
  await settle(topics.webhookEvents, 0, '9999999999', '2026-01-02')
  await log(topics.webhookEvents, 0, ['lost here 1', 'lost here 2'])

  await migrate(dsn, migrations, quietLogger)

  const letters = openDeadLetters(sql)
  const listed = await Promise.all((await letters.list(10)).map(({ id }) => letters.find(id)))
  expect(listed.map((one) => one && textOf(one))).toEqual(['letter 2', 'letter 1'])

  const broker = createPostgresBroker({ sql, dsn, logger: quietLogger })
  const seen: string[] = []
  for (const topic of [topics.outbound, topics.webhookEvents, 'outbox']) {
    broker.consume({
      topic,
      group: 'g',
      batchSizeMax: 10,
      handler: async (batch) => {
        seen.push(...batch.map((one) => `${one.partition} ${one.key} ${textOf(one)}`))
        expect(batch[0]?.headers).toEqual({ h: '1' })
      },
    })
  }
  await broker.publish([
    { topic: topics.outbound, key: 'k', value: Buffer.from('new'), headers: { h: '1' } },
  ])
  await until(() => seen.length >= 7)
  await broker.stop()
  const of = (partition: number) => seen.filter((text) => text.startsWith(`${partition} `))
  expect(of(2).slice(0, 2)).toEqual(['2 k waits 1', '2 k waits 2'])
  expect(of(3)).toContain('3 k nobody came')
  expect(of(7)).toContain('7 k to relay')
  expect(of(0).slice(0, 2)).toEqual(['0 k lost here 1', '0 k lost here 2'])
  expect(seen.filter((text) => text.includes('settled'))).toEqual([])
  expect(seen).toHaveLength(7)
  const [tables] =
    await sql`select to_regclass('broker_log') as log, to_regclass('broker_positions') as at`
  expect(tables).toEqual({ log: null, at: null })
})
