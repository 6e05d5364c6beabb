import { describe, expect, test } from 'bun:test'
import {
  type BuildableMessage,
  buildProblemsMax,
  chargesMax,
  priorityTransactionsMax,
  scheduledTransactionsMax,
} from '#codecs/iso20022'
import { built, examples, original, problemsOf, transfer } from './support.ts'

const decoder = new TextDecoder()

/** A message with one parameter changed, which may lie deeper. */
const withParam = (name: BuildableMessage, path: string, value: unknown): unknown => {
  const params: unknown = JSON.parse(JSON.stringify(examples[name]))
  const keys = path.split('/')
  const last = keys.pop() ?? ''
  let at = params as Record<string, unknown>
  for (const key of keys) at = at[key] as Record<string, unknown>
  at[last] = value
  return params
}

describe('texts: as long as the schema allows, and one more', () => {
  test.each([
    ['PACS008', 'transactions/0/debtor/name', 1, 140],
    ['PACS008', 'transactions/0/creditor/name', 1, 140],
    ['PACS008', 'transactions/0/creditor/proxy', 1, 77],
    ['PACS008', 'transactions/0/remittance_information', 1, 140],
    ['PACS002', 'additional_information', 1, 105],
    ['PACS004', 'additional_information', 1, 105],
    ['PACS004', 'remittance_information', 1, 140],
    ['PAIN013', 'charges/0/reconciliation_id', 26, 35],
    ['PAIN013', 'charges/0/ultimate_debtor/name', 1, 140],
    ['PAIN013', 'charges/0/remittance_information', 1, 140],
    ['PAIN014', 'reconciliation_id', 1, 35],
    ['CAMT055', 'reconciliation_id', 1, 35],
    ['CAMT054', 'origin_message', 1, 35],
    ['CAMT054', 'remittance_information', 1, 140],
    ['CAMT054', 'transaction_id', 1, 35],
    ['CAMT054', 'error_code', 1, 4],
    ['CAMT054', 'error_description', 1, 105],
    ['ADMI002', 'reference', 1, 33],
    ['ADMI002', 'reason', 1, 35],
    ['ADMI002', 'location', 1, 350],
    ['ADMI002', 'description', 1, 350],
    ['ADMI002', 'additional_data', 1, 1000],
  ] as const)('%s %s: %d to %d', (name, path, min, max) => {
    const judge = (value: unknown) => problemsOf(name, withParam(name, path, value))
    for (const length of [min, max])
      expect([length, judge('x'.repeat(length))]).toEqual([length, []])
    for (const length of [min - 1, max + 1]) {
      expect([length, judge('x'.repeat(length))]).toEqual([length, [`/${path} format`]])
    }
    expect(judge(7)).toEqual([`/${path} type`])
  })

  test('are counted in characters of Unicode, and hold no control characters', () => {
    const judge = (value: string) =>
      problemsOf('ADMI002', withParam('ADMI002', 'description', value))
    const refused = ['/description format']
    expect(judge('😀'.repeat(350))).toEqual([])
    expect(judge('😀'.repeat(351))).toEqual(refused)
    expect(judge('ç'.repeat(350))).toEqual([])
    expect(judge('ç'.repeat(351))).toEqual(refused)
    for (const wrong of ['\n', '\t', '\r', '\0', 'a\u001fb', '\ud800', 'a\udc00', '\uffff']) {
      expect(judge(wrong)).toEqual(refused)
    }
  })
})

describe('amounts are whole cents', () => {
  test.each([
    ['PACS008', 'transactions/0/amount'],
    ['PACS004', 'amount'],
    ['PAIN013', 'charges/0/amount'],
    ['CAMT054', 'amount'],
  ] as const)('%s', (name, path) => {
    const judge = (value: unknown) => problemsOf(name, withParam(name, path, value))
    expect(judge(1)).toEqual([])
    expect(judge(Number.MAX_SAFE_INTEGER)).toEqual([])
    expect(judge(Number.MAX_SAFE_INTEGER + 1)).toEqual([`/${path} type`])
    for (const wrong of [0, -1]) expect(judge(wrong)).toEqual([`/${path} minimum`])
    for (const wrong of [0.5, '1', null, true]) expect(judge(wrong)).toEqual([`/${path} type`])
    const message = built(name, withParam(name, path, Number.MAX_SAFE_INTEGER))
    expect(decoder.decode(message.bytes)).toContain('>90071992547409.91<')
  })
})

