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
const pay = async (txid: string, amountCents = 10_000n): Promise<void> => {
  const endToEndId = `E9119355220260302${txid.slice(-15)}`
  const payment = {
    endToEndId,
    txid,
    amountCents,
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

test('a batch that is put again denies nothing that was paid, removed or revised since', async () => {
  const all = [freshTxid(), freshTxid(), freshTxid()]
  const [paid = '', removed = '', revised = ''] = all
  const body = { descricao: 'Turno', cobsv: all.map((txid) => ({ txid, ...due() })) }
  await call('PUT', '/lotecobv/2', body)
  for (const txid of [paid, revised]) {
    await call('PATCH', `/cobv/${txid}`, { valor: { original: '120.00' } })
  }
  await pay(paid, 12_000n)
  const removal = { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }
  await call('PATCH', `/cobv/${removed}`, removal)
  const changes = all.map((txid) => ({ txid, solicitacaoPagador: 'Obrigado' }))
  for (const [method, asked] of [
    ['PUT', body],
    ['PATCH', { cobsv: changes }],
  ] as const) {
    expect((await call(method, '/lotecobv/2', asked)).status).toBe(202)
    const { cobsv } = (await call('GET', '/lotecobv/2')).json
    const problema = { violacoes: [{ propriedade: 'cobv.status' }] }
    expect(cobsv).toMatchObject([
      { status: 'CRIADA', criacao: made.toISOString(), problema },
      { status: 'CRIADA', criacao: made.toISOString(), problema },
      { status: 'CRIADA', criacao: made.toISOString() },
    ])
    expect(cobsv[2].problema).toBeUndefined()
  }
  const after = (await call('GET', `/cobv/${paid}`)).json
  expect([after.status, after.revisao]).toEqual(['CONCLUIDA', 1])
  const { valor, revisao } = (await call('GET', `/cobv/${revised}`)).json
  expect([valor.original, revisao]).toEqual(['100.00', 3])
})

test('a charge is put again when its receiver has no address any more, or is none', async () => {
  const company = '12345678000195'
  const mine = await pix.receiver('ana', company, address)
  const [paid, open, single] = [freshTxid(), freshTxid(), freshTxid()]
  const chave = mine.key
  const cobsv = [paid, open].map((txid) => ({ txid, ...due({ chave }) }))
  const put = () => call('PUT', '/lotecobv/3', { descricao: 'Turno', cobsv })
  await put()
  await call('PUT', `/cobv/${single}`, due({ chave }))
  const before = (await call('GET', '/lotecobv/3')).json
  const putsAgain = async () => {
    expect((await put()).status).toBe(202)
    expect((await call('GET', '/lotecobv/3')).json).toEqual(before)
    const { status, json } = await call('PUT', `/cobv/${single}`, due({ chave }))
    expect([status, json.revisao]).toEqual([201, 0])
    // What is new asks for a receiver.
    const fresh = await problem('PUT', `/cobv/${freshTxid()}`, due({ chave }))
    expect(fresh).toEqual([400, 'cobv.chave'])
  }
  await pix.receiver('ana', company, { key: chave })
  await putsAgain()
  await pix.call('DELETE', `/v1/pix/receivers/${chave}`, { token: pix.operator })
  await putsAgain()
  await pay(paid)
  await call('PATCH', `/cobv/${open}`, { chave: key })
  await call('PATCH', `/cobv/${open}`, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' })
  await put()
  // One that was removed is not judged by the key that it had.
  expect((await call('GET', '/lotecobv/3')).json.cobsv).toMatchObject([
    { status: 'CRIADA' },
    { status: 'CRIADA', problema: { violacoes: [{ propriedade: 'cobv.status' }] } },
  ])
})
