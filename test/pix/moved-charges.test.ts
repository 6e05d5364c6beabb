/** Charges that go to another key, and so to another company. */
import { afterAll, expect, test } from 'bun:test'
import { chargeBody, freshTxid, startPix } from './support.ts'

const pix = await startPix()
afterAll(() => pix.database.close())
const address = { street: 'Rua 15, 1200', state: 'SP', postal_code: '70800100' }
const [company, otherCompany] = ['12345678000195', '98765432000198']
const { key, token } = await pix.receiver('ana', company, address)
const second = await pix.receiver('ana', otherCompany, address)
const foreign = await pix.receiver('bia', otherCompany, address)

const call = (method: string, path: string, body?: unknown, by = token) =>
  pix.call(method, `/pix/v2${path}`, { token: by, ...(body === undefined ? {} : { body }) })
const due = (chave = key) => ({
  chave,
  valor: { original: '100.00' },
  calendario: { dataDeVencimento: new Date(Date.now() + 86_400_000).toISOString().slice(0, 10) },
  devedor: { cpf: '12345678909', nome: 'Francisco da Silva' },
})

test('a charge does not go where another account has its txid', async () => {
  const [txid, free] = [freshTxid(), freshTxid()]
  for (const one of [txid, free]) await call('PUT', `/cob/${one}`, chargeBody(key))
  await call('PUT', `/cob/${txid}`, chargeBody(foreign.key), foreign.token)
  for (const [method, body] of [
    ['PATCH', { chave: second.key }],
    ['PUT', chargeBody(second.key)],
  ] as const) {
    const { status, json } = await call(method, `/cob/${txid}`, body)
    expect([status, json.violacoes?.[0]]).toEqual([
      400,
      { razao: 'O campo cob.txid encontra-se em uso.', propriedade: 'cob.txid', valor: txid },
    ])
    expect((await call(method, `/cob/${free}`, body)).json.chave).toBe(second.key)
  }
  expect((await call('GET', `/cob/${txid}`)).json).toMatchObject({ chave: key, revisao: 0 })
})

test('of a batch the one that cannot go is denied alone', async () => {
  const [taken, free] = [freshTxid(), freshTxid()]
  const cobsv = [taken, free].map((txid) => ({ txid, ...due() }))
  await call('PUT', '/lotecobv/1', { descricao: 'Turno', cobsv })
  await call('PUT', `/cobv/${taken}`, due(foreign.key), foreign.token)
  const changes = [taken, free].map((txid) => ({ txid, chave: second.key }))
  expect((await call('PATCH', '/lotecobv/1', { cobsv: changes })).status).toBe(202)
  const { json } = await call('GET', '/lotecobv/1')
  expect(json.cobsv).toMatchObject([
    { status: 'NEGADA', problema: { violacoes: [{ propriedade: 'cobv.txid' }] } },
    { status: 'CRIADA' },
  ])
  expect((await call('GET', `/cobv/${free}`)).json.chave).toBe(second.key)
})

test.each(['PUT', 'PATCH'])(
  '%s of the same takes the number that its key has now',
  async (method) => {
    const mine = await pix.receiver('ana', company)
    const [txid, taken] = [freshTxid(), freshTxid()]
    for (const one of [txid, taken]) await call('PUT', `/cob/${one}`, chargeBody(mine.key))
    await call('PUT', `/cob/${taken}`, chargeBody(foreign.key), foreign.token)
    await pix.receiver('ana', otherCompany, { key: mine.key })
    const body = method === 'PUT' ? chargeBody(mine.key) : { chave: mine.key }
    expect((await call(method, `/cob/${txid}`, body)).json).toMatchObject({ revisao: 1 })
    expect((await call(method, `/cob/${txid}`, body)).json).toMatchObject({ revisao: 1 })
    expect((await call(method, `/cob/${taken}`, body)).status).toBe(400)
    const endToEndId = `E9119355220260302${txid.slice(-15)}`
    const payment = {
      endToEndId,
      txid,
      amountCents: 3_700n,
      localInstrument: 'QRDN',
      creditorDocument: otherCompany,
      creditorKey: mine.key,
      debtorDocument: '15231470190',
      text: null,
      withdrawal: null,
    }
    const answers = await pix.sql.begin((tx) => pix.receivables?.receive(tx, [payment], new Date()))
    expect(answers).toEqual(new Map([[endToEndId, undefined]]))
  },
)

test('a charge whose key is taken from the list is revised as before', async () => {
  const mine = await pix.receiver('ana', company)
  const txid = freshTxid()
  await call('PUT', `/cob/${txid}`, chargeBody(mine.key))
  await pix.call('DELETE', `/v1/pix/receivers/${mine.key}`, { token: pix.operator })
  const { status } = await call('PATCH', `/cob/${txid}`, { valor: { original: '38.00' } })
  expect(status).toBe(200)
})
