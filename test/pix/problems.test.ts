/** What problems of the API Pix say of a body, whoever has judged it. */
import { afterAll, describe, expect, test } from 'bun:test'
import { freshTxid, startPix } from './support.ts'

const pix = await startPix()
afterAll(() => pix.database.close())
const { key, token } = await pix.receiver('ana')

const paths = {
  cob: `PUT /cob/${freshTxid()}`,
  cobv: `PUT /cobv/${freshTxid()}`,
  loteCobV: 'PUT /lotecobv/1',
  rec: 'POST /rec',
  solicrec: 'POST /solicrec',
  cobr: 'POST /cobr',
  devolucao: `PUT /pix/E${'0'.repeat(31)}/devolucao/1`,
  webhook: `PUT /webhook/${key}`,
  webhookrec: 'PUT /webhookrec',
  loc: 'POST /loc',
} as const

const violacoes = async (at: keyof typeof paths, body: string) => {
  const [method = '', path = ''] = paths[at].split(' ')
  const { status, json } = await pix.call(method, `/pix/v2${path}`, { token, body })
  expect([at, status]).toEqual([at, 400])
  return json.violacoes
}

describe('a member has one name', () => {
  test.each([
    ['cob', '{"valor":{"original":"1.00","original":"2.00"}}', 'cob.valor.original'],
    ['cobv', '{"valor":{"multa":{"a":1,"a":1}}}', 'cobv.valor.multa.a'],
    ['loteCobV', '{"cobsv":[{"txid":"a","txid":"b"}]}', 'loteCobV.cobsV.0.txid'],
    ['rec', '{"loc":12345678901234567890}', 'rec.loc'],
    ['solicrec', '{"idRec":"\\u0000"}', 'solicrec.idRec'],
    ['cobr', '{"a/~b":1,"a/~b":2}', 'cobr.a/~b'],
    ['devolucao', '{"valor":"1.00","valor":"2.00"}', 'devolucao.valor'],
    ['webhook', '{"webhookUrl":"a","webhookUrl":"b"}', 'webhook.webhookUrl'],
    ['webhookrec', '{"webhookUrl":"a","webhookUrl":"b"}', 'webhookUrl'],
    ['loc', '{"tipoCob":"cob","tipoCob":"cobv"}', 'tipoCob'],
  ] as const)('of %s, where the JSON %s cannot be taken: %s', async (at, body, propriedade) => {
    expect(await violacoes(at, body)).toMatchObject([{ propriedade }])
  })
})

describe('what should be an object is called one', () => {
  test.each(['cob', 'cobv', 'loteCobV', 'rec', 'solicrec', 'cobr', 'devolucao'] as const)(
    'the body of %s',
    async (at) => {
      const razao = `O objeto ${at} não respeita o schema.`
      expect(await violacoes(at, '[1]')).toEqual([{ razao, propriedade: at }])
    },
  )

  test('members of a charge', async () => {
    const body = JSON.stringify({ chave: key, calendario: 1, valor: [], loc: 'x', devedor: {} })
    const found = await violacoes('cob', body)
    expect(found.map(({ razao }: { razao: string }) => razao).sort()).toEqual(
      ['calendario', 'devedor', 'loc', 'valor'].map(
        (member) => `O objeto cob.${member} não respeita o schema.`,
      ),
    )
  })
})
