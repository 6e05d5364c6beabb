/** What was judged of one block is no end of what another process has found in another meanwhile. */
import { afterAll, expect, test } from 'bun:test'
import { settle } from '../../src/drex/engine/ending-store.ts'
import { unmine } from '../../src/drex/engine/store.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { createTestDatabase } from '../support/database.ts'

const database = await createTestDatabase()
afterAll(() => database.close())

const [first, second, hash, other]: readonly Hex[] = ['0x01', '0x02', '0xaa', '0xbb']
const judged = (id: string, blockHash: Hex | undefined, minedHash: Hex | undefined) => [
  { id, blockHash, minedHash },
]

const mine = (id: string) => database.sql`
  insert into drex_transactions (id, network, sender, kind, subject, status, nonce, hash, data, created_by,
    expires_at, block_number, block_hash, mined_hash, succeeded)
  values (${id}, ${id}, ${id}, 'transfer', ${id}, 'mined', 0, ${hash!}, '0x', 'k', now(), 7,
    ${second!}, ${hash!}, true)`

const statusOf = async (id: string) => {
  const [row] = await database.sql`select status from drex_transactions where id = ${id}`
  return row?.['status']
}

test('an end is that of the block that was judged', async () => {
  await mine('txn_1')
  const ended = async (block: Hex | undefined, mined: Hex | undefined) => {
    const rows = judged('txn_1', block, mined).map((each) => ({
      ...each,
      event: 'settled_success' as const,
    }))
    return (await database.sql.begin((tx) => settle(tx, rows))).length
  }
  expect([await ended(first, hash), await ended(second, other)]).toEqual([0, 0])
  expect(await statusOf('txn_1')).toBe('mined')
  expect(await ended(second, hash)).toBe(1)
  expect(await statusOf('txn_1')).toBe('confirmed')
})

test('what left one block stays in the other', async () => {
  await mine('txn_2')
  await unmine(database.sql, judged('txn_2', first, hash))
  await unmine(database.sql, judged('txn_2', second, other))
  expect(await statusOf('txn_2')).toBe('mined')
  await unmine(database.sql, judged('txn_2', second, hash))
  expect(await statusOf('txn_2')).toBe('broadcast')
})
