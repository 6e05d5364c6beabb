/** What the API takes is what messages can say. */
import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { startAutomatic } from './automatic.ts'

const { pix, call, recBody, requestBody, answer, cobrBody, at } = await startAutomatic()
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
