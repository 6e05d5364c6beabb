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
