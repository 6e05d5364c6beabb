/** A network with base fee and tip, on a chain that mines when told. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { adminAddress, type Bench, createBench, type TransferBody } from './support.ts'

const gwei = 1_000_000_000n
/** What the chain advises. */
const tipWei = gwei
const coins: Hex = '0x8ac7230489e80000'

let bench: Bench
let ana: Hex
let bia: Hex

const begin = async (env: Readonly<Record<string, string>> = {}): Promise<void> => {
  bench = await createBench({
    chain: { mining: 'manual', gasPrice: gwei, balances: { [adminAddress]: 10n ** 20n } },
    env: { DREX_TESTNET_GAS_POLICY: 'eip1559', ...env },
  })
  ana = await bench.wallet()
  bia = await bench.wallet(0n)
  await bench.chain.request('hardhat_setBalance', [ana, coins])
}
beforeEach(() => begin())
afterEach(() => bench.stop())

/** Mines a block at a base fee, which the next transactions are priced by. */
const mineAt = async (baseFee: bigint): Promise<void> => {
  const set = await bench.chain.request('hardhat_setNextBlockBaseFeePerGas', [
    `0x${baseFee.toString(16)}`,
  ])
  expect(set).not.toHaveProperty('error')
  await bench.chain.mine()
}

const pay = (): Promise<string> => bench.pay(ana, bia)

type FeeRow = { readonly raw: Hex; readonly max_fee: string; readonly tip: string }

const first = async (): Promise<FeeRow> => {
  const [row] = await bench.database.sql<FeeRow[]>`
    select raw, max_fee, tip from drex_transactions`
  if (row === undefined) throw new Error('no transaction')
  return row
}

const bumps = () =>
  bench.database.sql<FeeRow[]>`
    select raw, max_fee, tip from drex_attempts where kind = 'bump' order by created_at`

/** Mines beyond what was offered until it is replaced: what was sent again after a block needs another for that. */
const bumped = (): Promise<void> =>
  bench.until(async () => {
    await mineAt(100n * gwei)
    return (await bumps()).length > 0
  })

test('twice the base fee and the tip, as a transaction of type 2', async () => {
  await mineAt(10n * gwei)
  const id = await pay()
  await bench.reaches(id, 'broadcast')
  const { raw, max_fee, tip } = await first()
  expect(raw).toStartWith('0x02')
  expect([BigInt(max_fee), BigInt(tip)]).toEqual([20n * gwei + tipWei, tipWei])
  // A base fee that rises by less than the double holds nothing up.
  await mineAt(19n * gwei)
  await bench.reaches(id, 'confirmed')
  expect((await bumps()).length).toBe(0)
  expect(await bench.balance(bia)).toBe(100n)
})

test('a base fee beyond the offer: replaced at the same nonce by what is asked now, once', async () => {
  await mineAt(10n * gwei)
  const id = await pay()
  const before = await bench.reaches(id, 'broadcast')
  await bumped()
  const [bump] = await bumps()
  expect(bump?.raw).toStartWith('0x02')
  expect(BigInt(bump?.max_fee ?? 0)).toBeGreaterThanOrEqual(200n * gwei)
  // Both figures rise by a tenth, or the pool refuses the replacement.
  expect(BigInt(bump?.tip ?? 0)).toBeGreaterThanOrEqual((tipWei * 11n) / 10n)
  await bench.until(async () => {
    await bench.chain.mine()
    const read = await bench.call('GET', `/v1/drex/transfers/${id}`)
    return (read.json as TransferBody).status === 'confirmed'
  })
  expect((await bench.reaches(id, 'confirmed')).tx_hash).not.toBe(before.tx_hash)
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)

test('the base fee falls before the replacement arrives: the first bytes count, once', async () => {
  await mineAt(10n * gwei)
  const id = await pay()
  const before = await bench.reaches(id, 'broadcast')
  await mineAt(100n * gwei)
  bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
  await bumped()
  await mineAt(15n * gwei)
  expect((await bench.reaches(id, 'confirmed')).tx_hash).toBe(before.tx_hash)
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)

test('replacements stop at the limit, and the transfer waits for the base fee to fall', async () => {
  await bench.stop()
  await begin({ DREX_FEE_MAX_GWEI: '25' })
  await mineAt(10n * gwei)
  const id = await pay()
  await bench.reaches(id, 'broadcast')
  const looks = async () => {
    const [row] = await bench.database.sql<{ attempts: number }[]>`
      select attempts from drex_transactions`
    return row?.attempts ?? 0
  }
  await bench.until(async () => {
    await mineAt(100n * gwei)
    return (await looks()) >= 3
  })
  for (const { max_fee } of await bumps()) {
    expect(BigInt(max_fee)).toBeLessThanOrEqual(25n * gwei)
  }
  expect(await bench.scrape()).toMatch(/drex_fee_limits_total\{network="drex_testnet"\} [1-9]/)
  await mineAt(15n * gwei)
  await bench.reaches(id, 'confirmed')
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)
