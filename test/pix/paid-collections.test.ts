/** Payments of charges of recurrences that come otherwise than they were asked for. */
import { afterAll, describe, expect, test } from 'bun:test'
import { startAutomatic } from './automatic.ts'

const { pix, right, approved, scheduledCharge, pay, settle } = await startAutomatic()
afterAll(() => pix.database.close())

describe('a payment of an attempt to another receiver', () => {
  const bia = { creditorDocument: '98765432000198', text: 'for bia alone' }

  test('is refused, and concludes nothing if it settles all the same', async () => {
    const { txid, endToEndId } = await scheduledCharge(await approved())
    expect(await pay(endToEndId, 1n, bia)).toBe('UPAY')
    await settle(endToEndId)
    const shown = await right('GET', `/cobr/${txid}`)
    expect(shown).toMatchObject({ status: 'ATIVA', tentativas: [{ status: 'AGENDADA' }] })
    expect(shown).not.toHaveProperty('pix')
  })

  test('concludes nothing either if it does not say that it was scheduled', async () => {
    const { txid, endToEndId } = await scheduledCharge(await approved())
    await pay(endToEndId, 1n, { ...bia, localInstrument: 'MANU' })
    await settle(endToEndId)
    expect(await right('GET', `/cobr/${txid}`)).toMatchObject({ status: 'ATIVA' })
  })
})
