import { afterAll, beforeEach, expect, test } from 'bun:test'
import { insertMovements } from '../../../src/cards/reconciliation/movements.ts'
import { endDay, openDay, totalsOf } from '../../../src/cards/reconciliation/store.ts'
import { createTestDatabase } from '../../support/database.ts'

/* What belongs to which day, currency and network. */

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())
beforeEach(async () => {
  await sql`truncate card_business_days, card_movements, card_reconciliations`
  await openDay(sql, 'neta', '2026-11-20')
})

let count = 0
const book = (
  cents: bigint,
  change: { day?: string; currency?: string; network?: string } = {},
) => {
  const stan = String(++count).padStart(6, '0')
  const given = { network: 'neta', day: undefined, currency: 'BRL', ...change }
  const numbers = { stan, transmission: '1120000000', transactionId: `txn_${stan}` }
  return insertMovements(sql, [{ ...given, ...numbers, kind: 'debit', cents }])
}

const totals = async (network: string, day: string, currency: string) => {
  const { debit } = await totalsOf(sql, { network, day, currency })
  return [debit.count, debit.cents]
}

const due = async () => {
  const rows = await sql<{ day: string; currency: string }[]>`
    select day::text, currency from card_reconciliations order by id`
  return rows.map(({ day, currency }) => [day, currency])
}

test('a movement is of the day that the network told, and else of the one that is open', async () => {
  await book(100n)
  await book(20n, { day: '2026-11-21' })
  await book(3n, { currency: 'USD' })
  await book(5_000n, { network: 'netb', day: '2026-11-20' })
  expect(await totals('neta', '2026-11-20', 'BRL')).toEqual([1, 100n])
  expect(await totals('neta', '2026-11-21', 'BRL')).toEqual([1, 20n])
  expect(await totals('neta', '2026-11-20', 'USD')).toEqual([1, 3n])
  expect(await totals('netb', '2026-11-20', 'BRL')).toEqual([1, 5_000n])
  expect(await totals('neta', '2026-11-19', 'BRL')).toEqual([0, 0n])
})

test('a day that ends is compared with all that is before the next one, and never that', async () => {
  await book(1n)
  await book(2n, { currency: 'USD' })
  await book(3n, { day: '2026-11-21' })
  await book(4n, { day: '2026-11-22' })
  expect(await endDay(sql, 'neta', 0, () => '2026-11-22')).toBe('2026-11-20')
  expect(await due()).toEqual([
    ['2026-11-20', 'BRL'],
    ['2026-11-20', 'USD'],
    ['2026-11-21', 'BRL'],
  ])
})

test('a day in which nothing moved is compared in the national currency', async () => {
  expect(await endDay(sql, 'neta', 0, () => '2026-11-21')).toBe('2026-11-20')
  expect(await due()).toEqual([['2026-11-20', 'BRL']])
})
