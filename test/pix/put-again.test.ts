/** What says of a charge what it is changes nothing, whenever it comes. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { freshTxid, startPix } from './support.ts'

let clock = new Date()
const pix = await startPix(() => clock)
afterAll(() => pix.database.close())
const address = { street: 'Rua 15, 1200', state: 'SP', postal_code: '70800100' }
const { key, token } = await pix.receiver('ana', undefined, address)
const made = new Date('2026-03-02T15:00:00Z')
const later = new Date('2026-03-06T15:00:00Z')
beforeEach(() => {
  clock = made
})

const call = (method: string, path: string, body?: unknown) =>
  pix.call(method, `/pix/v2${path}`, { token, ...(body === undefined ? {} : { body }) })
const due = (more: object = {}) => ({
  chave: key,
  valor: { original: '100.00' },
  calendario: { dataDeVencimento: '2026-03-04' },
  devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
  ...more,
})
const pay = async (txid: string): Promise<void> => {
  const endToEndId = `E9119355220260302${txid.slice(-15)}`
  const payment = {
    endToEndId,
    txid,
    amountCents: 10_000n,
    localInstrument: 'QRDN',
    creditorDocument: '12345678000195',
    creditorKey: key,
    debtorDocument: '15231470190',
    text: null,
    withdrawal: null,
  }
  const settled = [{ endToEndId, returnId: null, isSettled: true, reason: null }]
  await pix.sql.begin((tx) => pix.receivables?.receive(tx, [payment], clock))
  await pix.sql.begin(async (tx) => pix.receivables?.end(tx, settled, clock))
}
const problem = async (method: string, path: string, body: unknown) => {
  const { status, json } = await call(method, path, body)
  return [status, json.violacoes?.[0]?.propriedade]
}

test('a batch leaves what was made and what was paid as it is', async () => {
  const [paid, open] = [freshTxid(), freshTxid()]
  const body = { descricao: 'Turno', cobsv: [paid, open].map((txid) => ({ txid, ...due() })) }
  await call('PUT', '/lotecobv/1', body)
  const before = (await call('GET', '/lotecobv/1')).json
  await pay(paid)
  for (const at of [made, later]) {
    clock = at
    expect((await call('PUT', '/lotecobv/1', body)).status).toBe(202)
    expect((await call('GET', '/lotecobv/1')).json).toEqual(before)
  }
  expect((await call('GET', `/cobv/${paid}`)).json).toMatchObject({
    status: 'CONCLUIDA',
    revisao: 0,
  })
})

test('a charge is put again after its due date, and dates are judged by the day of its making', async () => {
  const txid = freshTxid()
  const first = (await call('PUT', `/cobv/${txid}`, due())).json
  clock = later
  expect(await call('PUT', `/cobv/${txid}`, due())).toMatchObject({ status: 201, json: first })
  const dearer = await call('PUT', `/cobv/${txid}`, due({ valor: { original: '120.00' } }))
  expect([dearer.status, dearer.json.revisao]).toEqual([201, 1])
  const date = 'cobv.calendario.dataDeVencimento'
  const early = due({ calendario: { dataDeVencimento: '2026-03-01' } })
  expect(await problem('PUT', `/cobv/${txid}`, early)).toEqual([400, date])
  expect(await problem('PUT', `/cobv/${freshTxid()}`, due())).toEqual([400, date])
  // Ten years from then, and eleven from the year in which it was made.
  clock = new Date('2027-01-05T15:00:00Z')
  const far = due({ calendario: { dataDeVencimento: '2037-01-04' } })
  expect(await problem('PUT', `/cobv/${txid}`, far)).toEqual([400, date])
})

test('a charge that was paid is put again, and not changed', async () => {
  const [txid, loc] = [freshTxid(), (await call('POST', '/loc', { tipoCob: 'cobv' })).json]
  const other = (await call('POST', '/loc', { tipoCob: 'cobv' })).json
  const body = due({ loc: { id: loc.id } })
  await call('PUT', `/cobv/${txid}`, body)
  await pay(txid)
  for (const again of [body, due()]) {
    const { status, json } = await call('PUT', `/cobv/${txid}`, again)
    expect([status, json.status, json.revisao]).toEqual([201, 'CONCLUIDA', 0])
  }
  for (const change of [{ valor: { original: '120.00' } }, { loc: { id: other.id } }]) {
    expect(await problem('PUT', `/cobv/${txid}`, due(change))).toEqual([400, 'cobv.status'])
  }
})
