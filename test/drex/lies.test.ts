/** What one node says wrong about one transaction stays with that transaction. */
import { afterEach, describe, expect, test } from 'bun:test'
import { type Bench, createBench, currencyAbi, hostileCode, type TransferBody } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const isTransferOf = (params: readonly unknown[], cents: bigint): boolean =>
  String((params[0] as { data?: string }).data).endsWith(cents.toString(16).padStart(8, '0'))

/** `Error(string)` with a text that PostgreSQL cannot store. */
const hostile = {
  error: {
    code: 3,
    message: 'execution reverted: a\0b',
    data: currencyAbi.encodeErrorResult('Error', ['a\0b']),
  },
}

describe('a stranger’s contract', () => {
  test('reverts with text that cannot be stored, in a block: the others are confirmed', async () => {
    bench = await createBench({ isLying: true, env: { DREX_TESTNET_PROOFS: 'false' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    bench.node.lie(async ({ method, params }, answer) => {
      if (method === 'eth_call' && params[1] !== 'latest') return hostile
      const outcome = await answer()
      if (method !== 'eth_getTransactionReceipt' || !('result' in outcome)) return outcome
      const receipt = outcome.result as { from: string } | null
      return receipt?.from === bia ? { result: { ...receipt, status: '0x0' } } : outcome
    })
    await bench.admin.currency('mint', bia, 500n)
    const [bad, good] = [await bench.pay(bia, ana), await bench.pay(ana, bia)]
    await bench.reaches(good, 'confirmed')
    const reverted = await bench.reaches(bad, 'reverted')
    expect(reverted.error?.revert).toEqual({ name: 'Error', args: ['a\ufffdb'] } as never)
    expect((await bench.reaches(await bench.pay(ana, bia), 'confirmed')).error).toBeNull()
  })

  test('reverts so when it is simulated: the others are sent', async () => {
    bench = await createBench({ isLying: true })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    bench.node.lie(({ method, params }) =>
      method === 'eth_call' && isTransferOf(params, 300n) ? hostile : undefined,
    )
    const ids = [await bench.pay(ana, bia, '3.00'), await bench.pay(ana, bia, '1.00')]
    expect((await bench.reaches(ids[0]!, 'failed')).error?.code).toBe('SIMULATION_REVERTED')
    await bench.reaches(ids[1]!, 'confirmed')
  })

  test('takes part in whatever it can, and reverts so: each is its caller’s error, and the others are confirmed', async () => {
    bench = await createBench()
    const contract = (await bench.admin.send(undefined, hostileCode))!
    const word = `0x${'0'.repeat(63)}1`
    await bench.chain.request('hardhat_setStorageAt', [contract, '0x0', word])
    await bench.restart({ DREX_TESTNET_SWAP: contract })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    const swap = { sender_token: contract, receiver_token: contract, reserve_wallet: ana }
    const exchange = await bench.call('POST', '/v1/drex/transfers', {
      from_wallet: ana,
      to_wallet: bia,
      amount: '1.00',
      swap,
    })
    expect(exchange.status).toBe(202)
    const abi = ['poke', 'look'].map((name) => ({
      type: 'function',
      name,
      inputs: [],
      outputs: [],
      stateMutability: name === 'look' ? 'view' : 'nonpayable',
    }))
    const registered = await bench.call('POST', '/v1/contracts', { address: contract, abi })
    expect(registered.status).toBe(201)
    const refused = await Promise.all([
      ...abi.map(({ name }) =>
        bench.call('POST', `/v1/contracts/${contract}/call`, {
          function: name,
          params: [],
          signer_wallet: ana,
        }),
      ),
      bench.call('POST', '/v1/drex/operations', {
        operation: 'freeze_balance',
        signer_wallet: ana,
        params: { wallet: bia, amount: '1.00', token: contract },
      }),
    ])
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 422))
    const honest = await Promise.all([bench.pay(ana, bia), bench.pay(ana, bia)])
    for (const id of honest) await bench.reaches(id, 'confirmed')
    const failed = await bench.reaches((exchange.json as TransferBody).transfer_id, 'failed')
    const [, approval] = failed.steps as unknown as { error: { revert?: object } | null }[]
    expect(approval?.error?.revert).toEqual({ name: 'Error', args: ['a\ufffdb'] })
  })
})

test('metadata that cannot be stored is one caller’s error, and no other’s', async () => {
  bench = await createBench()
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const answers = await Promise.all(
    Array.from({ length: 41 }, (_, i) =>
      bench.call('POST', '/v1/drex/transfers', {
        from_wallet: ana,
        to_wallet: bia,
        amount: '1.00',
        metadata: i === 7 ? { note: 'a\0b' } : { note: 'good' },
      }),
    ),
  )
  expect(answers.filter(({ status }) => status === 202).length).toBe(40)
  expect(answers[7]?.status).toBe(400)
})

describe('a node that cannot now', () => {
  for (const [code, message] of [
    [-32_007, '50/second request limit reached - reduce calls per second'],
    [-32_005, 'You’ve exceeded the RPS limit available on the current plan.'],
    [-32_000, 'World state unavailable'],
    [-32_000, 'something nobody has seen'],
    [-32_601, 'Method not found'],
  ] as const) {
    test(`says “${message}” of a simulation: it is asked again, and the transfer is sent`, async () => {
      bench = await createBench({ isLying: true })
      const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
      let told = 0
      bench.node.lie(({ method, params }) =>
        method === 'eth_call' && isTransferOf(params, 100n) && told++ === 0
          ? { error: { code, message } }
          : undefined,
      )
      await bench.reaches(await bench.pay(ana, bia), 'confirmed')
      expect(told).toBeGreaterThan(1)
    })
  }

  test('says nothing of a token that it is asked about', async () => {
    bench = await createBench({ isLying: true })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    await bench.drex().stop?.()
    await bench.database.sql`delete from drex_tokens`
    bench.node.lie(({ params }) =>
      String((params[0] as { data?: string } | undefined)?.data).startsWith('0x313ce567')
        ? { error: { code: -32_000, message: 'something nobody has seen' } }
        : undefined,
    )
    await bench.restart()
    const body = { from_wallet: ana, to_wallet: bia, amount: '1.00' }
    expect((await bench.call('POST', '/v1/drex/transfers', body)).status).toBe(503)
    bench.node.lie(undefined)
    await bench.reaches(await bench.pay(ana, bia), 'confirmed')
  })
})

test('of a wallet of which more is frozen than it has, nothing is available', async () => {
  bench = await createBench({ isLying: true })
  const ana = await bench.wallet(10n)
  const asked = currencyAbi.encodeFunctionData('frozenBalanceOf', [ana])
  bench.node.lie(({ params }) =>
    (params[0] as { data?: string } | undefined)?.data === asked
      ? { result: `0x${'f'.padStart(64, '0')}` }
      : undefined,
  )
  const { json } = await bench.call('GET', `/v1/drex/balance/${ana}`)
  expect(json as object).toMatchObject({ total: '0.10', frozen: '0.15', available: '0.00' })
})

describe('one malformed answer', () => {
  test('an odd head at the start: the engine goes on when it is told again', async () => {
    bench = await createBench({ isLying: true, engine: false })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    let odd = 0
    bench.node.lie(({ method }) =>
      method === 'eth_blockNumber' && odd++ < 6 ? { result: 'latest' } : undefined,
    )
    void bench.drex().start?.()
    await bench.reaches(await bench.pay(ana, bia), 'confirmed')
    expect(odd).toBeGreaterThan(5)
  })

  test('a head far beyond the chain’s is forgotten', async () => {
    bench = await createBench({ isLying: true, engine: false })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
    let told = 0
    bench.node.lie(({ method }) =>
      method === 'eth_blockNumber' && told++ === 0 ? { result: '0xfffffff' } : undefined,
    )
    void bench.drex().start?.()
    await bench.reaches(await bench.pay(ana, bia), 'confirmed')
  })

  test('a receipt without a status is no revert, and holds up no other transfer', async () => {
    bench = await createBench({ isLying: true, env: { DREX_TESTNET_PROOFS: 'false' } })
    const [ana, bia] = [await bench.wallet(), await bench.wallet(500n)]
    let isLying = true
    bench.node.lie(async ({ method }, answer) => {
      const outcome = await answer()
      if (!isLying || method !== 'eth_getTransactionReceipt' || !('result' in outcome)) {
        return outcome
      }
      const receipt = outcome.result as { from: string } | null
      return receipt?.from === bia ? { result: { ...receipt, status: undefined } } : outcome
    })
    const [odd, good] = [await bench.pay(bia, ana), await bench.pay(ana, bia)]
    await bench.reaches(good, 'confirmed')
    await bench.reaches(odd, 'broadcast')
    isLying = false
    await bench.reaches(odd, 'confirmed')
  })
})

test('a node that tells too little gas: the end says that it ran out, not that the contract refused', async () => {
  bench = await createBench({ isLying: true })
  bench.node.lie(({ method }) => (method === 'eth_estimateGas' ? { result: '0xaae60' } : undefined))
  const { json } = await bench.call('POST', '/v1/contracts/deploy', {
    template: 'tokenized_asset',
    params: { name: 'Debênture 1', symbol: 'DEB1', total_supply: '1000000', decimals: 2 },
  })
  const { address } = json as { readonly address: string }
  const error = async () => {
    const found = await bench.call('GET', `/v1/contracts/${address}`)
    return (found.json as { readonly error: { code: string; message: string } | null }).error
  }
  await bench.until(async () => (await error()) !== null)
  expect(await error()).toMatchObject({
    code: 'REVERTED',
    message: expect.stringContaining('It ran out of gas'),
  })
})

test('a chain that began anew behind the same address gets nothing of the old one', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia)
  await bench.reaches(id, 'broadcast')
  // Another second, another genesis block.
  await Bun.sleep(1_001)
  const fresh = await createBench({ engine: false })
  try {
    bench.node.refuse(() => new Response('restarting', { status: 503 }))
    await bench.until(async () => (await bench.drex().health?.())?.status === 'degraded')
    bench.node.move(fresh.chain)
    const sent = bench.node.asked.get('eth_sendRawTransaction')
    bench.node.refuse(undefined)
    await bench.until(async () => (await bench.networkStatus()) === 'wrong_network')
    await Bun.sleep(100)
    expect(bench.node.asked.get('eth_sendRawTransaction')).toBe(sent as number)
    expect((await bench.read(id)).status).toBe('broadcast')
    // Back again, it goes on where it was.
    bench.node.move(bench.chain)
    await bench.chain.mine()
    await bench.reaches(id, 'confirmed')
  } finally {
    await fresh.stop()
  }
}, 60_000)
