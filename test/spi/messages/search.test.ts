import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMessages } from '#src/spi/index.ts'
import { countedMax } from '#src/spi/messages/domain.ts'
import { insertMessages } from '#src/spi/messages/index.ts'
import { testApp, testKey } from '../../support/app.ts'
import { createTestDatabase, messagesForEver, quietLogger } from '../../support/database.ts'
import { message } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

const reader = testKey('messages:read')
const feature = createMessages({ sql, ...messagesForEver, logger: quietLogger })
const app = testApp(feature.routes ?? [], { keys: [reader.record] })

const get = async (query: string) => {
  const answer = await app.call('GET', `/v1/messages?${query}`, { key: reader.key })
  expect([query, answer.status]).toEqual([query, 200])
  const { messages, ...rest } = (await answer.json()) as {
    readonly messages: readonly { readonly id: string }[]
    readonly total: number
    readonly next_cursor: string | null
  }
  return { ids: messages.map(({ id }) => id), ...rest }
}
const found = async (query: string) => (await get(query)).ids

/** A message whose transactions have these amounts. */
const ofAmounts = (cents: readonly bigint[], over: Parameters<typeof message>[0] = {}) => {
  const base = message(over)
  const transactions = cents.map((amountCents, n) => ({
    ...base.transactions[0]!,
    endToEndId: `${base.transactions[0]?.endToEndId}${n}`,
    amountCents,
    status: n % 2 === 0 ? 'ACSC' : 'RJCT',
  }))
  return { ...base, transactions }
}

const some = [ofAmounts([1_050n]), ofAmounts([1_051n, 1_050n]), ofAmounts([2_000n, 2_001n])]
const [ten, both, twenty] = some.map(({ id }) => id)
/** Their BizMsgIdr is one that the central bank may use too: ids are the sender's. */
const theirs = message({ bizMsgIdr: 'M0003816600000000000000000000FOO' })
const ours = message({
  bizMsgIdr: theirs.bizMsgIdr,
  resourceId: undefined,
  direction: 'OUTBOUND',
  type: 'pacs.002',
})

beforeAll(() => insertMessages(sql, [...some, theirs, ours]))

describe('messages are found', () => {
  test('by their BizMsgIdr, in both directions, and beside every other filter', async () => {
    const query = `biz_msg_idr=${theirs.bizMsgIdr}`
    expect(await get(query)).toMatchObject({ ids: [ours.id, theirs.id], total: 2 })
    expect(await found(`${query}&direction=OUTBOUND`)).toEqual([ours.id])
    const newest = await get(`${query}&limit=1`)
    expect(newest).toMatchObject({ ids: [ours.id], total: 2 })
    expect(await found(`${query}&limit=1&cursor=${newest.next_cursor}`)).toEqual([theirs.id])
    const [first] = theirs.transactions
    expect(await found(`${query}&end_to_end_id=${first?.endToEndId}`)).toEqual([theirs.id])
    expect(await found(`${query}&amount=1234567890123456.78`)).toEqual([ours.id, theirs.id])
    expect(await found(`${query}&amount=1.00`)).toEqual([])
    expect(await found('biz_msg_idr=M00038166000000000000000000000000')).toEqual([])
    expect(await found('biz_msg_idr=m0003816600000000000000000000foo')).toEqual([])
  })

  test('by the amount of any transaction, once each, newest first', async () => {
    expect(await get('amount=10.50')).toMatchObject({ ids: [both, ten], total: 2 })
    expect(await found('amount=10.5')).toEqual([both!, ten!])
    expect(await found('amount=10.51')).toEqual([both!])
    expect(await found('amount=10.52')).toEqual([])
    expect(await get('amount_from=10.50&amount_to=20')).toMatchObject({
      ids: [twenty, both, ten],
      total: 3,
    })
    expect(await found('amount_from=10.51&amount_to=19.99')).toEqual([both!])
    expect(await found('amount_to=10.50')).toEqual([both!, ten!])
    expect(await found('amount_from=20.00&amount_to=20.01')).toEqual([twenty!])
    expect(await found('amount_from=20.02&amount_to=1000')).toEqual([])
    expect(await found('amount_from=20&amount_to=10')).toEqual([])
    expect(await found('amount=10.50&amount_from=10.51')).toEqual([])
    const page = await get('amount_from=10&amount_to=21&limit=2')
    expect(page).toMatchObject({ ids: [twenty, both], total: 3 })
    expect(await get(`amount_from=10&amount_to=21&cursor=${page.next_cursor}`)).toMatchObject({
      ids: [ten],
      total: 3,
      next_cursor: null,
    })
  })

  test('by the amount and the status of one and the same transaction', async () => {
    expect(await found('amount=10.50&transaction_status=RJCT')).toEqual([both!])
    expect(await found('amount=10.51&transaction_status=RJCT')).toEqual([])
    expect(await found('amount_from=10&amount_to=21&transaction_status=RJCT')).toEqual([
      twenty!,
      both!,
    ])
    expect(
      await found(`amount=10.50&end_to_end_id=${some[1]?.transactions[0]?.endToEndId}`),
    ).toEqual([])
    expect(await found('amount=10.50&type=pacs.004')).toEqual([])
  })
})

