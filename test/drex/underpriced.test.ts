/** A node that takes nothing below a price of its own: what was signed for less is offered for more. */
import { afterEach, expect, test } from 'bun:test'
import { Transaction } from 'ethers'
import { createLyingNode, type Lie, type LyingNode } from './lying-node.ts'
import { adminAddress, type Bench, createBench, type TransferBody } from './support.ts'

let bench: Bench
let second: LyingNode | undefined
afterEach(async () => {
  await bench.stop()
  await second?.stop()
  second = undefined
})

const gwei = 1_000_000_000n

const begin = async (
  leastWei: bigint,
  env: Readonly<Record<string, string>> = {},
  nodes: 1 | 2 = 1,
  lieOfSecond?: Lie,
) => {
  bench = await createBench({
    isLying: true,
    chain: { mining: 40, gasPrice: gwei, balances: { [adminAddress]: 10n ** 20n } },
    env: { DREX_TESTNET_GAS_POLICY: 'legacy', ...env },
  })
  bench.node.lie(({ method, params: [raw] }) =>
    method === 'eth_sendRawTransaction' && Transaction.from(String(raw)).gasPrice! < leastWei
      ? { error: { code: -32_000, message: 'transaction underpriced' } }
      : undefined,
  )
  if (nodes === 2) {
    second = createLyingNode(bench.chain)
    second.lie(lieOfSecond)
    const urls = `${bench.node.url},${second.url}`
    await bench.restart({ DREX_TESTNET_GAS_POLICY: 'legacy', DREX_TESTNET_RPC_URLS: urls })
  }
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.chain.request('hardhat_setBalance', [ana, '0x8ac7230489e80000'])
  const body = { from_wallet: ana, to_wallet: bia, amount: '1.00' }
  const { json } = await bench.call('POST', '/v1/drex/transfers', body)
  return { id: (json as TransferBody).transfer_id, bia }
}

test('as often as it takes', async () => {
  const { id, bia } = await begin((gwei * 13n) / 10n)
  await bench.reaches(id, 'confirmed')
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)

test('up to the limits, and then it says so', async () => {
  const { id } = await begin(2n * gwei, { DREX_FEE_MAX_GWEI: '1' })
  await bench.until(async () => (await bench.read(id)).error !== null)
  const { status, error } = await bench.read(id)
  expect([status, error?.code]).toEqual(['signed', 'FEE_TOO_HIGH'])
  bench.node.lie(undefined)
  await bench.reaches(id, 'confirmed')
  expect((await bench.read(id)).error).toBeNull()
}, 60_000)

test('one node that asks for more raises nothing: another takes it', async () => {
  const { id, bia } = await begin(100n * gwei, {}, 2)
  await bench.reaches(id, 'confirmed')
  const attempts = await bench.database.sql`select 1 from drex_attempts`
  expect(attempts).toHaveLength(0)
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)

test('another that refuses for a reason of its own stops no raise', async () => {
  const message = 'sender account not authorized to send transactions'
  const { id } = await begin((gwei * 13n) / 10n, {}, 2, ({ method }) =>
    method === 'eth_sendRawTransaction' ? { error: { code: -32_007, message } } : undefined,
  )
  await bench.reaches(id, 'confirmed')
  expect(await bench.database.sql`select 1 from drex_attempts`).not.toHaveLength(0)
}, 60_000)

test('a network without fees has none to raise', async () => {
  const { id } = await begin(1n, { DREX_TESTNET_GAS_POLICY: 'zero' })
  await bench.until(async () => (await bench.read(id)).error !== null)
  const { status, error } = await bench.read(id)
  expect([status, error?.code]).toEqual(['signed', 'FEE_TOO_HIGH'])
  expect(error?.message).toContain('without a fee')
}, 60_000)
