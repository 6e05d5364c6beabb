import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  bumpedFees,
  formatAmount,
  isFinal,
  parseAmount,
  sourcesOf,
  type TransactionEvent,
  type TransactionStatus,
  transactionStatuses,
  transition,
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
  'nonce_lost',
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

  test('whatever happens: ends are ends, and a signed one never simply fails', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 30 }), (events) => {
        let status: TransactionStatus = 'pending'
        let signed = false
        for (const event of events) {
          const next = transition(status, event)
          if (isFinal(status)) expect(next).toBeUndefined()
          if (next === undefined) continue
          if (signed && next === 'failed') expect(event).toMatch(/^(nonce_lost|network_reset)$/)
          if (signed && next === 'cancelled') expect(status).toBe('mined')
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
    expect(sourcesOf('receipt')).toEqual(['signed', 'broadcast'])
    expect(transition('mined', 'reorganised')).toBe('broadcast')
  })
})

describe('amounts', () => {
  test('two fraction digits, positive, no leading zeros, up to the limit', () => {
    expect(parseAmount('0.01')).toBe(1n)
    expect(parseAmount('150.00')).toBe(15_000n)
    expect(parseAmount('9999999999999999.99')).toBe(999_999_999_999_999_999n)
    for (const bad of [
      '0.00',
      '1',
      '1.0',
      '1.000',
      '01.00',
      '-1.00',
      '+1.00',
      ' 1.00',
      '1,00',
      '1e2.00',
      '99999999999999999.99',
      '',
      '１.００',
    ]) {
      expect(parseAmount(bad)).toBeUndefined()
    }
  })

  test('writing and reading agree', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 999_999_999_999_999_999n }), (cents) => {
        expect(parseAmount(formatAmount(cents))).toBe(cents)
      }),
    )
    expect(formatAmount(0n)).toBe('0.00')
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
