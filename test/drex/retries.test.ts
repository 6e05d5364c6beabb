/** A failed transfer tried again: under the same id, and only where nothing of it can move any more. */
import { expect, test } from 'bun:test'
import { generateKey, type KeyRecord } from '#src/platform/security/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { testApp } from '../support/app.ts'
import { benchOfFile, type TransferBody } from './support.ts'

type Retried = TransferBody & {
  readonly attempt: number
  readonly approval: string | null
  readonly attempts: readonly { attempt: number; status: string; error: { code: string } | null }[]
}

const watchBlocks = 3

const bench = await benchOfFile({
  chain: { mining: 'manual' },
  env: { DREX_WATCH_BLOCKS: String(watchBlocks) },
})
const bia = await bench.wallet(0n)

const pay = (from: Hex, amount: string): Promise<string> => bench.pay(from, bia, amount)

const retry = (id: string, headers = {}) =>
  bench.call('POST', `/v1/drex/transfers/${id}/retry`, undefined, headers)

const reasonOf = ({ status, json }: { status: number; json: object }) => [
  status,
  (json as { error?: { code?: string; details?: { reason?: string } } }).error?.details?.reason,
]

const read = async (id: string) =>
  (await bench.call('GET', `/v1/drex/transfers/${id}`)).json as Retried

const isAt = (id: string, wanted: string) =>
  bench.until(async () => {
    await bench.chain.mine()
    return (await read(id)).status === wanted
  })

const idOf = async (address: Hex): Promise<string> => {
  const [row] = await bench.database.sql<{ id: string }[]>`
    select id from drex_wallets where address = ${address}`
  return row?.id ?? ''
}

const moved = async (from: Hex): Promise<bigint> => {
  const [row] = await bench.database.sql<{ sum: string }[]>`
    select coalesce(sum(f.amount), 0)::text as sum from drex_transfers f
    join drex_transactions t on t.id = f.transaction_id
    where f.from_wallet = ${from} and t.status = 'confirmed'`
  return BigInt(row?.sum ?? '0')
}

test('what was refused before it was signed is tried again, and confirmed under the same id', async () => {
  const ana = await bench.wallet(0n)
  const id = await pay(ana, '10.00')
  await isAt(id, 'failed')
  await bench.admin.currency('mint', ana, 1_000n)
  const key = { 'Idempotency-Key': 'once-more' }
  const first = await retry(id, key)
  expect([first.status, first.json as object]).toMatchObject([
    202,
    { transfer_id: id, status: 'pending', amount: '10.00', attempt: 2, tx_hash: null },
  ])
  const again = await retry(id, key)
  expect([again.status, again.json, again.headers.get('Idempotent-Replayed')]).toEqual([
    ...([202, first.json, 'true'] as const),
  ])
  expect(reasonOf(await retry(id))).toEqual([409, 'under_way'])
  await isAt(id, 'confirmed')
  const shown = await read(id)
  expect(shown.attempts).toMatchObject([
    { attempt: 1, status: 'failed', error: { code: 'SIMULATION_REVERTED' } },
    { attempt: 2, status: 'confirmed', error: null },
  ])
  expect(shown.attempt).toBe(2)
  expect(reasonOf(await retry(id))).toEqual([409, 'not_failed'])
  expect(await bench.balance(ana)).toBe(0n)
  const told = bench.events.filter(({ subject }) => subject === id)
  expect(told.map(({ type, data }) => [type, (data as { attempt?: number }).attempt])).toEqual([
    ['drex.transfer.failed', 1],
    ['drex.transfer.confirmed', 2],
  ])
  const acts = await bench.database.sql`
    select action, outcome from audit_log where object = ${id} order by id`
  expect([...acts]).toEqual([
    { action: 'drex.transfer', outcome: 'pending' },
    { action: 'drex.retry', outcome: 'pending' },
  ] as never)
})

