import { expect, test } from 'bun:test'
import { type BuildableMessage, buildableMessages } from '#codecs/iso20022'
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

const broken = (params: unknown, messageType: BuildableMessage | 'CAMT060' = 'PACS008') =>
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
    { end_to_end_id: idOf(nowMs, '1A2B3C4D'), initiator_document: '1A2B3C4D000179' },
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

test('an id that a message orders by stands in it once', () => {
  const twice = { end_to_end_id: idOf(nowMs) }
  const payments = { local_instrument: 'MANU', transactions: [twice, {}, twice, {}] }
  expect(broken(payments)).toEqual(['/transactions/2/end_to_end_id unique'])
  const charges = { charges: [twice, twice] }
  expect(broken(charges, 'PAIN013')).toEqual(['/charges/1/end_to_end_id unique'])
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

const returnIdOf = (atMs: number, maker = ispb): string => `D${idOf(atMs, maker).slice(1)}`
const otherPayment = idOf(0, '87654321')

test.each([
  ['no id', {}],
  ['an id of now', { return_id: returnIdOf(nowMs) }],
  ['an id 12 hours old', { return_id: returnIdOf(nowMs - 12 * hourMs) }],
  [
    'an id of an indirect participant, which returns',
    { return_id: returnIdOf(nowMs, '11223344'), returning_ispb: '11223344' },
  ],
  ['another receiver', { receiving_ispb: '87654321' }],
  [
    'the id of a charge of this institution, and its payer',
    { original_end_to_end_id: idOf(0), receiving_ispb: '87654321' },
  ],
])('a return with %s breaks no rule', (_, change) => {
  const one = { original_end_to_end_id: otherPayment, ...change }
  expect(broken(one, 'PACS004')).toEqual([])
  expect(broken({ transactions: [{}, one] }, 'PACS004')).toEqual([])
})

test.each([
  [
    'a minute more than 12 hours old',
    { return_id: returnIdOf(nowMs - 12 * hourMs - 60_000) },
    'return_id date',
  ],
  ['a day that is none', { return_id: `D${ispb}202602301405AAAAAAAAAAA` }, 'return_id date'],
  ['the ISPB of another', { return_id: returnIdOf(nowMs, '87654321') }, 'return_id ispb'],
  ['this institution as receiver', { receiving_ispb: ispb }, 'receiving_ispb settlement'],
  [
    'an id of this institution and nobody named',
    { original_end_to_end_id: idOf(0) },
    'receiving_ispb settlement',
  ],
  [
    'an id of the institution that returns and nobody else named',
    { returning_ispb: '87654321' },
    'receiving_ispb settlement',
  ],
  [
    'the same institution on both sides',
    { returning_ispb: '11223344', receiving_ispb: '11223344' },
    'receiving_ispb settlement',
  ],
])('a return with %s is refused by rule and place', (_, change, problem) => {
  const one = { original_end_to_end_id: otherPayment, ...change }
  expect(broken(one, 'PACS004')).toEqual([`/${problem}`])
  expect(broken({ transactions: [{}, one] }, 'PACS004')).toEqual([`/transactions/1/${problem}`])
})

test('the id of a charge is made by its creditor, weeks before if need be', () => {
  const charge = (change: object) => ({ charges: [{}, { creditor: {}, ...change }] })
  const early = idOf(nowMs - 800 * hourMs)
  expect(broken(charge({ end_to_end_id: early }), 'PAIN013')).toEqual([])
  const indirect = { end_to_end_id: idOf(nowMs, '11223344'), creditor: { ispb: '11223344' } }
  expect(broken(charge(indirect), 'PAIN013')).toEqual([])
  const place = '/charges/1/end_to_end_id'
  expect(broken(charge({ end_to_end_id: otherPayment }), 'PAIN013')).toEqual([`${place} ispb`])
  const unreal = { end_to_end_id: `E${ispb}202602301405AAAAAAAAAAA` }
  expect(broken(charge(unreal), 'PAIN013')).toEqual([`${place} date`])
})

test.each(['PACS002', 'PACS004', 'PAIN013'] as const)(
  '%s of another form is judged by its form',
  (type) => {
    for (const params of ['x', [], { transactions: 1 }, { transactions: [2] }, { charges: [1] }]) {
      expect(broken(params, type)).toEqual([])
    }
  },
)

const unrealId = (letter: string) => `${letter}87654321202602301405AAAAAAAAAAA`
const unrealDay = (letters: string, maker = ispb) => `${letters}${maker}20260230AAAAAAAAAAA`
const realDay = (letters: string, maker = ispb) => `${letters}${maker}20260228AAAAAAAAAAA`

test.each([
  ['PACS002', { original_end_to_end_id: otherPayment, status: 'ACSP' }],
  [
    'PACS002',
    { original_end_to_end_id: idOf(0), original_instruction_id: returnIdOf(nowMs, '87654321') },
  ],
  ['PAIN014', { original_end_to_end_id: otherPayment, creditor: { document: '12345678909' } }],
  ['PAIN014', { original_end_to_end_id: otherPayment, creditor: { document: '1A2B3C4D000179' } }],
  [
    'CAMT055',
    {
      cancellation_id: realDay('CA'),
      counterparty_ispb: '87654321',
      requester_document: '12345678909',
    },
  ],
  ['CAMT055', { cancellation_id: realDay('CA', '11223344'), counterparty_ispb: '87654321' }],
  ['CAMT029', { cancellation_id: realDay('CA', '87654321'), counterparty_ispb: '87654321' }],
  ['CAMT060', { entry_id: otherPayment }],
  ['CAMT060', { entry_id: 'STR20260228AAAAAAAAA' }],
  [
    'PAIN013',
    {
      charges: [
        {
          mandate_id: realDay('RR', '87654321'),
          ultimate_debtor: { name: 'Ana', document: '11222333000181' },
        },
      ],
    },
  ],
] as const)('a %s in order breaks no rule: %j', (type, params) => {
  expect(broken(params, type)).toEqual([])
})

test.each([
  [
    'PACS008',
    { transactions: [{ debtor: { document: '12345678900' } }] },
    '/transactions/0/debtor/document check_digits',
  ],
  [
    'PACS008',
    { transactions: [{ debtor: { document: '00000000000000' } }] },
    '/transactions/0/debtor/document check_digits',
  ],
  [
    'PACS008',
    { transactions: [{ initiator_document: '00000000000000' }] },
    '/transactions/0/initiator_document check_digits',
  ],
  [
    'PACS008',
    { transactions: [{ debtor: { name: ' \u200b' } }] },
    '/transactions/0/debtor/name blank',
  ],
  [
    'PACS008',
    { transactions: [{ initiator_document: '1A2B3C4D000195' }] },
    '/transactions/0/initiator_document check_digits',
  ],
  [
    'PACS008',
    { transactions: [{ remittance_information: 'a\u202eb' }] },
    '/transactions/0/remittance_information direction',
  ],
  ['PACS004', { additional_information: '\u2066x' }, '/additional_information direction'],
  ['PACS004', { original_end_to_end_id: unrealId('E') }, '/original_end_to_end_id date'],
  [
    'PACS002',
    { transactions: [{}, { original_end_to_end_id: unrealId('E') }] },
    '/transactions/1/original_end_to_end_id date',
  ],
  ['PACS002', { original_instruction_id: unrealId('D') }, '/original_instruction_id date'],
  ['PACS002', { original_instruction_id: returnIdOf(nowMs) }, '/original_instruction_id ispb'],
  [
    'PACS002',
    { original_instruction_id: returnIdOf(nowMs - 12 * hourMs - 60_000, '87654321') },
    '/original_instruction_id date',
  ],
  [
    'PACS002',
    { reasons: [{ additional_information: ['fine', ' '] }] },
    '/reasons/0/additional_information/1 blank',
  ],
  ['PAIN013', { charges: [{ mandate_id: unrealDay('RR') }] }, '/charges/0/mandate_id date'],
  [
    'PAIN013',
    { charges: [{ ultimate_debtor: { document: '11222333000182' } }] },
    '/charges/0/ultimate_debtor/document check_digits',
  ],
  ['PAIN014', { original_end_to_end_id: unrealId('E') }, '/original_end_to_end_id date'],
  ['PAIN014', { creditor: { document: '11111111111' } }, '/creditor/document check_digits'],
  ['CAMT055', { cancellation_id: unrealDay('CA') }, '/cancellation_id date'],
  [
    'CAMT055',
    { cancellation_id: realDay('CA', '87654321'), counterparty_ispb: '87654321' },
    '/cancellation_id ispb',
  ],
  ['CAMT055', { requester_document: '12345678900' }, '/requester_document check_digits'],
  ['CAMT029', { cancellation_id: realDay('CA') }, '/cancellation_id ispb'],
  ['CAMT029', { original_end_to_end_id: unrealId('E') }, '/original_end_to_end_id date'],
  ['CAMT060', { entry_id: unrealId('D') }, '/entry_id date'],
  ['CAMT060', { entry_id: 'STR20260230AAAAAAAAA' }, '/entry_id date'],
] as const)('a %s is refused by rule and place: %j', (type, params, problem) => {
  expect(broken(params, type)).toEqual([problem])
})

test('every message that callers may send has its values judged', () => {
  for (const type of buildableMessages) {
    expect(broken({ original_end_to_end_id: unrealId('E') }, type)).toEqual([
      '/original_end_to_end_id date',
    ])
  }
})
