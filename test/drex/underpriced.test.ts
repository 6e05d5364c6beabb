/** A node that takes nothing below a price of its own: what was signed for less is offered for more. */
import { afterEach, expect, test } from 'bun:test'
import { Transaction } from 'ethers'
import { adminAddress, type Bench, createBench, type TransferBody } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const gwei = 1_000_000_000n

const begin = async (leastWei: bigint, env: Readonly<Record<string, string>> = {}) => {
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
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.chain.request('hardhat_setBalance', [ana, '0x8ac7230489e80000'])
  const body = { from_wallet: ana, to_wallet: bia, amount: '1.00' }
  const { json } = await bench.call('POST', '/v1/drex/transfers', body)
  return { id: (json as TransferBody).transfer_id, bia }
}

const read = async (id: string): Promise<TransferBody> =>
  (await bench.call('GET', `/v1/drex/transfers/${id}`)).json

test('as often as it takes', async () => {
  const { id, bia } = await begin((gwei * 13n) / 10n)
  await bench.until(async () => (await read(id)).status === 'confirmed')
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)

test('up to the limits, and then it says so', async () => {
  const { id } = await begin(2n * gwei, { DREX_FEE_MAX_GWEI: '1' })
  await bench.until(async () => (await read(id)).error !== null)
  const { status, error } = await read(id)
  expect([status, error?.code]).toEqual(['signed', 'FEE_TOO_HIGH'])
  bench.node.lie(undefined)
  await bench.until(async () => (await read(id)).status === 'confirmed')
  expect((await read(id)).error).toBeNull()
}, 60_000)
