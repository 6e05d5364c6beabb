/** Transfers between institutions: what does not come about leaves no allowance, and none overwrites another's. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { Interface, id } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { revokeAllowances } from '../../src/drex/sagas.ts'
import { comparable } from '../../src/drex/wallets/policy.ts'
import { spentSince } from '../../src/drex/wallets/store.ts'
import retailArtifact from '../../src/simulators/chain/contracts/generated/RetailCurrency.json'
import swapArtifact from '../../src/simulators/chain/contracts/generated/SwapOneStep.json'
import { adminAddress, type Bench, createBench, type TransferBody } from './support.ts'

const retailAbi = new Interface(retailArtifact.abi)

let bench: Bench
let swap: Hex
let reserve: Hex
let otherReserve: Hex
let customer: Hex
let receiver: Hex
let retail: Hex
let otherRetail: Hex

const deployRetail = async (holder: Hex): Promise<Hex> => {
  const args = retailAbi.encodeDeploy(['Real Tokenizado', 'BRL@1', adminAddress, holder])
  return (await bench.admin.send(undefined, retailArtifact.bytecode + args.slice(2)))!
}

const at = (token: Hex, name: string, ...args: readonly unknown[]) =>
  bench.admin.send(token, retailAbi.encodeFunctionData(name, args))

beforeEach(async () => {
  bench = await createBench({ chain: { mining: 'manual' } })
  const terms = new Interface(swapArtifact.abi).encodeDeploy([bench.admin.token])
  swap = (await bench.admin.send(undefined, swapArtifact.bytecode + terms.slice(2)))!
  await bench.restart({ DREX_TESTNET_SWAP: swap, DREX_WATCH_BLOCKS: '2' })
  reserve = await bench.wallet(10_000n)
  otherReserve = await bench.wallet(0n)
  customer = await bench.wallet(0n)
  receiver = await bench.wallet(0n)
  retail = await deployRetail(reserve)
  otherRetail = await deployRetail(otherReserve)
  for (const token of [retail, otherRetail]) {
    for (const each of [customer, receiver]) await at(token, 'enableAccount', each)
    for (const role of ['MOVER_ROLE', 'MINTER_ROLE']) await at(token, 'grantRole', id(role), swap)
  }
  await at(retail, 'mint', customer, 5_000n)
})
afterEach(() => bench.stop())

const pay = async (amount: string): Promise<string> => {
  const { status, json } = await bench.call('POST', '/v1/drex/transfers', {
    from_wallet: customer,
    to_wallet: receiver,
    amount,
    swap: { sender_token: retail, receiver_token: otherRetail, reserve_wallet: reserve },
  })
  expect(status).toBe(202)
  return (json as TransferBody).transfer_id
}

const mineUntil = (isDone: () => Promise<boolean>): Promise<void> =>
  bench.until(async () => {
    await bench.chain.mine()
    await Bun.sleep(30)
    return isDone()
  })

const view = async (to: Hex, name: string, ...args: readonly unknown[]): Promise<bigint> => {
  const data = retailAbi.encodeFunctionData(name, args)
  const outcome = await bench.chain.request('eth_call', [{ to, data }, 'latest'])
  return BigInt((outcome as { result: string }).result)
}

const allowances = async () => [
  await view(bench.admin.token, 'allowance', reserve, swap),
  await view(retail, 'allowance', customer, swap),
]

const stepsOf = async (transfer: string) =>
  (await bench.read(transfer)).steps.map(({ kind, status }) => `${kind} ${status}`)

test('a swap that fails: both allowances are back at zero, and the steps show it', async () => {
  const transfer = await pay('60.00')
  await mineUntil(
    async () =>
      (await stepsOf(transfer)).filter((each) => each === 'revoke confirmed').length === 2,
  )
  expect(await stepsOf(transfer)).toEqual([
    ...['approve confirmed', 'approve confirmed', 'swap failed'],
    ...['revoke confirmed', 'revoke confirmed'],
  ])
  expect((await bench.read(transfer)).status).toBe('failed')
  expect(await allowances()).toEqual([0n, 0n])
}, 60_000)

test('one node of two that hangs keeps no allowance from being taken back', async () => {
  const hanging = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: () => new Promise<Response>(() => {}),
  })
  try {
    await bench.restart({
      DREX_TESTNET_RPC_URLS: `${bench.chain.url},http://127.0.0.1:${hanging.port}`,
      DREX_TESTNET_SWAP: swap,
      DREX_NODES_AGREEING: '1',
      DREX_RPC_TIMEOUT_MS: '30000',
    })
    const transfer = await pay('60.00')
    const startMs = performance.now()
    await mineUntil(
      async () =>
        (await stepsOf(transfer)).filter((each) => each === 'revoke confirmed').length === 2,
    )
    expect(performance.now() - startMs).toBeLessThan(25_000)
    expect(await allowances()).toEqual([0n, 0n])
  } finally {
    await hanging.stop(true)
  }
}, 60_000)

test('what a reserve gives in swaps counts for its own limit of 24 hours, a further attempt included', async () => {
  const [row] = await bench.database.sql<[{ id: string }]>`
    select id from drex_wallets where address = ${reserve}`
  const changed = await bench.call('PATCH', `/v1/wallets/${row.id}`, {
    policy: { day_max: '10.00' },
  })
  expect(changed.status).toBe(200)
  const ask = () =>
    bench.call('POST', '/v1/drex/transfers', {
      from_wallet: customer,
      to_wallet: receiver,
      amount: '6.00',
      swap: { sender_token: retail, receiver_token: otherRetail, reserve_wallet: reserve },
    })
  const first = (await ask()).json as TransferBody
  expect((await ask()).status).toBe(422)
  const cancel = `/v1/drex/transfers/${first.transfer_id}/cancel`
  expect((await bench.call('POST', cancel)).status).toBe(200)
  const second = (await ask()).json as TransferBody
  expect(second.status).toBe('pending')
  const { sql } = bench.database
  const spent = () => sql.begin((tx) => spentSince(tx, reserve, 24))
  const units = comparable(600n, 2)
  expect(await spent()).toBe(units)
  // One of the day before yesterday, whose further attempt is of now.
  await sql`update drex_transfers set created_at = now() - interval '2 days'`
  expect(await spent()).toBe(0n)
  await sql`update drex_transfers set retried_at = now() where id = ${second.transfer_id}`
  expect(await spent()).toBe(units)
})

test('one that failed is tried again once its allowances are taken back for good', async () => {
  const transfer = await pay('60.00')
  const retry = () => bench.call('POST', `/v1/drex/transfers/${transfer}/retry`)
  await mineUntil(async () => (await bench.read(transfer)).status === 'failed')
  await at(retail, 'mint', customer, 1_000n)
  await mineUntil(async () => (await retry()).status === 202)
  await mineUntil(async () => (await bench.read(transfer)).status === 'confirmed')
  expect((await stepsOf(transfer)).slice(5, 8)).toEqual([
    ...['approve confirmed', 'approve confirmed', 'swap confirmed'],
  ])
  expect(await view(otherRetail, 'balanceOf', receiver)).toBe(6_000n)
}, 60_000)

test('cancelled while the first step is on its way: it is taken back when it is mined', async () => {
  const transfer = await pay('10.00')
  await bench.until(async () => (await stepsOf(transfer))[0] === 'approve broadcast')
  const cancelled = await bench.call('POST', `/v1/drex/transfers/${transfer}/cancel`)
  expect((cancelled.json as TransferBody).status).toBe('cancelled')
  expect(await stepsOf(transfer)).toEqual([
    ...['approve broadcast', 'approve cancelled', 'swap cancelled', 'revoke pending'],
  ])
  // Once more: there is nothing left to cancel, and what takes the allowance back is none of it.
  const again = await bench.call('POST', `/v1/drex/transfers/${transfer}/cancel`)
  expect([again.status, again.json]).toMatchObject([
    409,
    { error: { code: 'TRANSFER_NOT_CANCELLABLE' } },
  ])
  expect((await stepsOf(transfer)).at(-1)).toBe('revoke pending')
  await mineUntil(async () => (await stepsOf(transfer)).at(-1) === 'revoke confirmed')
  expect(await allowances()).toEqual([0n, 0n])
  expect(await view(otherRetail, 'balanceOf', receiver)).toBe(0n)
}, 60_000)

test('a revoke that ended before its allowance was given is no taking back: another follows', async () => {
  const transfer = await pay('10.00')
  await bench.until(async () => (await stepsOf(transfer))[0] === 'approve broadcast')
  await bench.call('POST', `/v1/drex/transfers/${transfer}/cancel`)
  // The node kept the approval in its pool for longer than the revoke may wait.
  await bench.database.sql`update drex_transactions set expires_at = now() where kind = 'revoke'`
  await bench.until(async () => (await stepsOf(transfer)).at(-1) === 'revoke failed')
  await mineUntil(async () => (await stepsOf(transfer)).at(-1) === 'revoke confirmed')
  expect(await allowances()).toEqual([0n, 0n])
}, 60_000)

test('a swap that ends otherwise after all: what was used up then is taken back now', async () => {
  const transfer = await pay('7.00')
  await mineUntil(async () => (await stepsOf(transfer)).includes('revoke cancelled'))
  const before = (await stepsOf(transfer)).length
  // Its end again, after a reorganisation. Of the two it is the used one that nothing takes back.
  await bench.database.sql.begin((tx) => revokeAllowances(tx, 'drex_testnet', [transfer]))
  expect(await stepsOf(transfer)).toHaveLength(before + 1)
  await mineUntil(async () => (await stepsOf(transfer)).at(-1) === 'revoke cancelled')
}, 60_000)

test('several at once from one reserve: one after another, and each moves its own sum', async () => {
  const transfers = await Promise.all(['7.00', '1.00', '5.00', '3.00'].map(pay))
  await mineUntil(async () => {
    const all = await Promise.all(transfers.map(bench.read))
    return all.every(({ status }) => ['confirmed', 'failed', 'reverted'].includes(status))
  })
  const ends = await Promise.all(transfers.map(bench.read))
  expect(ends.map(({ status }) => status)).toEqual(transfers.map(() => 'confirmed'))
  expect(await view(otherRetail, 'balanceOf', receiver)).toBe(1_600n)
  expect(await view(retail, 'balanceOf', customer)).toBe(3_400n)
}, 60_000)

test('one that succeeds leaves no allowance either, and takes back none that is used up', async () => {
  const transfer = await pay('7.00')
  await mineUntil(async () => (await bench.read(transfer)).status === 'confirmed')
  // The wholesale one was used up; the retail currency is burnt without using its own.
  await mineUntil(async () => (await allowances()).every((each) => each === 0n))
  await mineUntil(async () =>
    (await stepsOf(transfer)).every((step) => /(confirmed|cancelled)$/.test(step)),
  )
  expect((await stepsOf(transfer)).filter((step) => step.startsWith('revoke')).toSorted()).toEqual([
    'revoke cancelled',
    'revoke confirmed',
  ])
  expect((await bench.read(transfer)).status).toBe('confirmed')
}, 60_000)
