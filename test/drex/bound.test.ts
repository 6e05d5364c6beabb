/** What a wallet's transactions in flight may still take of its coin, before more is signed. */
import { afterAll, expect, test } from 'bun:test'
import { insertAttempt } from '../../src/drex/engine/attempt-store.ts'
import { boundBy } from '../../src/drex/engine/lane-store.ts'
import { createTestDatabase } from '../support/database.ts'

const { sql, close } = await createTestDatabase(2)
afterAll(close)

const network = 'drex_testnet'
const [ana, bia] = ['0xa', '0xb'] as const
const gas = 21_000n

const inFlight = (id: string, sender: string, status: string, value: bigint) => sql`
  insert into drex_transactions (id, network, sender, kind, subject, status, recipient, data, value, gas_limit, max_fee,
    tip, created_by, expires_at)
  values (${id}, ${network}, ${sender}, 'gas', ${id}, ${status}, '0xc', '0x', ${String(value)}, ${String(gas)}, 10, 1,
    'test', now())`

test('the coin that goes along, and the dearest of the fees that were offered', async () => {
  await inFlight('a', ana, 'broadcast', 5_000_000n)
  await inFlight('b', ana, 'signed', 0n)
  await inFlight('c', bia, 'broadcast', 0n)
  // The balance tells of these already, or they take nothing yet.
  await inFlight('d', bia, 'mined', 1n)
  await inFlight('e', bia, 'pending', 1n)
  const attempt = (kind: 'bump' | 'cancel' | 'lost', hash: `0x${string}`, maxFee: bigint) =>
    insertAttempt(sql, network, { transactionId: 'c', kind, hash, raw: '0x', maxFee, tip: 1n })
  await attempt('bump', '0x1', 11n)
  await attempt('cancel', '0x2', 13n)
  // Its nonce is another's.
  await attempt('lost', '0x3', 99n)
  expect(await boundBy(sql, network, [ana, bia])).toEqual(
    new Map([
      [ana, 5_000_000n + 20n * gas],
      [bia, 13n * gas],
    ]),
  )
})
