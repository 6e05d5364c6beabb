import { describe, expect, test } from 'bun:test'
import { CodecError } from '#codecs/bytes'
import {
  type AdditionalAmount,
  formatAdditionalAmounts,
  formatOriginalData,
  formatReplacementAmounts,
  parseAdditionalAmounts,
  parseOriginalData,
  parseReplacementAmounts,
} from '#codecs/iso8583'

const refusalOf = (run: () => unknown): unknown => {
  try {
    run()
    return 'accepted'
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    return [error.code, error.context['field'], error.offset]
  }
}

describe('additional amounts, DE 54', () => {
  const ledger: AdditionalAmount = {
    accountType: '10',
    amountType: '01',
    currency: '986',
    sign: 'C',
    amount: 12345n,
  }
  const cashback: AdditionalAmount = {
    accountType: '00',
    amountType: '40',
    currency: 'BRL',
    sign: 'D',
    amount: 999_999_999_999n,
  }
  const text = '1001986C0000000123450040BRLD999999999999'

  test('are read as they were written, in order', () => {
    expect(formatAdditionalAmounts([ledger, cashback])).toBe(text)
    expect(parseAdditionalAmounts(text)).toEqual([ledger, cashback])
  })

  test('are one to six', () => {
    const six = Array.from({ length: 6 }, () => ledger)
    expect(parseAdditionalAmounts(formatAdditionalAmounts(six))).toEqual(six)
    const refused = ['iso8583_subelement', '54', 0]
    expect(refusalOf(() => formatAdditionalAmounts([...six, ledger]))).toEqual(refused)
    expect(refusalOf(() => formatAdditionalAmounts([]))).toEqual(refused)
    expect(refusalOf(() => parseAdditionalAmounts(text.slice(0, 20).repeat(7)))).toEqual(refused)
    expect(refusalOf(() => parseAdditionalAmounts(''))).toEqual(refused)
    expect(refusalOf(() => parseAdditionalAmounts(text.slice(1)))).toEqual(refused)
  })

  for (const [what, change] of Object.entries({
    'an account type that is no number': { accountType: '1A' },
    'an account type of one digit': { accountType: '1' },
    'an amount type that is no number': { amountType: 'X1' },
    'a currency of letters and digits': { currency: '9B6' },
    'a currency in small letters': { currency: 'brl' },
    'a currency of two': { currency: '98' },
    'an amount of 13 digits': { amount: 1_000_000_000_000n },
    'an amount below zero': { amount: -1n },
  })) {
    test(`${what} is not written`, () => {
      const [code, field] = refusalOf(() =>
        formatAdditionalAmounts([{ ...ledger, ...change }]),
      ) as unknown[]
      expect([code, field]).toEqual(['iso8583_subelement', '54'])
    })
  }

  for (const [what, second] of Object.entries({
    'an account type that is no number': 'A040986D000000000001',
    'an amount type that is no number': '004X986D000000000001',
    'a currency of letters and digits': '00409B6D000000000001',
    'a sign that is neither C nor D': '0040986X000000000001',
    'a sign 0': '00409860000000000001',
    'an amount with a blank': '0040986D 00000000001',
  })) {
    test(`${what} is refused where its group begins`, () => {
      const given = text.slice(0, 20) + second
      expect(refusalOf(() => parseAdditionalAmounts(given))).toEqual([
        'iso8583_subelement',
        '54',
        20,
      ])
    })
  }
})

describe('original data, DE 90', () => {
  const data = {
    mti: '0100',
    stan: '000123',
    transmissionDateTime: '1120143005',
    acquirerId: '12345',
    forwarderId: '',
  }
  const text = '010000012311201430050000001234500000000000'

  test('is read as it was written, the institutions filled with zeros', () => {
    expect(formatOriginalData(data)).toBe(text)
    const read = parseOriginalData(text)
    expect(read).toEqual({ ...data, acquirerId: '00000012345', forwarderId: '00000000000' })
    expect(formatOriginalData(read)).toBe(text)
  })

  test('is 42 digits', () => {
    const refused = ['iso8583_subelement', '90', 0]
    expect(refusalOf(() => parseOriginalData(text.slice(1)))).toEqual(refused)
    expect(refusalOf(() => parseOriginalData(`${text}0`))).toEqual(refused)
    expect(refusalOf(() => parseOriginalData(`${text.slice(1)}A`))).toEqual(refused)
    for (const change of [
      { mti: '010' },
      { stan: '12345A' },
      { transmissionDateTime: '112014300' },
      { acquirerId: '123456789012' },
      { forwarderId: 'X' },
    ]) {
      const [code] = refusalOf(() => formatOriginalData({ ...data, ...change })) as unknown[]
      expect(code).toBe('iso8583_subelement')
    }
  })
})

describe('replacement amounts, DE 95', () => {
  const amounts = {
    transaction: 5000n,
    settlement: 0n,
    transactionFee: 'D00000150',
    settlementFee: 'C00000000',
  }
  const text = '000000005000000000000000D00000150C00000000'

  test('are read as they were written', () => {
    expect(formatReplacementAmounts(amounts)).toBe(text)
    expect(parseReplacementAmounts(text)).toEqual(amounts)
  })

  test('are 24 digits and two fees with their signs', () => {
    const refused = ['iso8583_subelement', '95', 0]
    expect(refusalOf(() => parseReplacementAmounts(text.slice(1)))).toEqual(refused)
    expect(refusalOf(() => parseReplacementAmounts(`${text}0`))).toEqual(refused)
    expect(refusalOf(() => parseReplacementAmounts(text.replace('D', 'X')))).toEqual(refused)
    for (const change of [
      { transaction: 1_000_000_000_000n },
      { settlement: -1n },
      { transactionFee: 'C0000015' },
      { settlementFee: 'E00000000' },
    ]) {
      const [code] = refusalOf(() =>
        formatReplacementAmounts({ ...amounts, ...change }),
      ) as unknown[]
      expect(code).toBe('iso8583_subelement')
    }
  })
})
