import { describe, expect, test } from 'bun:test'
import { countedMax } from '#src/spi/messages/domain.ts'
import { createManyMatches } from '#src/spi/messages/many-matches.ts'
import { listMessages } from '#src/spi/messages/queries.ts'
import { createTestDatabase } from '../../support/database.ts'

describe('what more messages match than are counted', () => {
  test('is known for ten seconds', () => {
    let nowMs = 0
    const many = createManyMatches(() => nowMs)
    many.learn({ type: 'pacs.008' }, 'time')
    nowMs = 9_999
    expect(many.leadOf({ type: 'pacs.008' })).toBe('time')
    expect(many.leadOf({ type: 'pacs.004' })).toBeUndefined()
    expect(many.leadOf({})).toBeUndefined()
    nowMs = 10_000
    expect(many.leadOf({ type: 'pacs.008' })).toBeUndefined()
  })

  test('is told apart by amounts and times', () => {
    const many = createManyMatches()
    const amounts = { fromCents: 1n, toCents: 2n }
    const filter = { amounts, transactionStatus: 'ACSC', from: new Date(1) }
    many.learn(filter, 'status')
    expect(many.leadOf({ ...filter })).toBe('status')
    expect(many.leadOf({ ...filter, amounts: { ...amounts, toCents: 3n } })).toBeUndefined()
    expect(many.leadOf({ ...filter, from: new Date(2) })).toBeUndefined()
  })

  test('is known of a thousand filters, and of the one learned last', () => {
    const many = createManyMatches()
    const filterOf = (n: number) => ({ sourceIspb: String(n) })
    for (let n = 0; n < 1_000; n++) many.learn(filterOf(n), 'time')
    many.learn(filterOf(0), 'time')
    many.learn(filterOf(1_000), 'time')
    expect(many.leadOf(filterOf(0))).toBe('time')
    expect(many.leadOf(filterOf(1))).toBeUndefined()
    expect(many.leadOf(filterOf(2))).toBe('time')
    expect(many.leadOf(filterOf(1_000))).toBe('time')
  })
})

test('a list counts few messages each time, and many once in ten seconds', async () => {
  const { sql, close } = await createTestDatabase(1)
  await using closing = new AsyncDisposableStack()
  closing.defer(close)
  let nowMs = 0
  const many = createManyMatches(() => nowMs)
  const total = async () =>
    (await listMessages(sql, {}, { limit: 1, offset: 0, before: undefined }, many)).total
  const store = (count: number) => sql`
    insert into spi_messages (id, direction, status, transaction_count, signature, xml)
    select gen_random_uuid(), 'INBOUND', 'PROCESSED', 0, 'VALID', ''
    from generate_series(1, ${count})`
  await store(countedMax)
  expect(await total()).toBe(countedMax)
  await store(1)
  expect(await total()).toBe(countedMax + 1)
  await sql`delete from spi_messages where id = (select id from spi_messages limit 1)`
  expect(await total()).toBe(countedMax + 1)
  nowMs = 10_000
  expect(await total()).toBe(countedMax)
})
