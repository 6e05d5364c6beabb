/** Returns that the institution makes: the receiver is shown them, and told of their ends, like his own. */
import { expect, test } from 'bun:test'
import { noteReturn } from '../../src/pix/index.ts'
import { createPayments, createRefunds, createSend } from '../../src/spi/index.ts'
import { fresh, payment, report, runningWorker, tellingOf } from '../spi/in/worker/support.ts'
import { noPayees } from '../spi/payments/support.ts'
import { testApp, testKey } from '../support/app.ts'
import { quietLogger } from '../support/database.ts'
import { subscribe } from '../support/webhooks.ts'
import { startPix } from './support.ts'

const pix = await startPix()
const { sql, database } = pix
await subscribe(sql, ['pix.returned'])
const worker = await runningWorker(database, { receivables: pix.receivables })
const deps = {
  ispb: '12345678',
  sql,
  broker: worker.broker,
  revision: '5.11.1',
  noteReturn,
} as const
const operator = testKey('spi:send', 'messages:read')
const payments = testApp(createPayments({ ...deps, payees: noPayees }).routes ?? [], {
  keys: [operator.record],
})
const send = testApp(createSend({ ...deps, logger: quietLogger }).routes ?? [], {
  keys: [operator.record],
})
const refunds = createRefunds(deps)
if (refunds === undefined) throw new Error('there is a database')
const { key, token } = await pix.receiver('ana')

const tell = tellingOf(database, worker)

const settled = async (creditor = '12345678000195'): Promise<string> => {
  const endToEndId = fresh.endToEndId()
  const proxy = `<Prxy><Id>${key}</Id></Prxy>`
  const paid = payment({ endToEndId, instrument: 'DICT', amount: '37.00', proxy })
  await tell(paid.replace(/(<Cdtr>.*?<Id>)12345678909(<\/Id>)/, `$1${creditor}$2`))
  await tell(report([{ endToEndId, status: 'ACCC' }]))
  return endToEndId
}

const get = async (path: string) => (await pix.call('GET', `/pix/v2/pix${path}`, { token })).json

const refundBy = (endToEndId: string, reason: string) => (amountCents: number) =>
  sql.begin((tx) =>
    refunds.refundWithin(
      tx,
      endToEndId,
      {
        amountCents,
        reason,
        additionalInformation: undefined,
        remittanceInformation: undefined,
      },
      { id: 'k', requestId: undefined },
    ),
  )

test('a refund of the institution is shown, filtered by and told of', async () => {
  const endToEndId = await settled()
  const response = await payments.call('POST', `/v1/pix/payments/${endToEndId}/refunds`, {
    key: operator.key,
    body: { amount: 700, reason: 'MD06', remittance_information: 'Troca' },
  })
  expect(response.status).toBe(202)
  const { id } = (await response.json()) as { readonly id: string }
  const made = { id, rtrId: id, valor: '7.00', natureza: 'ORIGINAL', descricao: 'Troca' }
  expect((await get(`/${endToEndId}`)).devolucoes).toMatchObject([
    { ...made, status: 'EM_PROCESSAMENTO' },
  ])
  expect(await get(`/${endToEndId}/devolucao/${id}`)).toMatchObject(made)
  const hour = 3_600_000
  const [from, to] = [new Date(Date.now() - hour), new Date(Date.now() + hour)]
  const time = `inicio=${from.toISOString()}&fim=${to.toISOString()}`
  const { pix: returned } = await get(`?${time}&devolucaoPresente=true`)
  expect(returned).toMatchObject([{ endToEndId }])
  await tell(report([{ endToEndId, instructionId: id, status: 'ACCC' }]))
  expect((await get(`/${endToEndId}`)).devolucoes).toMatchObject([{ ...made, status: 'DEVOLVIDO' }])
  const [told] = await sql<{ data: string }[]>`
    select data from webhook_events where subject = ${endToEndId}`
  expect(JSON.parse(told?.data ?? '')).toMatchObject({ rtr_id: id, status: 'settled' })
})

test('those of one pacs.004 that is sent are shown and told of, and refused ones may be sent again', async () => {
  const [one, two] = [await settled(), await settled()]
  const stranger = await settled('98765432000198')
  const minute = new Date().toISOString().replace(/\D/g, '').slice(0, 12)
  const rtrId = `D12345678${minute}${crypto.randomUUID().slice(-11)}`
  const give = (endToEndId: string, more: object = {}) => ({
    original_end_to_end_id: endToEndId,
    amount: 700,
    return_reason: 'MD06',
    ...more,
  })
  const ask = (transactions: readonly object[]) =>
    send.call('POST', '/v1/spi/send', {
      key: operator.key,
      body: { message_type: 'PACS004', params: { transactions } },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    })
  const first = give(one, { return_id: rtrId, remittance_information: 'Troca' })
  expect((await ask([give(two, { return_reason: 'FR01' }), first, give(stranger)])).status).toBe(
    202,
  )
  const made = { id: rtrId, rtrId, valor: '7.00', natureza: 'ORIGINAL', descricao: 'Troca' }
  const shown = async () => (await get(`/${one}`)).devolucoes
  expect(await shown()).toMatchObject([{ ...made, status: 'EM_PROCESSAMENTO' }])
  expect((await get(`/${two}`)).devolucoes).toMatchObject([
    { natureza: 'MED_FRAUDE', status: 'EM_PROCESSAMENTO' },
  ])
  await tell(report([{ endToEndId: one, instructionId: rtrId, status: 'RJCT', reason: 'AB09' }]))
  expect(await shown()).toMatchObject([{ ...made, status: 'NAO_REALIZADO', motivo: 'AB09' }])
  expect((await ask([{ ...first, amount: 300 }])).status).toBe(202)
  expect(await shown()).toMatchObject([{ ...made, valor: '3.00', status: 'EM_PROCESSAMENTO' }])
  await tell(report([{ endToEndId: one, instructionId: rtrId, status: 'ACSC' }]))
  expect(await shown()).toMatchObject([{ ...made, valor: '3.00', status: 'DEVOLVIDO' }])
})

test.each([
  ['FR01', 'MED_FRAUDE'],
  ['BE08', 'MED_OPERACIONAL'],
])('one for %s is %s', async (reason, natureza) => {
  const endToEndId = await settled()
  const id = await refundBy(endToEndId, reason)(3_700)
  expect((await get(`/${endToEndId}`)).devolucoes).toMatchObject([{ id, natureza }])
})

test('of a payment to nobody whom we know nothing is noted', async () => {
  const endToEndId = await settled('98765432000198')
  const id = await refundBy(endToEndId, 'MD06')(100)
  const { count } = await sql`select from pix_returns where return_id = ${id}`
  expect(count).toBe(0)
})

test('returns of both that come together wait for one another', async () => {
  const endToEndId = await settled()
  const give = refundBy(endToEndId, 'MD06')
  const asked = Array.from({ length: 8 }, (_, n) => [
    pix.call('PUT', `/pix/v2/pix/${endToEndId}/devolucao/d${n}`, {
      token,
      body: { valor: '1.00' },
    }),
    give(100),
  ])
  await Promise.all(asked.flat())
  expect((await get(`/${endToEndId}`)).devolucoes).toHaveLength(16)
})
