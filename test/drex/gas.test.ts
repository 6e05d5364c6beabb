/** A sandbox network with fees, and a wallet that pays for the others' gas. */
import { afterEach, expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { adminAddress, type Bench, createBench, type TransferBody } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const coins: Hex = '0x8ac7230489e80000'

const begin = async (balance: Hex | undefined): Promise<{ ana: Hex; bia: Hex; fund: Hex }> => {
  bench = await createBench({
    chain: { mining: 40, gasPrice: 1_000n, balances: { [adminAddress]: 10n ** 20n } },
    env: { DREX_TESTNET_GAS_POLICY: 'legacy' },
  })
  const [ana, bia, fund] = [await bench.wallet(), await bench.wallet(0n), await bench.wallet(0n)]
  if (balance !== undefined) await bench.chain.request('hardhat_setBalance', [fund, balance])
  await bench.restart({ DREX_TESTNET_FUNDING_WALLET: fund })
  return { ana, bia, fund }
}

const coin = async (of: Hex): Promise<bigint> => {
  const outcome = await bench.chain.request('eth_getBalance', [of, 'latest'])
  return BigInt((outcome as { result: string }).result)
}

const ended = async (path: string): Promise<TransferBody> => {
  let read: TransferBody | undefined
  await bench.until(async () => {
    read = (await bench.call('GET', path)).json as TransferBody
    return ['confirmed', 'failed', 'reverted'].includes(read.status)
  })
  return read as TransferBody
}

const supplies = async () =>
  (await bench.database.sql`select status from drex_transactions where kind = 'gas'`).map(
    ({ status }) => status as string,
  )

test('a wallet without any coin pays, and is supplied once', async () => {
  const { ana, bia, fund } = await begin(coins)
  const before = await coin(fund)
  const paid = await Promise.all(
    Array.from({ length: 5 }, () =>
      bench.call('POST', '/v1/drex/transfers', {
        from_wallet: ana,
        to_wallet: bia,
        amount: '1.00',
      }),
    ),
  )
  for (const { json } of paid) {
    const { transfer_id: id } = json as TransferBody
    expect((await ended(`/v1/drex/transfers/${id}`)).status).toBe('confirmed')
  }
  expect(await bench.balance(bia)).toBe(500n)
  expect(await supplies()).toEqual(['confirmed'])
  expect(await coin(ana)).toBeGreaterThan(0n)
  expect(await coin(fund)).toBeLessThan(before)
}, 60_000)

test('an empty funding wallet is no way round: the transfer fails, and says why', async () => {
  const { ana, bia } = await begin(undefined)
  const { json } = await bench.call('POST', '/v1/drex/transfers', {
    from_wallet: ana,
    to_wallet: bia,
    amount: '1.00',
  })
  const failed = await ended(`/v1/drex/transfers/${(json as TransferBody).transfer_id}`)
  expect([failed.status, failed.error?.code, failed.tx_hash]).toEqual([
    'failed',
    'INSUFFICIENT_FUNDS',
    null,
  ])
  expect(await supplies()).toEqual(['failed'])
}, 60_000)