test('of many retries at once, one is taken', async () => {
  const ana = await bench.wallet(0n)
  const id = await pay(ana, '1.00')
  await isAt(id, 'failed')
  await bench.admin.currency('mint', ana, 1_000n)
  const all = await Promise.all(Array.from({ length: 6 }, () => retry(id)))
  expect(all.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409])
  await isAt(id, 'confirmed')
  expect(await bench.balance(ana)).toBe(900n)
})

test('a reverted one waits until its block can no longer be taken back', async () => {
  const ana = await bench.wallet(1_000n)
  // Both pass the simulation, and the second finds nothing left.
  const [one, two] = [await pay(ana, '10.00'), await pay(ana, '10.00')]
  await bench.until(async () => {
    const both = await Promise.all([read(one), read(two)])
    return both.every(({ status }) => status === 'broadcast')
  })
  await isAt(two, 'reverted')
  await bench.admin.currency('mint', ana, 1_000n)
  const [row] = await bench.database.sql<{ block: number }[]>`
    select block_number::int as block from drex_transactions where subject = ${two}`
  const head = async () => {
    const outcome = await bench.chain.request('eth_blockNumber', [])
    return Number((outcome as { result: string }).result)
  }
  const last = (row?.block ?? 0) + 1 + watchBlocks
  while ((await head()) < last) {
    expect(reasonOf(await retry(two))).toEqual([409, 'end_may_change'])
    await bench.chain.mine()
  }
  await bench.chain.mine()
  expect((await retry(two)).status).toBe(202)
  await isAt(two, 'confirmed')
  expect(await bench.balance(ana)).toBe(0n)
  expect(await moved(ana)).toBe(2_000n)
})

test('what may have moved, was taken back or is another account’s is not tried again', async () => {
  const ana = await bench.wallet(1_000n)
  const cancelled = await pay(ana, '1.00')
  const { sql } = bench.database
  const end = (id: string, status: string, error: object | null, hash: string | null) => sql`
    update drex_transactions set status = ${status}, settled_at = now(), hash = ${hash},
      error = ${error === null ? null : JSON.stringify(error)}::text::jsonb
    where subject = ${id}`
  await isAt(cancelled, 'confirmed')
  await end(cancelled, 'cancelled', null, null)
  expect(reasonOf(await retry(cancelled))).toEqual([409, 'not_failed'])
  for (const code of ['TRANSFER_MISMATCH', 'NETWORK_RESET']) {
    await end(cancelled, 'failed', { code, message: 'x' }, `0x${'ab'.repeat(32)}`)
    expect(reasonOf(await retry(cancelled))).toEqual([409, 'may_have_moved'])
  }
  // On a network that began anew since.
  await end(cancelled, 'reverted', { code: 'REVERTED', message: 'x' }, `0x${'ab'.repeat(32)}`)
  const onNetwork = async (network: string) => {
    await sql`update drex_transactions set network = ${network} where subject = ${cancelled}`
    await sql`update drex_transfers set network = ${network} where id = ${cancelled}`
  }
  await onNetwork('drex_testnet@0xold')
  expect(reasonOf(await retry(cancelled))).toEqual([409, 'may_have_moved'])
  await onNetwork('drex_testnet')
  // Bytes that were signed once, though the row forgot them.
  await end(cancelled, 'failed', { code: 'EXPIRED', message: 'x' }, null)
  await sql`update drex_transactions set block_number = null where subject = ${cancelled}`
  await sql`
    insert into drex_attempts (network, hash, transaction_id, kind, raw, max_fee, tip)
    select network, ${`0x${'cd'.repeat(32)}`}, id, 'lost', '0x', 0, 0 from drex_transactions
    where subject = ${cancelled}`
  expect(reasonOf(await retry(cancelled))).toEqual([409, 'may_have_moved'])
  expect((await retry('trf_0198c0de000070008000000000000000')).status).toBe(404)
  await sql`update drex_transfers set account = 'other' where id = ${cancelled}`
  expect((await retry(cancelled)).status).toBe(404)
})

