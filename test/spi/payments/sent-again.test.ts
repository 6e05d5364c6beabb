/** A payment or return that is sent again under its id, after its first message was refused as a whole. */
import { expect, test } from 'bun:test'
import { createPayments } from '#src/spi/index.ts'
import { findOurs } from '#src/spi/reports/project.ts'
import { testApp, testKey } from '../../support/app.ts'
import { createTestDatabase } from '../../support/database.ts'
import {
  fresh,
  inbound,
  ispb,
  payment,
  queued,
  refusal,
  report,
  runningWorker,
  storedWhen,
} from '../in/worker/support.ts'
import { noPayees } from './support.ts'

const database = await createTestDatabase()
const { sql } = database
const worker = await runningWorker(database)
const { broker } = worker
const { key, record } = testKey('messages:read')
const app = testApp(
  createPayments({ ispb, sql, broker, revision: '5.11.1', payees: noPayees }).routes ?? [],
  { keys: [record] },
)

const read = async (endToEndId: string): Promise<unknown> =>
  (await app.call('GET', `/v1/pix/payments/${endToEndId}`, { key })).json()

/** In one batch, or one that is cut. */
const receive = async (...documents: readonly string[]) => {
  const all = documents.map((xml) => ({ xml, resourceId: fresh.resourceId() }))
  await broker.publish(all.map(({ xml, resourceId }) => inbound(xml, { resourceId, key: 'k' })))
  return Promise.all(all.map(({ resourceId }) => storedWhen(database, 'resource_id', resourceId)))
}

const stands = (id: string) => storedWhen(database, 'id', id)
const become = async (id: string, status: string): Promise<void> => {
  await sql`update spi_messages set status = ${status} where id = ${id}::uuid`
  await sql`
    insert into spi_history (message_id, position, status)
    values (${id}::uuid, 1, ${status}) on conflict do nothing`
}

/** A payment of ours that was refused as a message, and sent again. */
const paidAgain = async () => {
  const endToEndId = fresh.endToEndId()
  const first = await queued(database, 'pacs.008', [{ endToEndId }])
  await receive(refusal(first.bizMsgIdr))
  return { endToEndId, first, second: await queued(database, 'pacs.008', [{ endToEndId }]) }
}

test('is what its second message is, not what the refused one was', async () => {
  const { endToEndId, first, second } = await paidAgain()
  expect(await read(endToEndId)).toMatchObject({
    status: 'pending',
    refusal: null,
    message_id: second.id,
  })
  await become(second.id, 'UNKNOWN')
  expect(await read(endToEndId)).toMatchObject({ status: 'unknown', ended_at: null })
  await receive(report([{ endToEndId, status: 'ACSC' }]))
  expect(await read(endToEndId)).toMatchObject({ status: 'settled', message_id: second.id })
  expect(await stands(second.id)).toMatchObject({ status: 'ACCEPTED', statuses: ['ACSC'] })
  expect(await stands(first.id)).toMatchObject({ status: 'REJECTED', statuses: [null] })
})

test('what a person gave up is settled where the central bank says so after all', async () => {
  const endToEndId = fresh.endToEndId()
  const { id } = await queued(database, 'pacs.008', [{ endToEndId }])
  await sql`
    update spi_messages set status = 'REJECTED', error_code = 'never_sent' where id = ${id}::uuid`
  expect(await read(endToEndId)).toMatchObject({ status: 'rejected' })
  await receive(report([{ endToEndId, status: 'ACSC' }]))
  expect(await read(endToEndId)).toMatchObject({ status: 'settled', message_id: id })
})

test.each([
  ['REJECTED', 'REJECTED', 'rejected', 0],
  ['REJECTED', 'FAILED', 'failed', 1],
  ['FAILED', 'REJECTED', 'failed', 0],
  ['FAILED', 'QUEUED', 'pending', 1],
  ['QUEUED', 'FAILED', 'pending', 0],
  ['SENT', 'ACCEPTED', 'settled', 1],
])('of two that are %s and %s, it is %s, in the book too', async (one, two, status, place) => {
  const endToEndId = fresh.endToEndId()
  const ids: string[] = []
  for (const messageStatus of [one, two]) {
    const amountCents = BigInt(ids.length)
    const { id } = await queued(database, 'pacs.008', [{ endToEndId, amountCents }])
    await become(id, messageStatus)
    // As versions did that knew no orders: a second one beside the first.
    await sql`delete from spi_message_keys where kind = 'pacs.008' and key = ${endToEndId}`
    if (messageStatus === 'ACCEPTED') {
      await sql`update spi_transactions set status = 'ACSC' where message_id = ${id}::uuid`
    }
    ids.push(id)
  }
  const isEnd = status === 'settled' || status === 'rejected'
  expect(await read(endToEndId)).toMatchObject({
    status,
    message_id: ids[place],
    ended_at: isEnd ? expect.any(String) : null,
  })
  const inBook = await findOurs(sql, [endToEndId], { refused: true })
  expect(inBook.get(endToEndId)).toMatchObject({
    cents: BigInt(place),
    isRefused: status === 'rejected' || status === 'failed',
    isSettled: status === 'settled',
  })
})

