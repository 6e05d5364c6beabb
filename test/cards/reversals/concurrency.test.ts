import { expect, test } from 'bun:test'
import { openDatabase } from '#src/platform/database/index.ts'
import { createNetwork } from '../../../src/cards/networks/index.ts'
import { insertReversals } from '../../../src/cards/reversals/index.ts'
import { beginAttempt, claimDue, release } from '../../../src/cards/reversals/store.ts'
import type { Card, Vault } from '../../../src/cards/vault/index.ts'
import { networkOptions, quietLogger, until } from '../../support/card-network.ts'
import { createTestDatabase } from '../../support/database.ts'
import { createReversalRig, isEnded, reversalOf } from './support.ts'

test('two engines never send one reversal twice', async () => {
  const count = 150
  await using rig = await createReversalRig({}, { latencyMs: { min: 0, max: 20 } })
  const other = createNetwork(networkOptions(rig.simulator.port(), { timeoutMs: 5_000 }))
  other.start()
  await until(() => other.health().connectionsUp === 1)
  await rig.insert(...Array.from({ length: count }, (_, index) => reversalOf(index + 1)))
  rig.engine()
  rig.engine({ networks: { all: [other], byName: () => other } })
  const rows = await rig.until(isEnded)
  await other.stop()
  const once = rows.filter(({ status, attempts }) => status === 'confirmed' && attempts === 1)
  expect(once).toHaveLength(count)
  const { received } = rig.simulator.statistics()
  expect(received).toMatchObject({ '0400': count })
  expect(received).not.toHaveProperty('0401')
  expect(rig.ended).toHaveLength(count)
})

test('no more are on the wire than allowed', async () => {
  await using rig = await createReversalRig()
  rig.simulator.setSilent(true)
  await rig.insert(...Array.from({ length: 10 }, (_, index) => reversalOf(index + 1)))
  const engine = rig.engine({ settings: { inFlightMax: 3 } })
  await until(() => rig.network.health().inFlight === 3)
  for (let look = 0; look < 10; look++) {
    engine.kick()
    await Bun.sleep(5)
    expect(rig.network.health().inFlight).toBe(3)
  }
  expect((await rig.rows()).filter(({ attempts }) => attempts > 0)).toHaveLength(3)
  rig.simulator.dropConnections()
  rig.simulator.setSilent(false)
  await rig.until(isEnded)
})

test('those never sent go before repeats that were due long ago', async () => {
  await using rig = await createReversalRig()
  const { sql } = rig.database
  await rig.insert(reversalOf(1), reversalOf(2))
  await sql`
    update card_reversals set attempts = 1, stan = '000009', transmission = '1120120000',
      first_attempt_at = now() - interval '20 hours', next_attempt_at = now() - interval '20 hours'`
  await rig.insert(reversalOf(3))
  const limits = { expirySeconds: 86_400, attemptsMax: 10 }
  const claim = () => claimDue(sql, 'me', new Map([['neta', 1]]), 60, limits)
  const [fresh] = await claim()
  expect(fresh?.transactionId).toBe('txn_3')
  // It is put back unsent: it rests, and is then ahead of them again.
  const numbers = { stan: '000010', transmission: '1120120000' }
  expect(await beginAttempt(sql, fresh!.id, 'me', numbers, 60)).toBe(true)
  await release(sql, fresh!.id, 'me', { waitMs: 60_000, isUnsent: true, responseCode: undefined })
  expect((await claim()).map(({ transactionId }) => transactionId)).toEqual(['txn_1'])
  await sql`update card_reversals set lease_until = now() where transaction_id = 'txn_3'`
  expect((await claim()).map(({ transactionId }) => transactionId)).toEqual(['txn_3'])
})