describe('lists', () => {
  const transfers = (count: number, service_level: string) =>
    problemsOf('PACS008', {
      local_instrument: 'DICT',
      service_level,
      transactions: Array.from({ length: count }, () => transfer),
    })

  test('ten transactions with priority or under fraud analysis, 500 when scheduled', () => {
    for (const [level, max] of [
      ['PAGPRI', 10],
      ['PAGFRD', 10],
      ['PAGAGD', 500],
    ] as const) {
      expect(max).toBe(level === 'PAGAGD' ? scheduledTransactionsMax : priorityTransactionsMax)
      expect(transfers(1, level)).toEqual([])
      expect(transfers(max, level)).toEqual([])
      for (const count of [0, max + 1])
        expect(transfers(count, level)).toEqual(['/transactions count'])
    }
  })

  test('500 charges', () => {
    const [charge] = (examples.PAIN013 as { readonly charges: readonly object[] }).charges
    const charges = (count: number) =>
      problemsOf('PAIN013', { charges: Array.from({ length: count }, () => charge) })
    expect(charges(chargesMax)).toEqual([])
    for (const count of [0, chargesMax + 1]) expect(charges(count)).toEqual(['/charges count'])
  })

  test('a hundred problems', () => {
    const transactions = Array.from({ length: 100 }, () => ({ ...transfer, surprise: 1 }))
    const message = { local_instrument: 'DICT', service_level: 'PAGAGD' }
    const count = (one: object) =>
      problemsOf('PACS008', { ...message, transactions: [...transactions, one] }).length
    expect(buildProblemsMax).toBe(100)
    expect(count(transfer)).toBe(100)
    expect(count({ ...transfer, surprise: 1 })).toBe(100)
  })

  test('are arrays of objects', () => {
    const judge = (transactions: unknown) =>
      problemsOf('PACS008', { local_instrument: 'DICT', transactions })
    expect(judge({})).toEqual(['/transactions type'])
    expect(judge([transfer, 7])).toContain('/transactions/1 type')
    // biome-ignore lint/suspicious/noSparseArray: what a caller within the program may give
    expect(judge([transfer, , transfer])).toContain('/transactions/1 type')
  })
})

describe('identifiers', () => {
  test('that are not given are made of the ISPB, the minute in UTC, and randomness', () => {
    const text = (name: BuildableMessage, params: unknown) =>
      decoder.decode(built(name, params).bytes)
    const returned = text('PACS004', examples.PACS004)
    expect(returned).toMatch(/<RtrId>D12345678202603312359[0-9a-zA-Z]{11}<\/RtrId>/)
    const return_id = original.replace('E', 'D')
    expect(text('PACS004', { ...examples.PACS004, return_id })).toContain(`<RtrId>${return_id}<`)
    const [id = ''] = built('PAIN013', examples.PAIN013).endToEndIds
    expect(id).toMatch(/^E12345678202603312359[0-9a-zA-Z]{11}$/)
  })

  test.each([
    ['CAMT055', 'cancellation_id', 'CA123456782026030100000000001', 'IC'],
    ['CAMT029', 'cancellation_id', 'CA123456782026030100000000001', 'SC'],
    ['PAIN013', 'charges/0/mandate_id', 'CN123456782026030100000000001', 'RA'],
    ['CAMT054', 'end_to_end_id', original.replace('E', 'L'), 'D'],
    ['CAMT054', 'notification_id', 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW', 'Q'],
    ['CAMT054', 'clearing_system_reference', 'STR20260331000000001', 'st'],
  ] as const)('%s %s: %s, and no %s in front', (name, path, right, other) => {
    const judge = (value: string) => problemsOf(name, withParam(name, path, value))
    expect(judge(right)).toEqual([])
    const wrong = [right.slice(1), `${right}0`, other + right.slice(other.length)]
    for (const value of wrong) expect(judge(value)).toEqual([`/${path} format`])
  })

  test('are never made twice', () => {
    const transactions = Array.from({ length: scheduledTransactionsMax }, () => transfer)
    const params = { local_instrument: 'DICT', service_level: 'PAGAGD', transactions }
    const messages = Array.from({ length: 20 }, () => built('PACS008', params))
    const made = messages.flatMap(({ endToEndIds }) => endToEndIds)
    expect(new Set(made).size).toBe(20 * scheduledTransactionsMax)
    expect(new Set(messages.map(({ businessMessageId }) => businessMessageId)).size).toBe(20)
  })

  test.each([
    ['PACS008', 'transactions/0/end_to_end_id', 'E'],
    ['PACS002', 'original_end_to_end_id', 'E'],
    ['PACS004', 'return_id', 'D'],
    ['PAIN014', 'original_end_to_end_id', 'E'],
    ['CAMT055', 'original_end_to_end_id', 'E'],
  ] as const)('%s %s begins with %s and has 32 characters', (name, path, letter) => {
    const judge = (value: string) => problemsOf(name, withParam(name, path, value))
    const right = letter + original.slice(1)
    expect(judge(right)).toEqual([])
    const other = letter === 'E' ? 'D' : 'E'
    for (const wrong of [
      right.slice(1),
      `${right}0`,
      other + right.slice(1),
      right.toLowerCase(),
    ]) {
      expect(judge(wrong)).toEqual([`/${path} format`])
    }
  })

  test('CAMT029 and CAMT055 repeat the id of the cancellation', () => {
    for (const name of ['CAMT029', 'CAMT055'] as const) {
      expect(decoder.decode(built(name, examples[name]).bytes)).toContain(
        `>${(examples[name] as { cancellation_id: string }).cancellation_id}</`,
      )
    }
  })
})

test.each([
  ['a/b~c', 'a~1b~0c'],
  [`${'x'.repeat(63)}\u{1f600}yz`, `${'x'.repeat(63)}\u{1f600}`],
  ['\u{1f600}'.repeat(65), '\u{1f600}'.repeat(64)],
])('an unknown parameter %s is a step of a JSON Pointer, cut between characters', (name, step) => {
  expect(problemsOf('PACS004', { ...examples.PACS004, [name]: 1 })).toEqual([`/${step} unknown`])
})
