import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatCents, parseCents } from '../../../codecs/iso20022/amount.ts'

describe('parseCents', () => {
  test.each([
    ['1000.00', 100_000n],
    ['1000.5', 100_050n],
    ['1000', 100_000n],
    ['.5', 50n],
    ['5.', 500n],
    ['+7.10', 710n],
    ['0', 0n],
    ['-0.00', 0n],
    ['000012.3400', 1234n],
    [' \n1.00\t', 100n],
    ['9999999999999999.99', 999_999_999_999_999_999n],
    ['0009999999999999999.9900', 999_999_999_999_999_999n],
  ])('%p', (text, cents) => {
    expect(parseCents(text)).toBe(cents)
  })

  test.each([
    ['', 'amount_syntax'],
    ['.', 'amount_syntax'],
    ['1,00', 'amount_syntax'],
    ['1e3', 'amount_syntax'],
    ['1 000.00', 'amount_syntax'],
    ['NaN', 'amount_syntax'],
    ['-0.01', 'amount_negative'],
    ['1.001', 'amount_fraction_digits'],
    ['10000000000000000.99', 'amount_total_digits'],
  ])('%p is refused as %s', (text, code) => {
    expect(() => parseCents(text)).toThrow(expect.objectContaining({ code }))
  })

  test('is the inverse of formatCents', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999_999n }), (cents) => {
        expect(parseCents(formatCents(cents))).toBe(cents)
      }),
    )
  })
})
