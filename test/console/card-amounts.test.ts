import { expect, test } from 'bun:test'
import { loadConsole } from './load-console.ts'

/* The console tells amounts of cards in their currency, and acts propose amounts that the API takes. */

type Act = {
  readonly consequence: string
  readonly fields?: readonly {
    readonly name: string
    readonly label: string
    readonly first?: string
    readonly choices?: readonly unknown[]
  }[]
}
type Detail = Readonly<Record<string, unknown>>

const { minorOf, cardActs, cardFacts, eventHow, resolveActs } = await loadConsole<{
  readonly minorOf: (minor: number, unit: string | null) => string
  readonly cardActs: (detail: Detail) => readonly { readonly act: Act }[]
  readonly cardFacts: (detail: Detail) => readonly { readonly value: string | number }[]
  readonly eventHow: (data: Detail, text: (value: string) => string, currency: string) => string
  readonly resolveActs: (detail: Detail) => readonly Act[]
}>(['format.ts', 'payment-acts.tsx', 'payment-facts.ts', 'attention-acts.tsx'])

const detail = {
  id: 'txn_1',
  status: 'authorized',
  amount: 10_000,
  captured_amount: null,
  currency: 'USD',
  brand: 'visa',
  merchant_id: 'MERCHANT000001',
  terminal_id: null,
  rrn: null,
  stan: null,
  auth_code: null,
  response_code: null,
  response_message: null,
  installments: 1,
  created_at: '2026-11-20T12:00:00.000Z',
}

test('an amount is told in its currency, and in none where none is known', () => {
  expect(minorOf(1_234_56, 'USD')).toBe('$1,234.56')
  expect(minorOf(1_234_56, 'BRL')).toBe('R$1,234.56')
  expect(minorOf(-5, null)).toBe('-0.05')
  expect(minorOf(990, '978')).toBe('9.90 978')
})

test('what is said of a card payment has its currency', () => {
  const captured = { ...detail, status: 'captured', captured_amount: 8_000, refunded_amount: 500 }
  const values = cardFacts(captured).map(({ value }) => value)
  expect(values).toContain('$80.00')
  expect(values).toContain('$5.00')
  expect(eventHow({ amount: 700 }, String, 'USD')).toBe('amount $7.00')
  const [resolve] = resolveActs({ ...detail, possible_outcomes: ['voided', 'authorized'] })
  expect(resolve?.consequence).toContain('$100.00')
  expect(resolve?.fields?.[0]?.choices).toEqual([
    ['voided', 'voided'],
    ['authorized', 'authorized'],
  ])
  const [held] = resolveActs({ ...detail, reason: 'restored', possible_outcomes: ['voided'] })
  expect(held?.consequence).toContain('sends a reversal until the network confirms it')
  for (const possible_outcomes of [[], undefined]) {
    expect(resolveActs({ ...detail, possible_outcomes })).toEqual([])
  }
  for (const { act } of [...cardActs(detail), ...cardActs(captured)]) {
    expect(act.consequence).toContain('$')
    expect(act.consequence).not.toContain('R$')
    const amount = act.fields?.find(({ name }) => name === 'amount')
    expect(amount?.label ?? 'Amount in USD').toBe('Amount in USD')
  }
})

test.each([
  [{}, '100.00'],
  [{ captured_amount: 3_000 }, '70.00'],
  [{ reversed_amount: 4_005 }, '59.95'],
  [{ captured_amount: 3_000, reversed_amount: 4_000 }, '30.00'],
] as const)('a capture of what is left beside %j proposes %s', (change, left) => {
  const [capture] = cardActs({ ...detail, ...change })
  expect(capture?.act.fields?.[0]).toMatchObject({ name: 'amount', first: left })
})
