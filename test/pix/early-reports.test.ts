/** Reports of the SPI that are worked on before the payments that they end. */
import { afterAll, expect, test } from 'bun:test'
import { fresh, payment, report, tellingOf, workerOn } from '../spi/in/worker/support.ts'
import { until } from '../support/until.ts'
import { chargeBody, freshTxid, startPix } from './support.ts'

const pix = await startPix()
const { sql, database, receivables } = pix
if (receivables === undefined) throw new Error('there is a database')
const startWorker = async (known = receivables) => {
  const worker = await workerOn(database, { receivables: known })
  await worker.feature.start?.()
  return worker
}
const worker = await startWorker()
afterAll(async () => {
  await worker.stop()
  await database.close()
})
const { key, token } = await pix.receiver('ana')

const tell = tellingOf(database, worker)

const call = (method: string, path: string, body?: object) =>
  pix.call(method, `/pix/v2${path}`, { token, ...(body && { body }) })

/** A charge, and a payment of it. */
const owed = async () => {
  const txid = freshTxid()
  expect((await call('PUT', `/cob/${txid}`, chargeBody(key))).status).toBe(201)
  const endToEndId = fresh.endToEndId()
  const paid = payment({
    endToEndId,
    instrument: 'QRDN',
    amount: '37.00',
    proxy: `<Prxy><Id>${key}</Id></Prxy>`,
    transactionId: `<TxId>${txid}</TxId>`,
  }).replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, '$112345678000195$2')
  return { txid, endToEndId, paid }
}

const statusOf = async (endToEndId: string): Promise<string | undefined> => {
  const [row] = await sql<{ status: string }[]>`
    select status from pix_received where end_to_end_id = ${endToEndId}`
  return row?.status
}

test('one that was not made in time has ended, and its charge takes another', async () => {
  const { txid, endToEndId, paid } = await owed()
  await tell(report([{ endToEndId, status: 'RJCT', reason: 'AB03' }]))
  await tell(paid)
  expect(await statusOf(endToEndId)).toBe('NAO_REALIZADO')
  const status = 'REMOVIDA_PELO_USUARIO_RECEBEDOR'
  expect((await call('PATCH', `/cob/${txid}`, { status })).status).toBe(200)
})

test('one that has settled concludes its charge', async () => {
  const { txid, endToEndId, paid } = await owed()
  await tell(report([{ endToEndId, status: 'ACCC' }]))
  await tell(paid)
  expect((await call('GET', `/cob/${txid}`)).json).toMatchObject({
    status: 'CONCLUIDA',
    pix: [{ endToEndId }],
  })
})

test('a report that was stored at the same moment as its payment is found by the rare look', async () => {
  const { txid, endToEndId, paid } = await owed()
  await tell(paid)
  await worker.feature.drain?.()
  const deaf = await startWorker({ ...receivables, end: async () => {} })
  await tell(report([{ endToEndId, status: 'ACCC' }]), deaf)
  await deaf.stop()
  expect(await statusOf(endToEndId)).toBe('PENDENTE')
  await sql`
    update pix_received set received_at = received_at - interval '2 minutes'
    where end_to_end_id = ${endToEndId}`
  await sql`delete from job_leases where name = 'remembered answers'`
  const other = await startWorker()
  await until(async () => (await statusOf(endToEndId)) === 'LIQUIDADO')
  await other.stop()
  expect((await call('GET', `/cob/${txid}`)).json).toMatchObject({ status: 'CONCLUIDA' })
})
