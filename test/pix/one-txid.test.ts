/** A txid is one charge of its account, of whatever kind, also if several are asked for at once. */
import { afterAll, expect, test } from 'bun:test'
import { startAutomatic } from './automatic.ts'
import { chargeBody, freshTxid } from './support.ts'

const { pix, call, right, recBody, cobrBody, violated } = await startAutomatic()
afterAll(() => pix.database.close())
const address = { street: 'Rua 15, 1200', state: 'SP', postal_code: '70800100' }
const { key } = await pix.receiver('ana', undefined, address)
const debtor = { cpf: '12345678909', nome: 'Francisco da Silva' }

const rounds = 20
const refusals = [
  [400, 'CobOperacaoInvalida', 'cob.txid'],
  [400, 'CobVOperacaoInvalida', 'cobv.txid'],
  [400, 'CobROperacaoInvalida', 'cobr.txid'],
]

test.each([
  ['alone', false],
  ['with a location', true],
])('cob, cobv and cobr put at once, %s: one is made', async (_, loc) => {
  for (let round = 0; round < rounds; round++) {
    const { idRec } = await right('POST', '/rec', recBody())
    const txid = freshTxid()
    const located = async (tipoCob: string) =>
      loc ? { loc: { id: (await right('POST', '/loc', { tipoCob })).id } } : {}
    const due = {
      chave: key,
      valor: { original: '35.00' },
      calendario: { dataDeVencimento: '2026-03-20' },
      devedor: debtor,
      ...(await located('cobv')),
    }
    const immediate = chargeBody(key, await located('cob'))
    // What is made in one statement would always be first.
    const all = await Promise.all([
      Bun.sleep(round / 2).then(() => call('PUT', `/cob/${txid}`, immediate)),
      Bun.sleep(round / 2).then(() => call('PUT', `/cobv/${txid}`, due)),
      call('PUT', `/cobr/${txid}`, cobrBody(idRec)),
    ])
    const made = all.map(({ status }) => status === 201)
    expect(made.filter(Boolean)).toEqual([true])
    expect(all.filter((_, at) => !made[at]).map(violated)).toEqual(
      refusals.filter((_, at) => !made[at]),
    )
  }
})
