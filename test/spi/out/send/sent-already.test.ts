import { afterAll, beforeEach, expect, test } from 'bun:test'
import { createPostgresBroker } from '#src/platform/broker/index.ts'
import { createSend } from '#src/spi/out/send/index.ts'
import { testApp, testKey } from '../../../support/app.ts'
import { createTestDatabase, quietLogger } from '../../../support/database.ts'
import { transfer } from '../../../support/participant.ts'
import { accepting, ispb } from '../stage/support.ts'

/*
 * A payment or charge is known by its EndToEndId, a return by its RtrId: the central bank settles one of each, and an
 * answer tells no second one from the first.
 */

const database = await createTestDatabase(10)
const { sql, dsn } = database
afterAll(() => database.close())
beforeEach(async () => {
  await sql`truncate spi_messages, spi_sendings, spi_transactions, spi_history, spi_message_keys cascade`
})

const broker = createPostgresBroker({ sql, dsn, logger: quietLogger })
const { key, record } = testKey('spi:send')
const send = createSend({ ispb, sql, broker, revision: '5.11.1', logger: quietLogger })
const { call } = testApp(send.routes ?? [], { keys: [record] })

const idOfNow = (letter: 'E' | 'D', maker: string): string => {
  const minute = new Date().toISOString().replace(/\D/g, '').slice(0, 12)
  return `${letter}${maker}${minute}${crypto.randomUUID().replaceAll('-', '').slice(0, 11)}`
}
const paymentId = (): string => idOfNow('E', ispb)
const returnId = (): string => idOfNow('D', ispb)

type Sent = {
  readonly status: number
  readonly id?: string
  readonly code?: string
  readonly detail?: string
  readonly message_id?: string
}

const post = async (messageType: string, params: unknown): Promise<Sent> => {
  const body = { message_type: messageType, params }
  const response = await call('POST', '/v1/spi/send', { key, body })
  return { ...((await response.json()) as object), status: response.status }
}

const pay = (...payments: readonly (readonly [id: string, cents: number])[]): Promise<Sent> =>
  post('PACS008', {
    local_instrument: 'MANU',
    transactions: payments.map(([id, cents]) => ({
      ...transfer(ispb, accepting, cents),
      end_to_end_id: id,
    })),
  })

const giveBack = (returnId: string, cents: number): Promise<Sent> =>
  post('PACS004', {
    original_end_to_end_id: idOfNow('E', accepting),
    amount: cents,
    return_reason: 'MD06',
    return_id: returnId,
  })

const charge = (id: string, cents: number): Promise<Sent> =>
  post('PAIN013', {
    charges: [
      {
        end_to_end_id: id,
        reconciliation_id: 'R'.repeat(30),
        mandate_id: `RR${ispb}2026030100000000001`,
        amount: cents,
        purpose: 'AGND',
        execution_date_time: '2026-04-05T12:00:00.000Z',
        due_date: '2026-04-05',
        debtor: { ispb: accepting, document: '98765432100' },
        creditor: { document: '12345678000195', account_num: '500100', account_type: 'CACC' },
      },
    ],
  })

const stored = async (): Promise<readonly string[]> =>
  (await sql<{ id: string }[]>`select id from spi_messages order by id`).map(({ id }) => id)

const orders = [
  ['payment', paymentId, (id: string, cents: number) => pay([id, cents]), 'EndToEndId'],
  ['return', returnId, giveBack, 'RtrId'],
  ['charge', paymentId, charge, 'EndToEndId'],
] as const

test.each(orders)('a %s is sent once', async (_, idOf, order, name) => {
  const id = idOf()
  const first = await order(id, 100)
  expect(first.status).toBe(202)
  const second = await order(id, 900)
  expect(second).toMatchObject({
    status: 409,
    code: 'payment_sent_already',
    message_id: first.id ?? '',
  })
  expect(second.detail).toContain(`${name} ${id}`)
  expect(await stored()).toEqual([first.id ?? ''])
})

test.each(orders)('of many requests for one %s at once, one is taken', async (_, idOf, order) => {
  const ids = Array.from({ length: 8 }, idOf)
  const all = await Promise.all(
    ids.flatMap((id) => [1, 2, 3, 4].map((cents) => order(id, cents * 100))),
  )
  const statuses = all.map(({ status }) => status)
  expect(statuses.filter((status) => status === 202).length).toBe(ids.length)
  expect(statuses.filter((status) => status === 409).length).toBe(ids.length * 3)
  expect((await stored()).length).toBe(ids.length)
})

test('a payment of a batch counts, and others of its batch are free when it is refused', async () => {
  const [one, two, three] = [paymentId(), paymentId(), paymentId()]
  const first = await pay([one, 100], [two, 200])
  expect((await pay([three, 300], [two, 900])).status).toBe(409)
  expect((await pay([three, 300])).status).toBe(202)
  expect((await pay([one, 100])).message_id).toBe(first.id)
})

test.each(orders)('a %s that was refused may be sent again', async (_, idOf, order) => {
  const id = idOf()
  const first = await order(id, 100)
  await sql`update spi_messages set status = 'REJECTED' where id = ${first.id ?? ''}`
  const second = await order(id, 200)
  expect(second.status).toBe(202)
  expect((await order(id, 300)).message_id).toBe(second.id)
})

test('one refused payment of a batch may be sent again, and none of the others', async () => {
  const [one, two] = [paymentId(), paymentId()]
  const first = await pay([one, 100], [two, 200])
  await sql`
    update spi_transactions set status = 'RJCT' where message_id = ${first.id ?? ''} and position = 1`
  expect((await pay([one, 100])).status).toBe(409)
  expect((await pay([two, 200])).status).toBe(202)
  expect((await pay([two, 200])).status).toBe(409)
})

test('what settled stays taken, though its message was refused as a whole', async () => {
  const [one, two] = [paymentId(), paymentId()]
  const first = await pay([one, 100], [two, 200])
  await sql`update spi_messages set status = 'REJECTED' where id = ${first.id ?? ''}`
  await sql`
    update spi_transactions set status = 'ACSC' where message_id = ${first.id ?? ''} and position = 0`
  expect((await pay([one, 100])).status).toBe(409)
  expect((await pay([two, 200])).status).toBe(202)
})

test('what could not be sent, and may still be sent from dlq, is not sent beside itself', async () => {
  const id = paymentId()
  const first = await pay([id, 100])
  await sql`update spi_messages set status = 'FAILED' where id = ${first.id ?? ''}`
  expect((await pay([id, 100])).status).toBe(409)
})

test('those that share a transaction with one that was sent already are stored with it refused alone', async () => {
  const known = paymentId()
  const first = await pay([known, 100])
  const ids = Array.from({ length: 40 }, paymentId)
  const all = await Promise.all([...ids.map((id) => pay([id, 100])), pay([known, 900])])
  expect(all.map(({ status }) => status)).toEqual([...ids.map(() => 202), 409])
  expect(all.at(-1)?.message_id).toBe(first.id)
  expect((await stored()).length).toBe(41)
})
