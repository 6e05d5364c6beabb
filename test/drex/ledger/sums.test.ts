import { afterAll, expect, test } from 'bun:test'
import { type Booking, book, removeAbove, saveChecks } from '../../../src/drex/ledger/store.ts'
import { createTestDatabase } from '../../support/database.ts'

/* Currencies share a ledger: what one tells must not keep those of the others from being booked. */

const network = 'drex_testnet'
const largest = 2n ** 256n - 1n
const token = `0x${'70'.repeat(20)}` as const
const wallet = `0x${'a1'.repeat(20)}` as const

const database = await createTestDatabase()
afterAll(() => database.close())

const movement = (block: number, side: 'in' | 'out'): Booking => ({
  token,
  wallet,
  side,
  counterparty: token,
  amount: largest,
  blockNumber: block,
  blockHash: `0x${String(block).padStart(64, '0')}`,
  logIndex: 0,
  hash: `0x${'b'.repeat(64)}`,
  bookedAt: new Date(block * 1_000),
})

const holding = async () => {
  const [row] = await database.sql<{ total: string; difference: string }[]>`
    select total::text, difference::text from drex_holdings where wallet = ${wallet}`
  return row && { total: BigInt(row.total), difference: BigInt(row.difference) }
}

test.each(['in', 'out'] as const)(
  'a currency whose sums are more than there can be (%s) is booked, and differs',
  async (side) => {
    const { sql } = database
    const sign = side === 'in' ? 1n : -1n
    const bookings = Array.from({ length: 30 }, (_, i) => movement(i + 1, side))
    await sql.begin((tx) => book(tx, network, bookings.slice(0, 1)))
    const balance = side === 'in' ? 0n : largest
    const at = { token, wallet, total: sign * largest, opening: undefined, movedBlock: 1 }
    await saveChecks(sql, network, 1, [{ ...at, balance }])
    await sql.begin((tx) => book(tx, network, bookings.slice(1)))
    const { total = 0n } = (await holding()) ?? {}
    expect(total * sign).toBeGreaterThanOrEqual(largest)
    const now = { ...at, total, movedBlock: 30 }
    await saveChecks(sql, network, 30, [{ ...now, balance: side === 'in' ? 0n : largest }])
    expect((await holding())?.difference).not.toBe(0n)
    await sql.begin((tx) => removeAbove(tx, network, 1))
    expect(await holding()).toMatchObject({ total: sign * largest })
    await sql.begin((tx) => removeAbove(tx, network, 0))
    expect(await holding()).toBeUndefined()
  },
)