test('a refusal of its transaction is no refusal of the second', async () => {
  const endToEndId = fresh.endToEndId()
  await queued(database, 'pacs.008', [{ endToEndId }])
  await receive(report([{ endToEndId, status: 'RJCT', reason: 'AB03' }]))
  await queued(database, 'pacs.008', [{ endToEndId }])
  const [told] = await receive(report([{ endToEndId, status: 'ACSC' }]))
  expect(told?.warnings).toEqual([])
  expect(await read(endToEndId)).toMatchObject({ status: 'settled', refusal: null })
})

test('a return counts once', async () => {
  const endToEndId = fresh.endToEndId()
  await receive(payment({ endToEndId }), report([{ endToEndId, status: 'ACCC' }]))
  const one = { endToEndId, instructionId: fresh.returnId(), amountCents: 400n }
  const first = await queued(database, 'pacs.004', [one])
  await receive(refusal(first.bizMsgIdr))
  const second = await queued(database, 'pacs.004', [one])
  const told = { id: one.instructionId, message_id: second.id, refusal: null }
  expect(await read(endToEndId)).toMatchObject({
    held: '4.00',
    returned: '0.00',
    returns: [{ ...told, status: 'pending' }],
  })
  await receive(report([{ ...one, status: 'ACSC' }]))
  expect(await read(endToEndId)).toMatchObject({
    held: '0.00',
    returned: '4.00',
    refundable: '6.50',
    returns: [{ ...told, status: 'settled' }],
  })
  expect(await stands(first.id)).toMatchObject({ status: 'REJECTED', statuses: [null] })
})

test('what is refused as a message stays so, whatever its transactions are answered later', async () => {
  for (const isOneBatch of [false, true]) {
    const endToEndId = fresh.endToEndId()
    const { id, bizMsgIdr } = await queued(database, 'pacs.008', [{ endToEndId }])
    const [refused, settled] = [refusal(bizMsgIdr), report([{ endToEndId, status: 'ACSC' }])]
    const told = isOneBatch
      ? await receive(refused, settled)
      : [...(await receive(refused)), ...(await receive(settled))]
    expect(await stands(id)).toMatchObject({ status: 'REJECTED', statuses: [null] })
    expect(await read(endToEndId)).toMatchObject({ status: 'rejected' })
    if (!isOneBatch) expect(told[1]?.warnings).toMatchObject([{ rule: 'Answer' }])
  }
})

test.each([
  ['ACSC', 'ACCEPTED', 'settled'],
  ['RJCT', 'REJECTED', 'rejected'],
])(
  'what was never taken, as far as we knew, ends by its answer all the same: %s',
  async (answer, status, outcome) => {
    const endToEndId = fresh.endToEndId()
    const { id } = await queued(database, 'pacs.008', [{ endToEndId }])
    await become(id, 'FAILED')
    const [told] = await receive(report([{ endToEndId, status: answer, reason: 'AB03' }]))
    expect(told?.warnings).toEqual([])
    expect(await stands(id)).toMatchObject({ status, statuses: [answer] })
    expect(await read(endToEndId)).toMatchObject({ status: outcome })
    // What contradicts that answer moves nothing, and says so.
    const other = answer === 'ACSC' ? 'RJCT' : 'ACSC'
    const [late] = await receive(report([{ endToEndId, status: other, reason: 'AB03' }]))
    expect(late?.warnings).toMatchObject([{ message: 'contradicts an earlier answer' }])
    expect(await stands(id)).toMatchObject({ status, statuses: [answer] })
  },
)

test('a message that FAILED ends by a refusal of it as a whole, which contradicts nothing', async () => {
  const { id, bizMsgIdr } = await queued(database, 'pacs.008', [{ endToEndId: fresh.endToEndId() }])
  await become(id, 'FAILED')
  const [told] = await receive(refusal(bizMsgIdr))
  expect(told?.warnings).toEqual([])
  expect(await stands(id)).toMatchObject({ status: 'REJECTED', statuses: [null] })
})