test('without a setting, an eighth of what may wait on the connections is on the wire', async () => {
  await using rig = await createReversalRig({ poolSize: 2, window: 16 })
  rig.simulator.setSilent(true)
  await rig.insert(...Array.from({ length: 10 }, (_, index) => reversalOf(index + 1)))
  rig.engine({ settings: { inFlightMax: undefined } })
  await until(() => rig.network.health().inFlight === 4)
  await Bun.sleep(50)
  expect(rig.network.health().inFlight).toBe(4)
  rig.simulator.dropConnections()
  rig.simulator.setSilent(false)
  await rig.until(isEnded)
})

test('a process that dies in the middle is followed by another', async () => {
  await using rig = await createReversalRig({ timeoutMs: 2_500 })
  await rig.reverse(1, 'tok_visa_timeout')
  const { dsn } = rig.database
  const lost = openDatabase({
    dsn,
    connectionsMax: 2,
    statementTimeoutMs: 5_000,
    logger: quietLogger,
  })
  rig.simulator.setSilent(true)
  const timing = { pollMs: 10, leaseMarginMs: 100, windowMs: 0 }
  const dying = rig.engine({ sql: lost.sql, timing })
  await until(() => rig.network.health().inFlight === 1)
  // Nothing of it is written any more.
  await lost.close()
  await dying.drain()
  const [during] = await rig.rows()
  expect(during).toMatchObject({ status: 'pending', attempts: 1 })
  rig.simulator.setSilent(false)
  rig.engine({ timing })
  const [row] = await rig.until(isEnded)
  expect(row).toMatchObject({ status: 'confirmed', attempts: 2, stan: during?.stan })
  expect(rig.simulator.statistics().received).toMatchObject({ '0400': 1, '0401': 1 })
  expect(rig.simulator.book()).toMatchObject([{ authorizedAmount: 10_000, reversedAmount: 10_000 }])
})

test('one that dies while it asks the vault is followed as soon as the vault’s time is over', async () => {
  await using rig = await createReversalRig()
  await rig.reverse(1, 'tok_visa_timeout')
  const { dsn } = rig.database
  const lost = openDatabase({
    dsn,
    connectionsMax: 2,
    statementTimeoutMs: 5_000,
    logger: quietLogger,
  })
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Card>()
  const vault: Vault = {
    ...rig.vault,
    resolve: () => {
      asked.resolve()
      return answer.promise
    },
  }
  const timing = { pollMs: 10, leaseMarginMs: 100, windowMs: 0 }
  const dying = rig.engine({ sql: lost.sql, vault, vaultTimeoutMs: 300, timing })
  await asked.promise
  await lost.close()
  answer.resolve({ pan: new Uint8Array(16), expiry: undefined })
  await dying.drain()
  expect(await rig.rows()).toMatchObject([{ status: 'pending', attempts: 0, stan: null }])
  rig.engine()
  expect(await rig.until(isEnded)).toMatchObject([{ status: 'confirmed', attempts: 1 }])
})

test('a lease outlasts what it covers by ten seconds', async () => {
  await using rig = await createReversalRig({ timeoutMs: 20_000 })
  await rig.insert(reversalOf(1))
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const vault: Vault = {
    ...rig.vault,
    resolve: async (token) => {
      asked.resolve()
      await answer.promise
      return rig.vault.resolve(token)
    },
  }
  const leaseSeconds = async (): Promise<number> => {
    const [row] = await rig.database.sql<{ seconds: number }[]>`
      select extract(epoch from lease_until - now())::float8 as seconds from card_reversals`
    return row?.seconds ?? 0
  }
  rig.simulator.setSilent(true)
  rig.engine({ vault, vaultTimeoutMs: 20_000, timing: {} })
  await asked.promise
  const claimed = await leaseSeconds()
  // Less what has passed since.
  expect(claimed).toBeGreaterThan(20)
  expect(claimed).toBeLessThanOrEqual(30)
  answer.resolve()
  await until(() => rig.network.health().inFlight === 1)
  const sent = await leaseSeconds()
  expect(sent).toBeGreaterThan(20)
  expect(sent).toBeLessThanOrEqual(30)
  rig.simulator.dropConnections()
})

