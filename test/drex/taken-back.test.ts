/** What takes an allowance back is not given up where it cannot be done now. */
import { afterEach, expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { createdAddress } from '../../src/drex/evm/transaction.ts'
import { takeBacksMax } from '../../src/drex/sagas.ts'
import { adminAddress, type Bench, createBench, currencyAbi } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const coins: Hex = '0x8ac7230489e80000'

type Row = {
  readonly status: string
  readonly code: string | null
  /** Seconds. */
  readonly due: number
}

const revokes = () =>
  bench.database.sql<Row[]>`
    select status, error ->> 'code' as code, extract(epoch from due_at - now())::float8 as due
    from drex_transactions where kind = 'revoke' order by id`

const endLast = () =>
  bench.database.sql`
    update drex_transactions set expires_at = now() where kind = 'revoke' and status = 'pending'`

const setCoins = (wallet: Hex, wei: Hex) => bench.chain.request('hardhat_setBalance', [wallet, wei])

test('it waits for coin, and one that ends all the same is followed by another, so many times', async () => {
  bench = await createBench({
    chain: { mining: 'manual', gasPrice: 1_000n, balances: { [adminAddress]: 10n ** 20n } },
    env: { DREX_TESTNET_GAS_POLICY: 'legacy', DREX_TESTNET_CONFIRMATIONS: '2' },
  })
  const [owner, beneficiary] = [await bench.wallet(10_000n), await bench.wallet(0n)]
  await setCoins(owner, coins)
  const contract = createdAddress(owner, 0)
  // More than the owner has.
  const terms = {
    owner_wallet: owner,
    beneficiary,
    amount: '500.00',
    expiry: '2099-01-01T00:00:00Z',
  }
  expect((await bench.call('POST', '/v1/drex/liens', terms)).status).toBe(202)
  const approval = async () => {
    const [row] = await bench.database.sql<{ status: string }[]>`
      select status from drex_transactions where kind = 'approve'`
    return row?.status
  }
  await bench.until(async () => {
    await bench.chain.mine()
    await Bun.sleep(50)
    return (await approval()) !== undefined
  })
  await bench.until(async () => (await approval()) === 'broadcast')
  await bench.chain.mine()
  await setCoins(owner, '0x0')
  await bench.chain.mine()
  await bench.until(async () => (await revokes())[0]?.code === 'INSUFFICIENT_FUNDS')
  expect(await revokes()).toMatchObject([{ status: 'pending' }])
  for (let tries = 1; tries < takeBacksMax; tries++) {
    await endLast()
    await bench.until(async () => (await revokes()).length === tries + 1)
    const [last] = (await revokes()).toReversed()
    expect(last).toMatchObject({ status: 'pending', code: null })
    expect(last!.due).toBeGreaterThan(30)
  }
  await setCoins(owner, coins)
  await bench.database.sql`update drex_transactions set due_at = now() where kind = 'revoke'`
  await bench.until(async () => {
    await bench.chain.mine()
    await Bun.sleep(50)
    return (await revokes()).at(-1)?.status === 'confirmed'
  })
  const data = currencyAbi.encodeFunctionData('allowance', [owner, contract])
  const told = await bench.chain.request('eth_call', [{ to: bench.admin.token, data }, 'latest'])
  expect(BigInt((told as { readonly result: string }).result)).toBe(0n)
}, 60_000)
