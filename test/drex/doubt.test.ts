/** Nonces that others used, and what this book cannot tell by its own rows: nothing of it is paid twice. */
import { afterEach, expect, test } from 'bun:test'
import * as corrections from '../../src/drex/engine/correction-store.ts'
import * as lanes from '../../src/drex/engine/lane-store.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { sendOutside } from './outside.ts'
import { rewind } from './rewind.ts'
import { adminAddress, type Bench, createBench, currencyAbi, sealer } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const network = 'drex_testnet'

const nonceOf = async (id: string): Promise<number | undefined> => {
  const [row] = await bench.database.sql<{ nonce: bigint | null }[]>`
    select nonce from drex_transactions where subject = ${id}`
  return row?.nonce == null ? undefined : Number(row.nonce)
}

const dueIn = (id: string, seconds: number) =>
  bench.database.sql`
    update drex_transactions set due_at = now() + ${seconds} * interval '1 second' where subject = ${id}`

/** Not of the newest block, nor of the pool. */
const isPast = (block: unknown): boolean => block !== 'latest' && block !== 'pending'

/** Nobody looks at it again before it is said; a look that had begun has its end. */
const leaveAlone = (id: string) =>
  bench.until(async () => {
    await dueIn(id, 3_600)
    await Bun.sleep(600)
    const left = await bench.database.sql`
      select from drex_transactions where subject = ${id} and due_at > now() + interval '1 minute'`
    return left.length === 1
  })

const payment = (to: Hex, cents: bigint) => ({
  to: bench.admin.token,
  data: currencyAbi.encodeFunctionData('transfer', [to, cents]),
})

/** The original of a copy has sent another transaction and the first of ours, which nobody here knows to be mined. */
const sentByOriginal = async (from: Hex, to: Hex): Promise<Hex> => {
  const [, hash] = await sendOutside({ ...bench, sealer }, from, [
    { to: adminAddress, data: '0x' },
    payment(to, 100n),
  ])
  await bench.chain.mine()
  return hash!
}

test('the nonce of one is that of another on the chain: what it holds is read before anything is signed', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
  const first = await bench.pay(ana, bia, '1.00')
  await bench.reaches(first, 'broadcast')
  const second = await bench.pay(ana, bia, '2.00')
  await bench.reaches(second, 'broadcast')
  await leaveAlone(second)
  const hash = await sentByOriginal(ana, bia)
  bench.chain.faults.set([])
  await bench.until(async () => (await nonceOf(first)) !== 0)
  await Bun.sleep(1_500)
  expect(await nonceOf(first)).toBeUndefined()
  await dueIn(second, 0)
  await bench.until(async () => {
    await bench.chain.mine()
    return (await nonceOf(second)) === 2
  })
  await bench.chain.mine()
  expect((await bench.reaches(first, 'confirmed')).tx_hash).toBe(hash)
  await bench.reaches(second, 'confirmed')
  expect(await bench.balance(bia)).toBe(300n)
}, 60_000)

test('a nonce that an earlier release left to what has ended is free for what is on the chain under it', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const { sql } = bench.database
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia, '1.00')
  await bench.reaches(id, 'broadcast')
  await bench.drex().stop?.()
  const isTaken = () =>
    sql.begin((tx) => lanes.isTaken(tx, network, ana, [{ nonce: 0, hash: '0x1' }]))
  expect(await isTaken()).toBe(true)
  await sql`update drex_transactions set status = 'cancelled' where subject = ${id}`
  expect(await isTaken()).toBe(false)
}, 60_000)

test('another gateway gives a nonce up: this one signs nothing before it has compared', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const { sql } = bench.database
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
  const id = await bench.pay(ana, bia, '1.00')
  await bench.reaches(id, 'broadcast')
  await leaveAlone(id)
  const hash = await sentByOriginal(ana, bia)
  bench.chain.faults.set([])
  const rows = await sql<{ id: string }[]>`select id from drex_transactions where subject = ${id}`
  await sql.begin(async (tx) => {
    await lanes.seedLanes(tx, network, new Map([[ana, 2]]))
    await lanes.doubt(tx, network, [ana])
    await corrections.loseNonces(tx, [rows[0]!.id], { code: 'NONCE_TAKEN', message: 'taken' })
  })
  await bench.until(async () => {
    await bench.chain.mine()
    return (await nonceOf(id)) !== undefined
  })
  expect((await bench.reaches(id, 'confirmed')).tx_hash).toBe(hash)
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)

