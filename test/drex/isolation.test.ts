/** One wallet's trouble is its own: signers that hang, coin that is missing, fees beyond the limits. */
import { afterEach, describe, expect, test } from 'bun:test'
import { Wallet } from 'ethers'
import { createSealer } from '#src/platform/security/index.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { adminAddress, type Bench, createBench, currencyAbi } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const gwei = 1_000_000_000n

const keys = Array.from(
  { length: 12 },
  (_, i) => new Wallet(`0x${String(i + 1).padStart(64, '0')}`),
)

type Asked = {
  readonly id: number
  readonly method: string
  readonly params: readonly [Record<string, string>]
}

/** Hangs until it is released. */
const createSlowSigner = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let atOnce = 0
  let atOnceMax = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { id, method, params } = (await request.json()) as Asked
      if (method === 'eth_accounts') {
        return Response.json({ jsonrpc: '2.0', id, result: keys.map(({ address }) => address) })
      }
      atOnceMax = Math.max(atOnceMax, ++atOnce)
      await promise
      atOnce--
      const { from, gas, gasPrice, nonce, to, data, value } = params[0]
      const wallet = keys.find(({ address }) => address.toLowerCase() === from)!
      const chainId = bench.chain.chainId
      const result = await wallet.signTransaction({
        type: 0,
        chainId,
        to: to!,
        data: data!,
        value: value!,
        gasLimit: gas!,
        gasPrice: gasPrice!,
        nonce: Number(nonce),
      })
      return Response.json({ jsonrpc: '2.0', id, result })
    },
  })
  return {
    url: String(server.url),
    release: resolve,
    most: () => atOnceMax,
    stop: () => server.stop(true),
  }
}