test('policies hold for each attempt: limits of the day, second keys, disabled wallets', async () => {
  const ana = await bench.wallet(0n)
  const path = `/v1/wallets/${await idOf(ana)}`
  const limit = (change: object) => bench.call('PATCH', path, change)
  const id = await pay(ana, '10.00')
  const other = await pay(ana, '10.00')
  await isAt(id, 'failed')
  await isAt(other, 'failed')
  // Long ago, so that only the retry's own time counts.
  await bench.database.sql`
    update drex_transfers set created_at = now() - interval '3 days'
    where id in (${id}, ${other})`
  await bench.admin.currency('mint', ana, 100_000n)
  await limit({ policy: { transfer_max: '9.99' } })
  const refused = await retry(id)
  expect([refused.status, (refused.json as { error: object }).error]).toMatchObject([
    422,
    { code: 'POLICY_REFUSED', details: { rule: 'transfer_max' } },
  ])
  await limit({ status: 'disabled' })
  expect((await retry(id)).status).toBe(422)
  await limit({ status: 'active', policy: { day_max: '15.00', approval_above: '5.00' } })
  expect((await retry(id)).json as object).toMatchObject({ approval: 'required', attempt: 2 })
  // The day is counted from the retry: the first has taken ten of fifteen.
  const beyond = await retry(other)
  expect((beyond.json as { error: object }).error).toMatchObject({ details: { rule: 'day_max' } })
  const { key, id: keyId, hash } = generateKey('test')
  const record: KeyRecord = {
    id: keyId,
    name: 'second',
    account: 'default',
    hash,
    grants: ['*'],
    environment: 'test',
    expiresAt: undefined,
    revokedAt: undefined,
  }
  const second = testApp(bench.drex().routes ?? [], { keys: [record] })
  expect((await bench.call('POST', `/v1/drex/transfers/${id}/approve`)).status).toBe(409)
  const approved = await second.call('POST', `/v1/drex/transfers/${id}/approve`, { key })
  expect(approved.status).toBe(200)
  await isAt(id, 'confirmed')
  // Whoever asked for the retry does not approve it, also if another key made the transfer.
  await limit({ policy: { approval_above: '5.00' } })
  const held = await second.call('POST', `/v1/drex/transfers/${other}/retry`, { key })
  expect([held.status, (await held.json()) as object]).toMatchObject([
    202,
    { approval: 'required' },
  ])
  const { json: told } = await bench.call('GET', `/v1/drex/transfers/${other}`)
  expect(told as object).toMatchObject({ requested_by: keyId })
  const own = await second.call('POST', `/v1/drex/transfers/${other}/approve`, { key })
  expect(own.status).toBe(409)
  expect((await bench.call('POST', `/v1/drex/transfers/${other}/approve`)).status).toBe(200)
  await isAt(other, 'confirmed')
})

test('of two nodes one is away: nothing is tried again until both tell how deep the end is', async () => {
  await bench.restart({ DREX_TESTNET_RPC_URLS: `${bench.chain.url},${bench.node.url}` })
  const ana = await bench.wallet(1_000n)
  const [one, two] = [await pay(ana, '10.00'), await pay(ana, '10.00')]
  await bench.until(async () => {
    const both = await Promise.all([read(one), read(two)])
    return both.every(({ status }) => status === 'broadcast')
  })
  await isAt(two, 'reverted')
  for (let blocks = 0; blocks <= watchBlocks + 1; blocks++) await bench.chain.mine()
  await bench.admin.currency('mint', ana, 1_000n)
  bench.node.refuse(() => new Response('', { status: 503 }))
  const refused = await retry(two)
  expect([refused.status, (refused.json as { error: { code: string } }).error.code]).toEqual([
    503,
    'NETWORK_UNREACHABLE',
  ])
  bench.node.refuse(undefined)
  // One that lags behind tells a head, too, and the end is not deep by that.
  bench.node.lie(({ method }) => (method === 'eth_blockNumber' ? { result: '0x1' } : undefined))
  await bench.until(async () => (await retry(two)).status !== 503)
  expect(reasonOf(await retry(two))).toEqual([409, 'end_may_change'])
  bench.node.lie(undefined)
  expect((await retry(two)).status).toBe(202)
  await isAt(two, 'confirmed')
  expect(await bench.balance(ana)).toBe(0n)
})