test('a comparison ends no doubt that came after it began', async () => {
  bench = await createBench({ engine: false })
  const { sql } = bench.database
  const told = async () => (await lanes.lanesOf(sql, network, [adminAddress])).get(adminAddress)!
  const doubt = async () => {
    await sql.begin((tx) => lanes.doubt(tx, network, [adminAddress]))
    return (await told()).doubt
  }
  const clear = (seen: string | undefined) =>
    sql.begin((tx) => lanes.clearDoubt(tx, network, adminAddress, seen))
  const servers = new Map([[adminAddress, (await told()).server]])
  const locked = async () =>
    (await sql.begin((tx) => lanes.lockLanes(tx, network, [adminAddress], servers))).get(
      adminAddress,
    )
  await lanes.seedLanes(sql, network, new Map([[adminAddress, 7]]))
  expect(await clear(undefined)).toBe(true)
  const [one, two] = [await doubt(), await doubt()]
  expect([await clear(undefined), await clear(one), await locked()]).toEqual([
    false,
    false,
    undefined,
  ])
  expect([await clear(two), await locked()]).toEqual([true, 7])
}, 60_000)

test('however many wait before it, what is on the chain already is found', async () => {
  bench = await createBench({ isLying: true })
  const { sql } = bench.database
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia, '1.00')
  const { tx_hash } = await bench.reaches(id, 'confirmed')
  await bench.drex().stop?.()
  await rewind(sql, id)
  await sql`
    insert into drex_transactions (id, network, sender, kind, subject, status, recipient, data,
      created_by, created_at, expires_at, due_at)
    select '0' || n, t.network, t.sender, t.kind, '0' || n, t.status, t.recipient, '0x', 'test',
      t.created_at, now() + interval '1 day', now() + interval '1 day'
    from drex_transactions t, generate_series(1, 5000) n where t.subject = ${id}`
  await bench.restart()
  expect((await bench.reaches(id, 'confirmed')).tx_hash).toBe(tx_hash)
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)

test('a wallet whose nonces a slow node is asked for holds up no other, and goes on when it is told', async () => {
  // Nobody gives the slow answer up.
  bench = await createBench({ isLying: true, env: { DREX_RPC_TIMEOUT_MS: '120000' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const [eva, hugo] = [await bench.wallet(), await bench.wallet()]
  await sendOutside({ ...bench, sealer }, ana, [payment(bia, 300n)])
  await bench.until(async () => (await bench.balance(bia)) === 300n)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  bench.node.lie(({ method, params }) =>
    method === 'eth_getTransactionCount' && params[0] === ana && isPast(params[1])
      ? promise
      : undefined,
  )
  const slow = await bench.pay(ana, bia, '1.00')
  await Bun.sleep(500)
  await bench.reaches(await bench.pay(eva, bia, '2.00'), 'confirmed')
  await bench.reaches(await bench.pay(hugo, bia, '2.00'), 'confirmed')
  expect(await nonceOf(slow)).toBeUndefined()
  resolve(undefined)
  await bench.reaches(slow, 'confirmed')
  expect(await nonceOf(slow)).toBe(1)
  expect(await bench.balance(bia)).toBe(800n)
}, 60_000)

test('a wallet under comparison with thousands of transfers holds up no other, and none is written meanwhile', async () => {
  bench = await createBench({ isLying: true, env: { DREX_RPC_TIMEOUT_MS: '120000' } })
  const { sql } = bench.database
  const [ana, bia, eva] = [await bench.wallet(), await bench.wallet(0n), await bench.wallet()]
  await sendOutside({ ...bench, sealer }, ana, [payment(bia, 300n)])
  await bench.until(async () => (await bench.balance(bia)) === 300n)
  const { promise, resolve } = Promise.withResolvers<undefined>()
  bench.node.lie(({ method, params }) =>
    method === 'eth_getTransactionCount' && params[0] === ana && isPast(params[1])
      ? promise
      : undefined,
  )
  const slow = await bench.pay(ana, bia, '1.00')
  await Bun.sleep(500)
  await sql`
    insert into drex_transactions
      (id, network, sender, kind, subject, status, recipient, data, created_by, created_at, expires_at, due_at)
    select '0' || k, network, sender, kind, '0' || k, status, recipient, data, 'test', created_at,
      now() + interval '1 day', now()
    from drex_transactions, generate_series(1, 20000) k where subject = ${slow}`
  const [before] = await sql<{ moment: Date }[]>`select clock_timestamp() as moment`
  await bench.reaches(await bench.pay(eva, bia, '2.00'), 'confirmed')
  const [written] = await sql`
    select count(*)::int from drex_transactions where sender = ${ana} and due_at > ${before!.moment}`
  expect(written?.['count']).toBe(0)
  await sql`delete from drex_transactions where id like '0%'`
  resolve(undefined)
  await bench.reaches(slow, 'confirmed')
}, 60_000)

test('a lane behind a row that has its nonce goes on past it, before anything is mined', async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const { sql } = bench.database
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const first = await bench.pay(ana, bia, '1.00')
  await bench.reaches(first, 'broadcast')
  // An earlier release took what was sent for the transfer, and left the lane where it was.
  await sql`update drex_lanes set next_nonce = 0 where sender = ${ana}`
  const second = await bench.pay(ana, bia, '2.00')
  await bench.reaches(second, 'broadcast')
  expect([await nonceOf(first), await nonceOf(second)]).toEqual([0, 1])
  await bench.chain.mine()
  await bench.reaches(second, 'confirmed')
  expect(await bench.balance(bia)).toBe(300n)
}, 60_000)
