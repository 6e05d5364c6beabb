/** What a statement tells once movements are so old that they were deleted. */
import { afterAll, expect, test } from 'bun:test'
import type { Chain } from '../../../src/drex/chains.ts'
import { createStatements } from '../../../src/drex/ledger/statement.ts'
import { type Booking, book, saveChecks } from '../../../src/drex/ledger/store.ts'
import { forgetDrex } from '../../../src/drex/retention.ts'
import { createTestDatabase } from '../../support/database.ts'

const dayMs = 86_400_000
const network = 'drex_testnet'
const token = `0x${'70'.repeat(20)}` as const
const wallet = `0x${'a1'.repeat(20)}` as const
const retentionDays = 90

const database = await createTestDatabase()
afterAll(() => database.close())

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs)

const movement = (block: number, side: 'in' | 'out', amount: bigint, days: number): Booking => ({
  token,
  wallet,
  side,
  counterparty: token,
  amount,
  blockNumber: block,
  blockHash: `0x${String(block).padStart(64, '0')}`,
  logIndex: 0,
  hash: `0x${String(block).padStart(64, 'b')}`,
  bookedAt: daysAgo(days),
})

test('a time of which no movement is left has the balance before the first that is', async () => {
  const { sql } = database
  await sql`
    insert into drex_positions (network, block_number, block_hash, history_until)
    values (${network}, 4, ${movement(4, 'in', 0n, 0).blockHash}, 0)`
  const bookings = [
    movement(1, 'in', 100n, 300),
    movement(2, 'out', 30n, 200),
    movement(3, 'in', 7n, 10),
    movement(4, 'out', 2n, 5),
  ]
  await sql.begin((tx) => book(tx, network, bookings))
  const held = { token, wallet, total: 75n, opening: undefined, movedBlock: 4 }
  await saveChecks(sql, network, 4, [{ ...held, balance: 1_075n }])
  const tokens = { decimalsOf: async () => 2 }
  const statements = createStatements(sql, tokens as never)
  const opening = async (from: number | undefined, to: number | undefined) => {
    const { opening, movements } = await statements.read(
      { network: { id: network, token, tokens: [] } } as unknown as Chain,
      {
        token: undefined,
        wallet,
        account: 'default',
        from: from === undefined ? undefined : daysAgo(from),
        to: to === undefined ? undefined : daysAgo(to),
        after: undefined,
        limit: 10,
      },
    )
    return [opening, movements.length]
  }
  const asked = () =>
    Promise.all([opening(60, 30), opening(undefined, 30), opening(8, 6), opening(1, undefined)])
  const [later = [], last = []] = [
    [1_077n, 0],
    [1_075n, 0],
  ]
  expect(await asked()).toEqual([[1_070n, 0], [1_000n, 2], later, last])
  await forgetDrex(sql, retentionDays)
  expect(await asked()).toEqual([[1_070n, 0], [1_070n, 0], later, last])
})