test('drain lets what is on the wire end, and takes nothing more', async () => {
  await using rig = await createReversalRig({}, { latencyMs: { min: 200, max: 200 } })
  await rig.insert(reversalOf(1))
  // It looks once: a look that is under way when the drain begins may find what comes just after.
  const engine = rig.engine({ timing: { pollMs: 60_000, windowMs: 0 } })
  await until(() => rig.network.health().inFlight === 1)
  const draining = engine.drain()
  await rig.insert(reversalOf(2))
  engine.kick()
  await draining
  expect(await rig.rows()).toMatchObject([
    { status: 'confirmed', attempts: 1 },
    { status: 'pending', attempts: 0 },
  ])
})

test('faults of every kind: in the end the book and the table agree', async () => {
  const count = 60
  await using rig = await createReversalRig(
    { timeoutMs: 100, poolSize: 2 },
    {
      seed: 7,
      faults: {
        no_answer: 0.1,
        drop_before: 0.05,
        drop_after: 0.05,
        garbage: 0.05,
        wrong_amount: 0.1,
      },
    },
  )
  for (let number = 1; number <= count; number += 20) {
    const numbers = Array.from({ length: 20 }, (_, index) => number + index)
    await Promise.all(numbers.map((one) => rig.reverse(one, 'tok_visa_approved')))
  }
  rig.engine()
  const rows = await rig.until(isEnded)
  expect(rows).toHaveLength(count)
  expect(rows.filter(({ status }) => status !== 'confirmed')).toEqual([])
  const book = rig.simulator.book()
  expect(book.length).toBeGreaterThan(0)
  for (const { authorizedAmount, reversedAmount, requests } of book) {
    expect([reversedAmount, requests]).toEqual([authorizedAmount, 1])
  }
  expect(rig.ended).toHaveLength(count)
})

test('many are committed in one statement, a pending one once, and only with their transaction', async () => {
  const database = await createTestDatabase()
  const { sql } = database
  await sql.begin((tx) => insertReversals(tx, []))
  const rolledBack = sql.begin(async (tx) => {
    await insertReversals(tx, [reversalOf(1)])
    throw new Error('rolled back')
  })
  await expect(rolledBack).rejects.toThrow('rolled back')
  const rows = Array.from({ length: 500 }, (_, index) =>
    reversalOf(index + 1, { authCode: 'A"\\,1', terminalId: undefined }),
  )
  await sql.begin((tx) => insertReversals(tx, rows))
  await sql.begin((tx) => insertReversals(tx, rows.slice(0, 3)))
  const found = await sql<{ transactionId: string; authCode: string }[]>`
    select transaction_id as "transactionId", auth_code as "authCode"
    from card_reversals order by id`
  expect(found.map(({ transactionId }) => transactionId)).toEqual(
    rows.map(({ transactionId }) => transactionId),
  )
  expect(found[0]?.authCode).toBe('A"\\,1')
  await sql`update card_reversals set status = 'confirmed' where transaction_id = 'txn_1'`
  await sql.begin((tx) => insertReversals(tx, rows.slice(0, 1)))
  expect(await sql`select from card_reversals where transaction_id = 'txn_1'`).toHaveLength(2)
  await database.close()
})

test('an end locks the payment first, as all others do that lock both', async () => {
  await using rig = await createReversalRig()
  await rig.insert(reversalOf(1), reversalOf(2))
  await rig.database.sql`
    update card_reversals set created_at = now() - interval '2 days' where transaction_id = 'txn_1'`
  const free: string[] = []
  rig.engine({
    lockOriginal: async (_, { id, transactionId }) => {
      await rig.database.sql`select from card_reversals where id = ${id} for update nowait`
      free.push(transactionId)
      return false
    },
  })
  await rig.until(isEnded)
  expect(free.toSorted()).toEqual(['txn_1', 'txn_2'])
})
