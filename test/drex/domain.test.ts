import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  amountForm,
  bumpedFees,
  decimalsMax,
  formatUnits,
  isFinal,
  sourcesOf,
  type TransactionEvent,
  type TransactionStatus,
  transactionStatuses,
  transition,
  unitsOf,
} from '../../src/drex/domain.ts'

const events = [
  'signed',
  'accepted',
  'receipt',
  'settled_success',
  'settled_revert',
  'settled_cancel',
  'reorganised',
  'refused',
  'cancel',
  'settled_mismatch',
  'nonce_lost',
  'nonce_used',
  'corrected',
  'network_reset',
] as const satisfies readonly TransactionEvent[]

describe('states of a transaction', () => {
  test('the usual way', () => {
    const path: TransactionStatus[] = ['pending']
    for (const event of ['signed', 'accepted', 'receipt', 'settled_success'] as const) {
      path.push(transition(path.at(-1)!, event)!)
    }
    expect(path).toEqual(['pending', 'signed', 'broadcast', 'mined', 'confirmed'])
  })

  test('whatever happens: only the chain takes an end back, and a signed one never simply fails', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 30 }), (events) => {
        let status: TransactionStatus = 'pending'
        let signed = false
        for (const event of events) {
          const next = transition(status, event)
          if (isFinal(status) && event !== 'corrected') expect(next).toBeUndefined()
          if (next === undefined) continue
          if (signed && next === 'failed') {
            expect(event).toMatch(/^(settled_mismatch|network_reset)$/)
          }
          if (signed && next === 'cancelled' && status !== 'mined') expect(event).toBe('nonce_used')
          if (next === 'pending') signed = false
          if (next === 'confirmed' || next === 'reverted') expect(status).toBe('mined')
          if (next === 'signed') signed = true
          status = next
        }
      }),
    )
  })

  test('four ends; cancelling at once only before signing; a reorganisation goes back', () => {
    expect(transactionStatuses.filter(isFinal)).toEqual([
      'confirmed',
      'reverted',
      'failed',
      'cancelled',
    ])
    expect(sourcesOf('cancel')).toEqual(['pending'])
    expect(sourcesOf('receipt')).toEqual(['pending', 'signed', 'broadcast'])
    expect(transition('mined', 'reorganised')).toBe('broadcast')
  })
})

describe('amounts', () => {
  test('positive, at least two fraction digits, no leading zeros, up to the limit', () => {
    for (const good of ['0.01', '150.00', '9999999999999999.99', `0.${'0'.repeat(35)}1`]) {
      expect(amountForm.test(good)).toBe(true)
    }
    for (const bad of [
      '0.00',
      '0.000',
      '1',
      '1.0',
      '01.00',
      '-1.00',
      '+1.00',
      ' 1.00',
      '1,00',
      '1e2.00',
      '99999999999999999.99',
      `0.${'0'.repeat(36)}1`,
      '',
      '１.００',
    ]) {
      expect(amountForm.test(bad)).toBe(false)
    }
  })

  test('an amount counts units of its token, and has no more digits than it', () => {
    expect(unitsOf('150.00', 2)).toBe(15_000n)
    expect(unitsOf('1.00', 18)).toBe(10n ** 18n)
    expect(unitsOf('0.000000000000000001', 18)).toBe(1n)
    expect(unitsOf('3.00', 0)).toBe(3n)
    expect(unitsOf('3.50', 1)).toBe(35n)
    const surplus = [
      ['1.000', 2],
      ['1.001', 2],
      ['3.50', 0],
      ['3.55', 1],
      ['3.000', 0],
    ] as const
    for (const [amount, decimals] of surplus) expect(unitsOf(amount, decimals)).toBeUndefined()
  })

  test('writing and reading agree, for every number of decimals', () => {
    const units = fc.bigInt({ min: 1n, max: 10n ** 15n })
    fc.assert(
      fc.property(units, fc.integer({ min: 0, max: decimalsMax }), (amount, decimals) => {
        expect(unitsOf(formatUnits(amount, decimals), decimals)).toBe(amount)
      }),
    )
    expect(formatUnits(0n, 2)).toBe('0.00')
    expect(formatUnits(5n, 0)).toBe('5.00')
    expect(formatUnits(50_000n * 10n ** 18n, 18)).toBe('50000.00')
    expect(formatUnits(1_500_000n, 6)).toBe('1.50')
    expect(formatUnits(1n, 18)).toBe('0.000000000000000001')
  })
})

describe('fee bumps', () => {
  test('at least a tenth more of both figures, never beyond the limit', () => {
    const wei = fc.bigInt({ min: 0n, max: 10n ** 12n })
    fc.assert(
      fc.property(wei, wei, wei, wei, (maxFee, tip, nowMax, nowTip) => {
        const previous = { maxFee: maxFee + tip, tip }
        const bumped = bumpedFees(previous, { maxFee: nowMax, tip: nowTip }, 10n ** 13n)!
        expect(bumped.maxFee * 10n).toBeGreaterThanOrEqual(previous.maxFee * 11n)
        expect(bumped.tip * 10n).toBeGreaterThanOrEqual(previous.tip * 11n)
        expect(bumped.maxFee).toBeGreaterThanOrEqual(nowMax)
        expect(bumped.tip).toBeLessThanOrEqual(bumped.maxFee)
      }),
    )
    const previous = { maxFee: 100n, tip: 10n }
    expect(bumpedFees(previous, { maxFee: 0n, tip: 0n }, 110n)).toEqual({ maxFee: 110n, tip: 11n })
    expect(bumpedFees(previous, { maxFee: 0n, tip: 0n }, 109n)).toBeUndefined()
  })
})
