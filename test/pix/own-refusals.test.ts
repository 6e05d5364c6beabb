/** Payments that this institution refuses itself: of them the SPI tells the payer alone. */
import { afterAll, expect, test } from 'bun:test'
import { momentOf } from '#src/spi/messages/index.ts'
import { paymentOf } from '../../src/spi/payments/domain.ts'
import { messagesOfPayment } from '../../src/spi/payments/store.ts'
import {
  fresh,
  payment,
  paymentReturn,
  report,
  tellingOf,
  workerOn,
} from '../spi/in/worker/support.ts'
import { accepting, ispb, rigOn, runningOn } from '../spi/out/stage/support.ts'
import { until } from '../support/until.ts'
import { chargeBody, freshTxid, startPix } from './support.ts'

const pix = await startPix()
const { sql, database, receivables } = pix
const worker = await workerOn(database, {}, undefined, undefined, receivables)
await worker.feature.start?.()
const rig = await rigOn(database)
afterAll(async () => {
  await worker.stop()
  await rig.broker.stop()
  await database.close()
})
const { key, token } = await pix.receiver('ana')

const tell = tellingOf(database, worker)

const call = (method: string, path: string, body?: object) =>
  pix.call(method, `/pix/v2${path}`, { token, ...(body && { body }) })

const remove = (txid: string) =>
  call('PATCH', `/cob/${txid}`, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' })

const made = async (): Promise<string> => {
  const txid = freshTxid()
  expect((await call('PUT', `/cob/${txid}`, chargeBody(key))).status).toBe(201)
  return txid
}

const pay = async (txid: string): Promise<string> => {
  const endToEndId = fresh.endToEndId()
  const document = payment({
    endToEndId,
    instrument: 'QRDN',
    amount: '37.00',
    proxy: `<Prxy><Id>${key}</Id></Prxy>`,
    transactionId: `<TxId>${txid}</TxId>`,
  })
  await tell(document.replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2'))
  return endToEndId
}

const client = {
  channels: ['PRIMARY' as const],
  send: async (_: string, messages: readonly Uint8Array[]) => ({
    kind: 'accepted' as const,
    resourceIds: messages.map(fresh.resourceId),
  }),
  admit: () => Promise.reject(new Error('not used')),
  room: () => Promise.reject(new Error('not used')),
  openStream: () => Promise.reject(new Error('not used')),
  catalogue: () => Promise.reject(new Error('not used')),
  close: async () => {},
}

/** Sends what is queued. */
const send = () =>
  runningOn(rig)(() => until(async () => ((await rig.statuses())['QUEUED'] ?? 0) === 0), client, {
    receivables,
  })

/** Replies as a ledger does. */
const reply = async (endToEndId: string, status: 'ACSP' | 'RJCT', instructionId = endToEndId) => {
  const reason = status === 'RJCT' ? { reason: 'AC06' } : {}
  const ids = { original_end_to_end_id: endToEndId, original_instruction_id: instructionId }
  const params = { ...ids, status, ...reason }
  await rig.pay(1, { message_type: 'PACS002', params })
  await send()
}

const paymentBy = async (endToEndId: string) =>
  paymentOf(endToEndId, await messagesOfPayment(sql, endToEndId), momentOf)

const statusOf = async (endToEndId: string): Promise<string | undefined> => {
  const [row] = await sql<{ status: string }[]>`
    select status from pix_received where end_to_end_id = ${endToEndId}`
  return row?.status
}

test('one that is refused has ended, and its charge takes another', async () => {
  const txid = await made()
  const refused = await pay(txid)
  expect((await remove(txid)).status).toBe(400)
  await reply(refused, 'RJCT')
  expect(await paymentBy(refused)).toMatchObject({
    outcome: 'rejected',
    refusal: 'AC06',
    endedAt: expect.any(Date),
  })
  expect(await statusOf(refused)).toBe('NAO_REALIZADO')
  const other = await pay(txid)
  expect(await statusOf(other)).toBe('PENDENTE')
  await tell(report([{ endToEndId: other, status: 'ACCC' }]))
  expect((await call('GET', `/cob/${txid}`)).json).toMatchObject({ status: 'CONCLUIDA' })
})

test('the charge of one that is refused is removed', async () => {
  const txid = await made()
  await reply(await pay(txid), 'RJCT')
  expect((await remove(txid)).status).toBe(200)
})

test('what the SPI reports all the same outweighs it', async () => {
  const txid = await made()
  const endToEndId = await pay(txid)
  await reply(endToEndId, 'RJCT')
  await tell(report([{ endToEndId, status: 'ACCC' }]))
  expect(await paymentBy(endToEndId)).toMatchObject({ outcome: 'settled' })
  expect((await call('GET', `/cob/${txid}`)).json).toMatchObject({ status: 'CONCLUIDA' })
})

test('one that was accepted, too, waits for the report', async () => {
  const endToEndId = await pay(await made())
  await reply(endToEndId, 'ACSP')
  await reply(endToEndId, 'RJCT')
  expect(await paymentBy(endToEndId)).toMatchObject({ outcome: 'pending' })
  expect(await statusOf(endToEndId)).toBe('PENDENTE')
})

test('a return that is refused holds nothing', async () => {
  const [endToEndId = ''] = await rig.pay(1)
  await send()
  const returnId = fresh.returnId().replace(ispb, accepting)
  await tell(paymentReturn(endToEndId, returnId))
  expect((await paymentBy(endToEndId))?.heldCents).not.toBe(0n)
  await reply(endToEndId, 'RJCT', returnId)
  expect(await paymentBy(endToEndId)).toMatchObject({
    heldCents: 0n,
    returns: [{ id: returnId, outcome: 'rejected', refusal: 'AC06' }],
  })
})

test('what a charge refuses has ended as a payment, too', async () => {
  const txid = await made()
  await tell(report([{ endToEndId: await pay(txid), status: 'ACCC' }]))
  const refused = await pay(txid)
  expect(await statusOf(refused)).toBe('RECUSADO')
  await send()
  expect(await paymentBy(refused)).toMatchObject({ outcome: 'rejected', refusal: 'DUPL' })
  expect(await statusOf(refused)).toBe('RECUSADO')
})

test('what a release did not tell of, that noted nothing of its own refusals, ends by a look', async () => {
  const txid = await made()
  const endToEndId = await pay(txid)
  await reply(endToEndId, 'RJCT')
  const settled = await pay(await made())
  await tell(report([{ endToEndId: settled, status: 'ACCC' }]))
  const path = `/pix/${settled}/devolucao/d1`
  const asked = await call('PUT', path, { valor: '1.00' })
  await send()
  const ids = { endToEndId: settled, instructionId: asked.json.rtrId }
  await tell(report([{ ...ids, status: 'RJCT', reason: 'AC03' }]))
  expect((await call('GET', path)).json.status).toBe('NAO_REALIZADO')
  const waiting = await pay(await made())
  await sql`
    update pix_received set status = 'PENDENTE', received_at = now() - interval '20 days'
    where end_to_end_id = ${endToEndId}`
  await sql`
    update pix_returns set status = 'EM_PROCESSAMENTO', reason = null,
      requested_at = now() - interval '20 days'
    where end_to_end_id = ${settled}`
  await sql`
    update pix_received set received_at = now() - interval '20 days' where end_to_end_id = ${waiting}`
  await sql`delete from job_leases where name = 'remembered answers'`
  const other = await workerOn(database, {}, undefined, undefined, receivables)
  await other.feature.start?.()
  await until(async () => (await statusOf(endToEndId)) !== 'PENDENTE')
  await other.stop()
  expect(await statusOf(endToEndId)).toBe('NAO_REALIZADO')
  expect((await remove(txid)).status).toBe(200)
  expect((await call('GET', path)).json).toMatchObject({ status: 'NAO_REALIZADO', motivo: 'AC03' })
  expect(await statusOf(waiting)).toBe('PENDENTE')
})
