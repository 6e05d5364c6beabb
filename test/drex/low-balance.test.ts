/** Wallets that are running low: told once, of the currency and of the coin for gas. */
import { expect, test } from 'bun:test'
import type { AppEvent } from '#src/events/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { adminAddress, benchOfFile } from './support.ts'

let ids: ReadonlyMap<string, string>

const coin = 10n ** 18n

const bench = await benchOfFile({
  chain: { mining: 40, gasPrice: 1_000n, balances: { [adminAddress]: 10n ** 20n } },
  env: { DREX_TESTNET_GAS_POLICY: 'legacy' },
})

const refill = (wallet: Hex, wei: bigint) =>
  bench.chain.request('hardhat_setBalance', [wallet, `0x${wei.toString(16)}`])

const made = async (cents: bigint): Promise<Hex> => {
  const wallet = await bench.wallet(cents)
  await refill(wallet, coin)
  const { json } = await bench.call('GET', '/v1/wallets?limit=100')
  const { wallets } = json as { wallets: { wallet_id: string; address: string }[] }
  ids = new Map(wallets.map((each) => [each.address.toLowerCase(), each.wallet_id]))
  return wallet
}

const watch = (wallet: Hex, alerts: object) =>
  bench.call('PATCH', `/v1/wallets/${ids.get(wallet)}`, { alerts })

const told = (wallet: Hex): readonly AppEvent[] =>
  bench.events.filter(
    ({ type, subject }) => type === 'drex.wallet.balance_low' && subject === ids.get(wallet),
  )

const pay = async (from: Hex, to: Hex, amount: string): Promise<void> => {
  await bench.reaches(await bench.pay(from, to, amount), 'confirmed')
}

/** A wallet that is low from the start is told in the same look at the latest. */
const looked = async (): Promise<void> => {
  const probe = await made(0n)
  await watch(probe, { balance_below: '1.00' })
  await bench.until(async () => told(probe).length > 0)
}

test('below the limit, not at it; once, and again after it was filled', async () => {
  const [ana, bia] = [await made(1_000n), await made(0n)]
  const changed = await watch(ana, { balance_below: '5.00' })
  expect([changed.status, (changed.json as { alerts: object }).alerts]).toEqual([
    200,
    { balance_below: '5.00' },
  ] as never)
  await pay(ana, bia, '5.00')
  await looked()
  expect(told(ana)).toEqual([])
  await pay(ana, bia, '0.01')
  await bench.until(async () => told(ana).length > 0)
  expect(told(ana).map(({ data }) => data as object)).toEqual([
    {
      wallet_id: ids.get(ana)!,
      wallet: `${ana.slice(0, 6)}…${ana.slice(-4)}`,
      network: 'drex_testnet',
      asset: 'currency',
      balance: '4.99',
      below: '5.00',
    },
  ])
  await pay(ana, bia, '0.01')
  await looked()
  expect(told(ana).length).toBe(1)
  await bench.admin.currency('mint', ana, 100n)
  await looked()
  await pay(ana, bia, '3.00')
  await bench.until(async () => told(ana).length > 1)
  expect(told(ana)[1]?.data).toMatchObject({ balance: '2.98' })
}, 60_000)

test('coin for gas; a new limit begins anew, and without one nothing is told', async () => {
  const wallet = await made(0n)
  await refill(wallet, coin / 10n - 1n)
  await watch(wallet, { gas_below: '0.10' })
  await bench.until(async () => told(wallet).length > 0)
  expect(told(wallet)[0]?.data).toMatchObject({
    asset: 'gas',
    balance: '0.099999999999999999',
    below: '0.10',
  })
  await watch(wallet, { gas_below: '0.05' })
  await looked()
  expect(told(wallet).length).toBe(1)
  await watch(wallet, { gas_below: '1.00' })
  await bench.until(async () => told(wallet).length > 1)
  await watch(wallet, {})
  await refill(wallet, 0n)
  await looked()
  expect(told(wallet).length).toBe(2)
}, 60_000)

test('several gateways tell it once, and one that no node answers tells nothing', async () => {
  const peers = [bench.peer(), bench.peer()]
  const wallet = await made(0n)
  bench.chain.faults.set([{ kind: 'unavailable', method: 'eth_getBalance' }])
  await watch(wallet, { gas_below: '2.00' })
  await looked()
  expect(told(wallet)).toEqual([])
  bench.chain.faults.set([])
  await bench.until(async () => told(wallet).length > 0)
  await looked()
  expect(told(wallet).length).toBe(1)
  await Promise.all(peers.map((peer) => peer.stop()))
}, 60_000)

test('one that cannot be told of holds up none behind it', async () => {
  const wallets = [await made(0n), await made(0n)]
  const [bad, good] = wallets.toSorted((a, b) => ((ids.get(a) ?? '') < (ids.get(b) ?? '') ? -1 : 1))
  if (bad === undefined || good === undefined) throw new Error('two were made')
  await bench.database.sql.unsafe(`
    create function refuse_bad() returns trigger language plpgsql as
      $$ begin raise exception 'a bad item'; end $$;
    create trigger refuse_bad before insert on drex_low_balances
      for each row when (new.wallet_id = '${ids.get(bad)}') execute function refuse_bad()`)
  for (const wallet of [bad, good]) await watch(wallet, { balance_below: '1.00' })
  await bench.until(async () => told(good).length > 0)
  await bench.database.sql.unsafe('drop trigger refuse_bad on drex_low_balances')
  await bench.until(async () => told(bad).length > 0)
}, 60_000)

test('limits are amounts, and nothing else is a limit', async () => {
  const wallet = await made(0n)
  for (const alerts of [{ balance_below: '0.00' }, { gas_below: 5 }, { other: '1.00' }, 'low']) {
    expect((await watch(wallet, alerts as object)).status).toBe(400)
  }
})
