/** A standby takes over without the last commits: a process that goes on tells nothing wrong of what they had sent. */
import { afterEach, expect, test } from 'bun:test'
import { Transaction as Parsed } from 'ethers'
import postgres from 'postgres'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { sendOutside } from './outside.ts'
import { type Bench, createBench, currencyAbi, sealer } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const cancel = async (id: string): Promise<number> =>
  (await bench.call('POST', `/v1/drex/transfers/${id}/cancel`)).status

let failovers = 0

/** From now on, all sessions are of a server that began at another moment. */
const failOver = async (): Promise<void> => {
  const { dsn } = bench.database
  const admin = postgres(dsn, { max: 1, onnotice: () => {} })
  const name = new URL(dsn).pathname.slice(1)
  const began = `${2_000 + ++failovers}-01-01`
  await admin.unsafe(`
    create or replace function public.pg_postmaster_start_time() returns timestamptz
      language sql stable as $$ select timestamptz '${began}' $$;
    alter database "${name}" set search_path = public, pg_catalog`)
  await admin`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = ${name} and pid <> pg_backend_pid()`
  await admin.end()
  // The pool finds out by itself.
  await Bun.sleep(1_000)
}

/** Loses what was committed of a transfer since it was accepted; nobody looks at it before so long. */
const lose = async (id: string, nonce: number, seconds = 0): Promise<void> => {
  const { sql } = bench.database
  await sql.begin(async (tx) => {
    await tx`update drex_lanes set next_nonce = ${nonce} where sender = (
      select sender from drex_transactions where subject = ${id})`
    await tx`
      update drex_transactions set status = 'pending', nonce = null, hash = null, raw = null,
        block_number = null, block_hash = null, mined_hash = null, succeeded = null,
        signed_at = null, broadcast_at = null, mined_at = null, settled_at = null,
        due_at = now() + ${seconds} * interval '1 second'
      where subject = ${id}`
  })
}

test('what a commit that was lost had paid is found by the same process, and neither failed nor cancelled', async () => {
  bench = await createBench()
  const [ana, bia] = [await bench.wallet(1_000n), await bench.wallet(0n)]
  await bench.reaches(await bench.pay(ana, bia, '1.00'), 'confirmed')
  const paid = await bench.pay(ana, bia, '9.00')
  const { tx_hash } = await bench.reaches(paid, 'confirmed')
  await failOver()
  await lose(paid, 1, 3_600)
  expect(await cancel(paid)).toBe(409)
  expect((await bench.reaches(paid, ['confirmed', 'cancelled'])).tx_hash).toBe(tx_hash)
  await failOver()
  await lose(paid, 1)
  expect((await bench.reaches(paid, ['confirmed', 'failed'])).tx_hash).toBe(tx_hash)
  expect(await bench.balance(bia)).toBe(1_000n)
}, 60_000)

test('a failover between the look and the signature: nothing is signed before a comparison', async () => {
  bench = await createBench({ isLying: true })
  const [ana, bia] = [await bench.wallet(2_000n), await bench.wallet(0n)]
  await bench.reaches(await bench.pay(ana, bia, '1.00'), 'confirmed')
  const lost = await bench.pay(ana, bia, '9.00')
  const { tx_hash } = await bench.reaches(lost, 'confirmed')
  const [simulated, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
  const sentNonces: number[] = []
  bench.node.lie(({ method, params: [call] }) => {
    if (method === 'eth_sendRawTransaction') sentNonces.push(Parsed.from(String(call)).nonce)
    if (method !== 'eth_call' || (call as { from?: string }).from !== ana) return undefined
    simulated.resolve()
    return goesOn.promise
  })
  const next = await bench.pay(ana, bia, '2.00')
  await simulated.promise
  await failOver()
  await lose(lost, 1, 3_600)
  goesOn.resolve(undefined)
  await bench.reaches(next, ['confirmed', 'failed'])
  expect((await bench.reaches(lost, ['confirmed', 'failed'])).tx_hash).toBe(tx_hash)
  expect(new Set(sentNonces)).toEqual(new Set([2]))
  expect(await bench.balance(bia)).toBe(1_200n)
}, 60_000)

const payment = (to: Hex, cents: bigint) => ({
  to: bench.admin.token,
  data: currencyAbi.encodeFunctionData('transfer', [to, cents]),
})

test('what is in a pool and not in this database holds its wallet up until a block has it', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(1_000n), await bench.wallet(0n)]
  await bench.drex().stop?.()
  const [paid, small] = [await bench.pay(ana, bia, '9.00'), await bench.pay(ana, bia, '1.00')]
  await Bun.sleep(1_100)
  const hashes = await sendOutside({ ...bench, sealer }, ana, [
    payment(bia, 100n),
    payment(bia, 900n),
  ])
  await bench.restart()
  await Bun.sleep(1_500)
  expect([await cancel(paid), await cancel(small)]).toEqual([409, 409])
  const { sql } = bench.database
  await sql`update drex_transactions set expires_at = now() where subject = ${paid}`
  await Bun.sleep(1_500)
  expect([(await bench.read(paid)).status, (await bench.read(small)).status]).toEqual([
    'pending',
    'pending',
  ])
  await bench.chain.mine()
  expect((await bench.reaches(paid, ['confirmed', 'failed', 'cancelled'])).tx_hash).toBe(hashes[1]!)
  expect((await bench.reaches(small, ['confirmed', 'failed', 'cancelled'])).tx_hash).toBe(
    hashes[0]!,
  )
  expect(await bench.balance(bia)).toBe(1_000n)
}, 60_000)
