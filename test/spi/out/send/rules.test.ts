import { expect, test } from 'bun:test'
import { brokenRules } from '../../../../src/spi/out/send/rules.ts'

const ispb = '12345678'
const nowMs = Date.UTC(2026, 2, 2, 14, 5)
const hourMs = 3_600_000

const idOf = (atMs: number, maker = ispb): string =>
  `E${maker}${new Date(atMs).toISOString().replace(/\D/g, '').slice(0, 12)}00000000001`

const paymentWith = (change: object, instrument = 'MANU') => ({
  local_instrument: instrument,
  transactions: [
    { debtor: { ispb }, creditor: { ispb: '87654321' } },
    { debtor: { ispb }, creditor: { ispb: '87654321' }, ...change },
  ],
})

const broken = (params: unknown, messageType: 'PACS008' | 'PACS002' | 'PACS004' = 'PACS008') =>
  brokenRules(messageType, params, { ispb, nowMs }).map(({ pointer, rule }) => `${pointer} ${rule}`)

const at = '/transactions/1/end_to_end_id'

test.each([
  ['no id', {}],
  ['an id of now', { end_to_end_id: idOf(nowMs) }],
  ['an id 12 hours old', { end_to_end_id: idOf(nowMs - 12 * hourMs) }],
  ['an id 12 hours ahead', { end_to_end_id: idOf(nowMs + 12 * hourMs) }],
  [
    'an id of an indirect participant, the debtor',
    { end_to_end_id: idOf(nowMs, '11223344'), debtor: { ispb: '11223344' } },
  ],
  [
    'an id of the initiator',
    { end_to_end_id: idOf(nowMs, '1A2B3C4D'), initiator_document: '1A2B3C4D000195' },
  ],
])('a payment with %s breaks no rule', (_, change) => {
  expect(broken(paymentWith(change))).toEqual([])
})

test.each([
  ['a minute more than 12 hours old', idOf(nowMs - 12 * hourMs - 60_000), 'date'],
  ['a minute more than 12 hours ahead', idOf(nowMs + 12 * hourMs + 60_000), 'date'],
  ['a day that is none', `E${ispb}20260230140500000000001`.slice(0, 32), 'date'],
  ['a month that is none', `E${ispb}202613021405AAAAAAAAAAA`, 'date'],
  ['an hour that is none', `E${ispb}202603022405AAAAAAAAAAA`, 'date'],
  ['the ISPB of another', idOf(nowMs, '87654321'), 'ispb'],
])('an id with %s is refused by rule and place', (_, id, rule) => {
  expect(broken(paymentWith({ end_to_end_id: id }))).toEqual([`${at} ${rule}`])
})

test('a recurring payment repeats the id of its charge, but that has a real minute too', () => {
  const old = { end_to_end_id: idOf(nowMs - 240 * hourMs, '87654321') }
  expect(broken(paymentWith(old, 'AUTO'))).toEqual([])
  const unreal = { end_to_end_id: 'E87654321202602301405AAAAAAAAAAA' }
  expect(broken(paymentWith(unreal, 'AUTO'))).toEqual([`${at} date`])
})

test('a payment to this institution itself is refused', () => {
  expect(broken(paymentWith({ creditor: { ispb } }))).toEqual([
    '/transactions/1/creditor/ispb settlement',
  ])
})

test.each(['PACS002', 'PACS004'] as const)('%s cites the old id of another', (type) => {
  const params = { original_end_to_end_id: idOf(0, '87654321') }
  expect(broken(params, type)).toEqual([])
})