test('of more than can be counted each page is the same', async () => {
  const day = new Date('2019-05-01T00:00:00Z')
  const many = Array.from({ length: countedMax / 2 + 1 }, (_, n) =>
    ofAmounts([700n, 701n + BigInt(n % 2)], {
      id: Bun.randomUUIDv7('hex', new Date(day.getTime() + n)),
      status: n % 1_000 === 0 ? 'FAILED' : 'PROCESSED',
    }),
  )
  await insertMessages(sql, many)
  const newest = many.map(({ id }) => id).reverse()
  const failed = many.filter(({ status }) => status === 'FAILED').map(({ id }) => id)
  expect(await get('amount=7&limit=3')).toMatchObject({
    ids: newest.slice(0, 3),
    total: many.length,
  })
  const wide = 'amount_from=7&amount_to=7.02'
  const first = await get(`${wide}&limit=3`)
  expect(first).toMatchObject({ ids: newest.slice(0, 3), total: countedMax + 1 })
  expect(await found(`${wide}&limit=3&cursor=${first.next_cursor}`)).toEqual(newest.slice(3, 6))
  expect(await found(`${wide}&limit=3&transaction_status=RJCT`)).toEqual(newest.slice(0, 3))
  expect(await found(`${wide}&status=FAILED`)).toEqual(failed.reverse())
  expect(await found(`${wide}&biz_msg_idr=${many[7]?.bizMsgIdr}`)).toEqual([many[7]!.id])
  // Fewer are of that time, so they are counted.
  const second = `${wide}&from=2019-05-01T00:00:00Z&to=2019-05-01T00:00:01Z`
  expect(await get(`${second}&limit=3`)).toMatchObject({ total: 1_000 })
})

test('by a status of transactions beside other conditions, counted where few meet either', async () => {
  const count = countedMax + 1
  await sql`
    with made as (
      select n, ('016f0000-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid as id
      from generate_series(1, ${count}) n
    ), messages as (
      insert into spi_messages (id, direction, status, transaction_count, signature, xml)
      select id, 'INBOUND', case when n % 1000 = 0 then 'FAILED' else 'PROCESSED' end, 2, 'VALID', '' from made
    )
    insert into spi_transactions (message_id, position, status)
    select id, 0, 'ACCC' from made union all
    select id, 1, 'PDNG' from made where n % 5000 = 0`
  const id = (n: number) => `016f0000-${n.toString(16).padStart(4, '0')}-7000-8000-000000000000`
  const failed = Array.from({ length: 10 }, (_, n) => id((10 - n) * 1_000))
  expect(await get('transaction_status=ACCC&status=FAILED')).toMatchObject({
    ids: failed,
    total: failed.length,
  })
  expect(await get('transaction_status=PDNG&direction=INBOUND')).toMatchObject({
    ids: [id(10_000), id(5_000)],
    total: 2,
  })
  // Many meet each; who meets both is shown, newest first, and not counted.
  expect(await get('transaction_status=ACCC&direction=INBOUND&limit=2')).toMatchObject({
    ids: [id(count), id(count - 1)],
    total: count,
  })
})

test('what is no BizMsgIdr and no amount is refused by name', async () => {
  for (const query of [
    ...['biz_msg_idr=', 'biz_msg_idr=a%20b', `biz_msg_idr=${'M'.repeat(65)}`],
    ...['amount=', 'amount=1,50', 'amount=-1', 'amount=1.005', 'amount_from=1e3'],
    ...['amount_to=.50', `amount_to=${'9'.repeat(17)}`],
  ]) {
    const answer = await app.call('GET', `/v1/messages?${query}`, { key: reader.key })
    expect([query, answer.status]).toEqual([query, 400])
    expect(await answer.text()).toContain(query.split('=')[0]!)
  }
})