describe('another program that signs', () => {
  test('hangs: no other wallet waits; when it comes back, its wallets go on in order', async () => {
    const signer = createSlowSigner()
    bench = await createBench({
      env: { DREX_WEB3SIGNER_URL: signer.url, DREX_SIGNER_TIMEOUT_MS: '400' },
    })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    const hung: string[] = []
    for (const { address } of keys) {
      const body = { type: 'web3signer', label: 'remote', address }
      expect((await bench.call('POST', '/v1/wallets', body)).status).toBe(201)
      await bench.admin.currency('enableAccount', address)
      await bench.admin.currency('mint', address, 1_000n)
      for (let i = 0; i < 3; i++) hung.push(await bench.pay(address.toLowerCase() as Hex, bia))
    }
    await bench.reaches(await bench.pay(ana, bia), 'confirmed')
    await bench.until(async () => {
      const { error } = await bench.read(hung.at(-1)!)
      return error?.code === 'SIGNER_FAILED'
    })
    // Nothing is held open while it is waited for. A transaction of something else may stand open for a moment.
    await bench.until(async () => {
      const [held] = await bench.database.sql<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity
        where datname = current_database() and state = 'idle in transaction'`
      return held?.count === 0
    })
    signer.release()
    // Each of its wallets rests for seconds after a refusal.
    for (const id of hung) await bench.reaches(id, 'confirmed')
    expect(await bench.balance(bia)).toBe(100n + 36n * 100n)
    await signer.stop()
  }, 60_000)
})

test('an approval that waits for the revocation of another does not keep it from being signed by another program', async () => {
  const signer = createSlowSigner()
  signer.release()
  bench = await createBench({ env: { DREX_WEB3SIGNER_URL: signer.url } })
  const { chain, admin, database } = bench
  const owner = keys[0]!
  const sender = owner.address.toLowerCase()
  const spender = await bench.wallet(0n)
  await bench.call('POST', '/v1/wallets', { type: 'web3signer', label: 'remote', address: sender })
  await admin.currency('enableAccount', sender)
  const approving = (units: bigint) =>
    currencyAbi.encodeFunctionData('approve', [spender, units]) as Hex
  const raw = await owner.signTransaction({
    type: 0,
    chainId: chain.chainId,
    nonce: 0,
    gasPrice: 0n,
    gasLimit: 100_000n,
    to: admin.token,
    data: approving(5n),
  })
  await chain.request('eth_sendRawTransaction', [raw])
  await bench.until(async () => {
    const told = await chain.request('eth_getTransactionCount', [sender, 'latest'])
    return 'result' in told && told.result === '0x1'
  })
  const row = (id: string, kind: string, subject: string, status: string, units: bigint) =>
    database.sql`
      insert into drex_transactions
        (id, network, sender, kind, subject, status, recipient, data, created_by, expires_at, due_at)
      values (${id}, 'drex_testnet', ${sender}, ${kind}, ${subject}, ${status}, ${admin.token},
        ${approving(units)}, 'test', now() + interval '1 hour', now() + interval '1 minute')`
  await row('trx_1', 'approve', 'trf_1', 'confirmed', 5n)
  await row('trx_2', 'approve', 'trf_2', 'pending', 7n)
  await row('trx_3', 'revoke', 'trf_1', 'pending', 0n)
  // Both at once, the one that has to wait before the other.
  await database.sql`update drex_transactions set due_at = now() where id like 'trx_%'`
  await bench.until(async () => {
    const open = await database.sql`
      select 1 from drex_transactions where id like 'trx_%' and status <> 'confirmed'`
    return open.length === 0
  })
  await signer.stop()
}, 60_000)

describe('networks with fees', () => {
  const begin = async (env: Readonly<Record<string, string>> = {}, gasPolicy = 'legacy') => {
    bench = await createBench({
      isLying: true,
      chain: { gasPrice: 1_000n, balances: { [adminAddress]: 10n ** 20n } },
      env: { DREX_TESTNET_GAS_POLICY: gasPolicy, ...env },
    })
  }
  const funded = async (cents?: bigint): Promise<Hex> => {
    const wallet = await bench.wallet(cents)
    await bench.chain.request('hardhat_setBalance', [wallet, '0x8ac7230489e80000'])
    return wallet
  }

  test('wallets without coin are told so, and keep nobody from being sent', async () => {
    await begin({ DREX_IN_FLIGHT_MAX: '2' })
    const [ana, bia] = [await funded(), await funded(0n)]
    const poor = [await bench.wallet(), await bench.wallet(), await bench.wallet()]
    const refused = await Promise.all(poor.map((wallet) => bench.pay(wallet, bia)))
    await bench.reaches(await bench.pay(ana, bia), 'confirmed')
    for (const id of refused) {
      expect((await bench.reaches(id, 'failed')).error?.code).toBe('INSUFFICIENT_FUNDS')
    }
  })

  test('what no node takes holds no room: others are sent', async () => {
    await begin({ DREX_IN_FLIGHT_MAX: '1' })
    const [ana, bia, eva] = [await funded(), await funded(0n), await funded()]
    const broke = 'Upfront cost exceeds account balance'
    let refused = 0
    bench.node.lie(({ method }) =>
      method === 'eth_sendRawTransaction' && refused++ === 0
        ? { error: { code: -32004, message: broke } }
        : undefined,
    )
    const stuck = await bench.pay(eva, bia)
    await bench.until(async () => (await bench.read(stuck)).error?.code === 'INSUFFICIENT_FUNDS')
    await bench.reaches(await bench.pay(ana, bia), 'confirmed')
    // Sent again, it is taken, and says no more that it was not.
    expect((await bench.reaches(stuck, 'confirmed')).error).toBeNull()
  })

  test('the first fee has a limit: the transfer waits, unsigned, until the network asks for less', async () => {
    await begin({ DREX_FEE_MAX_GWEI: '1' })
    const [ana, bia] = [await funded(), await funded(0n)]
    let price = 2n * gwei
    bench.node.lie(({ method }) =>
      method === 'eth_gasPrice' ? { result: `0x${price.toString(16)}` } : undefined,
    )
    const id = await bench.pay(ana, bia)
    await bench.until(async () => (await bench.read(id)).error?.code === 'FEE_TOO_HIGH')
    expect(await bench.read(id)).toMatchObject({ status: 'pending', tx_hash: null })
    price = 1n * gwei
    await bench.database.sql`update drex_transactions set due_at = now()`
    await bench.reaches(id, 'confirmed')
  })

  test('a transaction has a limit too, whatever its gas', async () => {
    await begin({ DREX_TRANSACTION_FEE_MAX_GWEI: '1000' })
    const [ana, bia] = [await funded(), await funded(0n)]
    bench.node.lie(({ method }) =>
      method === 'eth_gasPrice' ? { result: `0x${gwei.toString(16)}` } : undefined,
    )
    const id = await bench.pay(ana, bia)
    await bench.until(async () => (await bench.read(id)).error?.code === 'FEE_TOO_HIGH')
    expect((await bench.read(id)).status).toBe('pending')
  })
})

test('many processes: each waiting transfer is simulated by one of them', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const peers = [bench.peer(), bench.peer(), bench.peer()]
  await Bun.sleep(200)
  let simulated = 0
  bench.node.lie(async ({ method, params }, answer) => {
    const { data = '' } = (params[0] ?? {}) as { data?: string }
    if (method === 'eth_call' && data.startsWith('0xa9059cbb')) {
      simulated++
      await Bun.sleep(60)
    }
    return answer()
  })
  const ids = await Promise.all(Array.from({ length: 30 }, () => bench.pay(ana, bia)))
  for (const id of ids) await bench.reaches(id, 'broadcast')
  expect(simulated).toBe(ids.length)
  for (const peer of peers) await peer.stop()
})

test('a simulation that comes to no end waits longer and longer, and holds up nobody else', async () => {
  bench = await createBench({ isLying: true, env: { DREX_RPC_TIMEOUT_MS: '300' } })
  const [ana, bia, eva] = [await bench.wallet(), await bench.wallet(0n), await bench.wallet()]
  let hung = 0
  bench.node.lie(({ method, params }) => {
    const { from, data = '' } = (params[0] ?? {}) as { from?: string; data?: string }
    if (method !== 'eth_call' || from !== eva || !data.startsWith('0xa9059cbb')) return undefined
    hung++
    return new Promise(() => {})
  })
  const [stuck, ...others] = await Promise.all(
    [eva, ...Array(20).fill(ana)].map((each) => bench.pay(each, bia)),
  )
  for (const id of others) await bench.reaches(id, 'confirmed')
  await Promise.all([Bun.sleep(4_000), bench.until(async () => hung >= 2)])
  expect((await bench.read(stuck!)).status).toBe('pending')
  // Alone after its batch, then at two, four and eight times its age.
  expect(hung).toBeLessThan(8)
  bench.node.lie(undefined)
  await bench.reaches(stuck!, 'confirmed')
}, 60_000)

test('simulations that come to no end, and nothing that does: asked more and more rarely, and soon once they do', async () => {
  bench = await createBench({ isLying: true, env: { DREX_RPC_TIMEOUT_MS: '100' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  let hung = 0
  bench.node.lie(({ method, params }) => {
    const { from } = (params[0] ?? {}) as { from?: string }
    if (method !== 'eth_call' || from !== ana) return undefined
    hung++
    return new Promise(() => {})
  })
  const stuck = await Promise.all([bench.pay(ana, bia), bench.pay(ana, bia)])
  await Promise.all([Bun.sleep(6_000), bench.until(async () => hung >= 4)])
  // Each time together and then alone: at first, and at one, two, four seconds or so.
  expect(hung).toBeLessThan(21)
  bench.node.lie(undefined)
  for (const id of stuck) await bench.reaches(id, 'confirmed')
}, 60_000)

const halted = 'Transaction processing could not be completed due to an exception: '
const usesUp = 'It uses up all the gas that a simulation has.'
const refuses = 'The contract refuses.'

test.each([
  ['Besu', -32000, `${halted}Out of gas`, usesUp],
  ['geth', -32000, 'out of gas', usesUp],
  ['anvil', -32003, 'EVM error OutOfGas', usesUp],
  ['Besu, bad instruction', -32000, `${halted}Bad instruction`, refuses],
  ['Nethermind, bad instruction', -32015, 'BadInstruction', refuses],
])(
  'what ends a call without its contract’s word is told alike, also where the estimate has no end: %s',
  async (_, code, message, told) => {
    bench = await createBench({ isLying: true, env: { DREX_RPC_TIMEOUT_MS: '300' } })
    const ana = await bench.wallet()
    // It stops at once.
    const contract = (await bench.admin.send(undefined, '0x6001600c60003960016000f300'))!
    const abi = [
      { type: 'function', name: 'poke', inputs: [], outputs: [], stateMutability: 'nonpayable' },
    ]
    expect((await bench.call('POST', '/v1/contracts', { address: contract, abi })).status).toBe(201)
    let calls = 0
    bench.node.lie(({ method, params }) => {
      if ((params[0] as { to?: string } | undefined)?.to !== contract) return undefined
      if (method === 'eth_estimateGas') return new Promise(() => {})
      // The first comes with the request.
      return method === 'eth_call' && ++calls > 1 ? { error: { code, message } } : undefined
    })
    const asked = { function: 'poke', params: [], signer_wallet: ana }
    const { status, json } = await bench.call('POST', `/v1/contracts/${contract}/call`, asked)
    expect(status).toBe(200)
    const { transaction_id } = json as { readonly transaction_id: string }
    type Shown = { readonly status: string; readonly error: object | null }
    const shown = async (): Promise<Shown> =>
      (await bench.call('GET', `/v1/contracts/${contract}/calls/${transaction_id}`)).json
    await bench.until(async () => (await shown()).status === 'failed')
    expect((await shown()).error).toMatchObject({
      code: 'SIMULATION_REVERTED',
      message: told,
    })
  },
)

test('a thousand that expired of wallets that no node tells of keep no other from expiring', async () => {
  bench = await createBench({ isLying: true })
  bench.node.lie(({ method, params }) =>
    method === 'eth_getTransactionCount' && String(params[0]).startsWith('0xdead')
      ? { error: { code: -32000, message: 'busy' } }
      : undefined,
  )
  await bench.restart({ DREX_ENGINE_ENABLED: 'false' })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.database.sql`
    insert into drex_transactions (id, network, sender, kind, subject, status, data, created_by, expires_at)
    select 'dtx_0' || n, 'drex_testnet', '0xdead' || lpad((n % 5)::text, 36, '0'), 'transfer', 'trf_0' || n,
      'pending', '0x', 'k', now()
    from generate_series(1, 3000) n`
  const id = await bench.pay(ana, bia)
  await bench.database.sql`update drex_transactions set expires_at = now() where subject = ${id}`
  await bench.restart()
  await bench.reaches(id, 'failed')
  expect((await bench.read(id)).error?.code).toBe('EXPIRED')
}, 60_000)

test.each([
  [1n << 24n, 'confirmed', 1n << 24n],
  [(1n << 24n) + 1n, 'failed', undefined],
])('a call that needs %p units of gas: %s', async (gas, end, limit) => {
  bench = await createBench({ isLying: true })
  const ana = await bench.wallet()
  // It stops at once.
  const contract = (await bench.admin.send(undefined, '0x6001600c60003960016000f300'))!
  const abi = [
    { type: 'function', name: 'poke', inputs: [], outputs: [], stateMutability: 'nonpayable' },
  ]
  expect((await bench.call('POST', '/v1/contracts', { address: contract, abi })).status).toBe(201)
  bench.node.lie(({ method }) =>
    method === 'eth_estimateGas' ? { result: `0x${gas.toString(16)}` } : undefined,
  )
  const asked = { function: 'poke', params: [], signer_wallet: ana }
  const { json } = await bench.call('POST', `/v1/contracts/${contract}/call`, asked)
  const { transaction_id } = json as { readonly transaction_id: string }
  type Shown = { readonly status: string; readonly error: object | null }
  const shown = async (): Promise<Shown> =>
    (await bench.call('GET', `/v1/contracts/${contract}/calls/${transaction_id}`)).json
  await bench.until(async () => (await shown()).status === end)
  if (limit === undefined) {
    expect((await shown()).error).toMatchObject({
      code: 'SIMULATION_REVERTED',
      message: 'It needs more gas than a transaction is given.',
    })
  }
  const [row] = await bench.database.sql`
    select gas_limit from drex_transactions where id = ${transaction_id}`
  expect(row!['gas_limit'] ?? undefined).toBe(limit)
})

test('keys that were sealed with another master key are told by the health, and signed with again by the right one', async () => {
  bench = await createBench()
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const health = async () => (await bench.drex().health?.())!
  await bench.restart({}, createSealer(new Uint8Array(32).fill(9)))
  await bench.until(async () => (await health()).status === 'degraded')
  expect((await health()).detail).toMatchObject({ wallet_keys: 'sealed with another master key' })
  const id = await bench.pay(ana, bia)
  await bench.until(async () => (await bench.read(id)).error?.code === 'SIGNER_FAILED')
  expect((await bench.read(id)).status).toBe('pending')
  await bench.restart()
  await bench.reaches(id, 'confirmed')
  expect((await health()).detail).not.toHaveProperty('wallet_keys')
}, 60_000)
