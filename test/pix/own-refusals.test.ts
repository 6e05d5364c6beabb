/** Payments that this institution refuses itself: of them the SPI tells the payer alone. */
import { afterAll, expect, test } from 'bun:test'
import { createStuckWalk } from '#src/spi/in/worker/stuck.ts'
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
if (receivables === undefined) throw new Error('there is a database')
const startWorker = async (known: typeof receivables) => {
  const worker = await workerOn(database, { receivables: known })
  await worker.feature.start?.()
  return worker
}
let worker = await startWorker(receivables)
const rig = await rigOn(database)
afterAll(async () => {
  await worker.stop()
  await rig.broker.stop()
  await database.close()
})
const { key, token } = await pix.receiver('ana')

const tell = (xml: string, by = worker) => tellingOf(database, by)(xml)

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
  pay: async () => undefined,
  admit: () => Promise.reject(new Error('not used')),
  room: () => Promise.reject(new Error('not used')),
  openStream: () => Promise.reject(new Error('not used')),
  catalogue: () => Promise.reject(new Error('not used')),
  close: async () => {},
}

/** Sends what is queued. */
const send = (known = receivables) =>
  runningOn(rig)(() => until(async () => ((await rig.statuses())['QUEUED'] ?? 0) === 0), client, {
    receivables: known,
  })

const queueReply = async (
  endToEndId: string,
  status: 'ACSP' | 'RJCT',
  instructionId = endToEndId,
) => {
  const reason = status === 'RJCT' ? { reason: 'AC06' } : {}
  const ids = { original_end_to_end_id: endToEndId, original_instruction_id: instructionId }
  const params = { ...ids, status, ...reason }
  await rig.pay(1, { message_type: 'PACS002', params })
}

/** Replies as a ledger does. */
const reply = async (...about: Parameters<typeof queueReply>) => {
  await queueReply(...about)
  await send()
}

/** As a release that noted none of these ends. */
const deaf = {
  ...receivables,
  end: async () => {},
}

/** A payment that has settled, of which a return was refused, and nobody noted so. */
const returnOfNoEnd = async () => {
  const endToEndId = await pay(await made())
  await tell(report([{ endToEndId, status: 'ACCC' }]))
  const path = `/pix/${endToEndId}/devolucao/d1`
  const asked = await call('PUT', path, { valor: '1.00' })
  await send()
  const returnId: string = asked.json.rtrId
  const ids = { endToEndId, instructionId: returnId }
  await worker.feature.drain?.()
  const other = await startWorker(deaf)
  await tell(report([{ ...ids, status: 'RJCT', reason: 'AC03' }]), other)
  await other.stop()
  await worker.stop()
  worker = await startWorker(receivables)
  expect((await call('GET', path)).json.status).toBe('EM_PROCESSAMENTO')
  return { endToEndId, returnId, path }
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
  await queueReply(endToEndId, 'RJCT')
  await send(deaf)
  expect(await statusOf(endToEndId)).toBe('PENDENTE')
  const waiting = await pay(await made())
  const { path, endToEndId: settled } = await returnOfNoEnd()
  await sql`
    update pix_received set received_at = now() - interval '20 days'
    where end_to_end_id in (${endToEndId}, ${waiting})`
  await sql`
    update pix_returns set requested_at = now() - interval '20 days'
    where end_to_end_id = ${settled}`
  await sql`delete from job_leases where name = 'remembered answers'`
  const other = await startWorker(receivables)
  await until(async () => (await statusOf(endToEndId)) !== 'PENDENTE')
  await other.stop()
  expect(await statusOf(endToEndId)).toBe('NAO_REALIZADO')
  expect((await remove(txid)).status).toBe(200)
  expect((await call('GET', path)).json).toMatchObject({ status: 'NAO_REALIZADO', motivo: 'AC03' })
  expect(await statusOf(waiting)).toBe('PENDENTE')
})

test('a return that is sent again while a look finds it refused is under way', async () => {
  const { endToEndId, returnId, path } = await returnOfNoEnd()
  const again = {
    original_end_to_end_id: endToEndId,
    amount: 100,
    return_reason: 'MD06',
    return_id: returnId,
  }
  const look = createStuckWalk(sql, {
    ...receivables,
    lock: async (tx, ids) => {
      expect(ids).toEqual([endToEndId])
      await rig.pay(1, { message_type: 'PACS004', params: again })
      await receivables.lock(tx, ids)
    },
  })
  await look(new Date())
  expect((await call('GET', path)).json.status).toBe('EM_PROCESSAMENTO')
})

test('a look goes on behind each of those that were begun at one moment', async () => {
  const { endToEndId } = await returnOfNoEnd()
  const pending = await pay(await made())
  const moment = new Date(Date.now() - 30 * 86_400_000)
  await sql`update pix_returns set requested_at = ${moment} where end_to_end_id = ${endToEndId}`
  await sql`
    insert into pix_received
    select (jsonb_populate_record(one, jsonb_build_object(
      'end_to_end_id', left(one.end_to_end_id, 30) || 'x' || n, 'received_at', ${moment}::timestamptz))).*
    from pix_received one, generate_series(10, 16) n where end_to_end_id = ${pending}`
  const seen: string[] = []
  let from: Parameters<typeof receivables.open>[1] | undefined = { at: new Date(0), id: '' }
  while (from !== undefined) {
    const { ids, next } = await receivables.open(sql, from, new Date(moment.getTime() + 1), 3)
    seen.push(...ids)
    from = next
  }
  const copies = Array.from({ length: 7 }, (_, n) => `${pending.slice(0, 30)}x${10 + n}`)
  expect(seen.toSorted()).toEqual([...copies, endToEndId].toSorted())
})
