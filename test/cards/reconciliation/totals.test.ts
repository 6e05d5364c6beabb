import { expect, test } from 'bun:test'
import { createMessagePacker, createPacker, dialects } from '#codecs/iso8583'
import { contentForm, createContent } from '../../../src/cards/content/index.ts'
import { reconciliationMessage } from '../../../src/cards/networks/messages.ts'
import { dayAt, settlementDay } from '../../../src/cards/reconciliation/days.ts'
import { agree, netCents, netText, toldBy } from '../../../src/cards/reconciliation/totals.ts'

const totals = {
  credit: { count: 2, cents: 15_000n },
  credit_reversal: { count: 0, cents: 0n },
  debit: { count: 150, cents: 1_234_500n },
  debit_reversal: { count: 3, cents: 30_000n },
  authorizations: 180,
}

/** Packed by jPOS 2.1.10, ISO87APackager. */
const byJpos =
  '050082220001000040000078078080000000112302595900090011220612345698600000000020000000000000000015000000000030000000000015000000000000000000000000000012345000000000000030000D0000000001189500'

test('an 0500 is the one that jPOS packs, to the byte', () => {
  const dialect = dialects['ascii-hex']!
  const form = contentForm.parse({ acquirer_id: '123456' })
  const content = createContent(dialect, form, true, false, true)
  const numbers = { stan: '000900', transmission: '1123025959' }
  const day = { day: '2026-11-22', currency: 'BRL', totals, isUploaded: false }
  const bytesOf = (isRepeat: boolean): string => {
    const out = new Uint8Array(1_024)
    const message = reconciliationMessage(content, numbers, day, isRepeat)
    const end = createMessagePacker(createPacker(dialect))(message, out)
    return new TextDecoder().decode(out.subarray(0, end))
  }
  expect(bytesOf(false)).toBe(byJpos)
  expect(bytesOf(true)).toBe(byJpos.replace('0500', '0501'))
})

test('authorizations are counted where the file of the network has their number, and fees are what it says', () => {
  const dialect = dialects['ascii-hex']!
  const fields = { '81': { from: 'totals.authorization.number' }, '82': '000000000000' }
  const messages = { reconciliation: { fields } }
  const form = contentForm.parse({ acquirer_id: '123456', messages })
  const content = createContent(dialect, form, true, false, true)
  expect([content.countsAuthorizations, createContent(dialect).countsAuthorizations]).toEqual([
    true,
    false,
  ])
  const numbers = { stan: '000900', transmission: '1123025959' }
  const day = { day: '2026-11-22', currency: 'BRL', totals, isUploaded: false }
  const out = new Uint8Array(1_024)
  const message = reconciliationMessage(content, numbers, day, false)
  const end = createMessagePacker(createPacker(dialect))(message, out)
  // DE 81 and 82 are between DE 77 and DE 86, and have bits of their own.
  expect(new TextDecoder().decode(out.subarray(0, end))).toBe(
    byJpos
      .replace('0078078080000000', '0078C78080000000')
      .replace('00000000030000000000015000', '000000000300000001800000000000000000000000015000'),
  )
  const { 81: _, ...others } = dialect.fields
  expect(() => createContent({ ...dialect, fields: others }, form, true, false, true)).toThrow('81')
})

test('a dialect that cannot carry totals is refused where they are sent, and nowhere else', () => {
  const { 88: _, ...fields } = dialects['ascii']!.fields
  const dialect = { ...dialects['ascii']!, fields }
  expect(createContent(dialect).has('reconciliation')).toBe(false)
  expect(() => createContent(dialect, undefined, true, false, true)).toThrow(
    'cannot carry a reconciliation',
  )
})

test('the net is what the holders owe, with the sign of either view', () => {
  expect(netCents(totals)).toBe(1_189_500n)
  expect(netText(totals, 'D')).toBe('D0000000001189500')
  expect(netText(totals, 'C')).toBe('C0000000001189500')
  const refunded = { ...totals, debit: { count: 0, cents: 0n } }
  expect(netText(refunded, 'D')).toBe('C0000000000045000')
})

test('what a network tells is compared as far as it tells it, and what cannot be read differs', () => {
  const told = (change: Readonly<Record<number, string>>) =>
    toldBy((de) => ({ 76: '0000000150', 88: '0000000001234500', ...change })[de])
  expect(toldBy(() => undefined)).toBeUndefined()
  expect(agree(totals, told({})!, true)).toBe(true)
  for (const [number, counts, isSame] of [
    ...([['0000000180', true, true] as const, ['0000000179', true, false] as const] as const),
    ...([['0000000179', false, true] as const, ['x', true, false] as const] as const),
  ]) {
    expect([number, agree(totals, told({ 81: number })!, counts)]).toEqual([number, isSame])
  }
  expect(told({ 83: '000000000012', 85: 'x' })?.fees).toEqual({
    credit_transaction: 12n,
    debit_transaction: null,
  })
  expect(toldBy((de) => ({ 83: '000000000012' })[de])).toBeUndefined()
  for (const change of [{ 76: '0000000149' }, { 88: '0000000001234501' }, { 74: '3' }] as const) {
    expect([change, agree(totals, told(change)!, true)]).toEqual([change, false])
  }
  for (const text of ['', '12a', '99999999999999999', '9999999999999999']) {
    expect(told({ 86: text })?.credit).toEqual({ cents: null })
    expect(agree(totals, told({ 86: text })!, true)).toBe(false)
  }
})

test('a business day begins at its cut-over, and has the date of its end', () => {
  const at = (time: string, minutes: number, offsetMinutes: number) =>
    dayAt(new Date(`2026-11-05T${time}Z`), { minutes, offsetMinutes })
  expect([at('00:00:00', 0, 0), at('23:59:59', 0, 0)]).toEqual(['2026-11-05', '2026-11-05'])
  expect(at('02:59:59', 0, -180)).toBe('2026-11-04')
  expect(at('03:00:00', 0, -180)).toBe('2026-11-05')
  expect([at('21:59:59', 1_320, 0), at('22:00:00', 1_320, 0)]).toEqual(['2026-11-05', '2026-11-06'])
})

test('DE 15 is of the year that is nearest', () => {
  const at = new Date('2026-12-31T23:00:00Z')
  expect(settlementDay('0101', at)).toBe('2027-01-01')
  expect(settlementDay('1231', at)).toBe('2026-12-31')
  expect(settlementDay('1231', new Date('2027-01-02T00:00:00Z'))).toBe('2026-12-31')
  expect(settlementDay('0229', new Date('2028-02-28T00:00:00Z'))).toBe('2028-02-29')
  for (const wrong of [undefined, '', '1301', '0230', '0229', '12 1', '12311']) {
    expect([wrong, settlementDay(wrong, at)]).toEqual([wrong, undefined])
  }
})
