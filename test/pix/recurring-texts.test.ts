/** What the API takes is what messages can say. */
import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { buildDraft, type RecurringDraft } from '../../src/spi/recurring/outgoing.ts'
import { startAutomatic } from './automatic.ts'
import { chargeBody, freshTxid } from './support.ts'

const automatic = await startAutomatic()
const { pix, call, right, recBody, requestBody, answer, approved, cobrBody, at, violated } =
  automatic
afterAll(() => pix.database.close())

test('whatever its texts, a recurrence and its charges can be told to the payer\u2019s institution', async () => {
  const rare = fc.constantFrom(
    '\ufffe',
    '\uffff',
    '\ufffd',
    '\u0085',
    '\u2028',
    '<&>"\'',
    ']]>',
    '😀',
  )
  const text = fc.oneof(rare, fc.string({ unit: 'binary', minLength: 1, maxLength: 50 }))
  let taken = 0
  await fc.assert(
    fc.asyncProperty(text, text, text, async (contrato, nome, infoAdicional) => {
      const vinculo = { contrato, devedor: { cpf: '45164632481', nome } }
      const made = await call('POST', '/rec', recBody({ vinculo }))
      if (made.status === 400) return
      const { idRec } = made.json
      const { status, json } = await call('POST', '/solicrec', requestBody(idRec))
      expect(status).toBe(201)
      await answer(idRec, 'confirmed', { reference: json.idSolicRec })
      const charge = await at('2026-03-12T12:00:00Z', () =>
        call('POST', '/cobr', cobrBody(idRec, { infoAdicional })),
      )
      expect([201, 400]).toContain(charge.status)
      taken++
    }),
    {
      numRuns: 60,
      examples: [
        ['C-1', 'Fulano', '\ufffe'],
        ['C-1', '\uffff', 'Março'],
      ],
    },
  )
  expect(taken).toBeGreaterThan(1)
})

const payee = { cpf: '45164632481', nome: 'Fulano' }
const hidden = ['\u202eYNITRAP', '\u200b', ' ', '\u2066x', '\u00ad\u2060']

test.each([
  ...hidden.flatMap((text) => [
    { vinculo: { contrato: text, devedor: payee } },
    { vinculo: { contrato: 'C-1', objeto: text, devedor: payee } },
    { vinculo: { contrato: 'C-1', devedor: { ...payee, nome: text } } },
  ]),
])('a recurrence of %j is refused', async (more) => {
  expect(violated(await call('POST', '/rec', recBody(more)))).toEqual([
    ...[400, 'RecOperacaoInvalida', 'rec.vinculo'],
  ])
})

test.each(hidden)('%j is neither a new name of a debtor nor told with a charge', async (text) => {
  const idRec = await approved()
  const renamed = { vinculo: { devedor: { nome: text } } }
  expect((await call('PATCH', `/rec/${idRec}`, renamed)).status).toBe(400)
  const charge = await call('POST', '/cobr', cobrBody(idRec, { infoAdicional: text }))
  expect(violated(charge)).toEqual([400, 'CobROperacaoInvalida', 'cobr.infoAdicional'])
})

test.each([
  ...hidden.flatMap((text) => [
    [{ devedor: { cpf: '12345678909', nome: text } }, 'cob.devedor'] as const,
    [{ infoAdicionais: [{ nome: text, valor: 'x' }] }, 'cob.infoAdicionais'] as const,
    [{ infoAdicionais: [{ nome: 'x', valor: text }] }, 'cob.infoAdicionais'] as const,
  ]),
  [{ solicitacaoPagador: 'Paga \u202eX' }, 'cob.solicitacaoPagador'] as const,
])('a charge that shows its payer %j is refused', async (more, propriedade) => {
  const made = await call('PUT', `/cob/${freshTxid()}`, chargeBody(automatic.key, more))
  expect(violated(made)).toEqual([400, 'CobOperacaoInvalida', propriedade])
})

test('nobody is paid under a name that turns the text around', async () => {
  const turned = pix.receiver('ema', '11222333000181', { name: 'Loja \u202eX' })
  await expect(turned).rejects.toThrow('direction')
})

test('a receiver whose name and city begin with blanks is shown without them', async () => {
  const blanks = { name: `${' '.repeat(140)}Loja`, city: `${' '.repeat(15)}Recife` }
  const { key, token } = await pix.receiver('gil', '11222333000181', blanks)
  const path = `/cob/${freshTxid()}`
  const made = await call('PUT', path, chargeBody(key), token)
  expect(made.status).toBe(201)
  for (const { pixCopiaECola } of [made.json, (await call('GET', path, undefined, token)).json]) {
    expect(pixCopiaECola).toContain('5904Loja6006Recife')
  }
  const { json } = await call('POST', '/rec', recBody(), token)
  automatic.sent()
  expect((await call('POST', '/solicrec', requestBody(json.idRec), token)).status).toBe(201)
  expect(automatic.sent()).toMatchObject([
    { params: { mandates: [{ creditor: { name: 'Loja' } }] } },
  ])
})

test('what was stored by earlier rules is told and ended, whatever it shows', async () => {
  automatic.sent()
  const idRec = await approved()
  await right('POST', '/solicrec', requestBody((await right('POST', '/rec', recBody())).idRec))
  const [asked] = automatic.sent()
  await right('PATCH', `/rec/${idRec}`, { status: 'CANCELADA' })
  const [ended] = automatic.sent()
  const build = (draft: RecurringDraft) => {
    const params = JSON.parse(JSON.stringify(draft.params).replaceAll('Padaria', '\u202e'))
    const context = { ispb: '12345678', revision: '5.11.1', now: new Date() } as const
    return buildDraft({ ...draft, params }, context).type
  }
  expect([asked.type, ended.type]).toEqual(['pain.009', 'pain.011'])
  expect(build(asked)).toBe('pain.009')
  expect(build(ended)).toBe('pain.011')
})
