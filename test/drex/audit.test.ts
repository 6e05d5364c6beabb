import { describe, expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import rulesArtifact from '../../src/simulators/chain/contracts/generated/AccountRules.json'
import { adminAddress, benchOfFile, createBench, type TransferBody } from './support.ts'

const coins: Hex = '0x8ac7230489e80000'

type Entry = {
  readonly actor: string
  readonly action: string
  readonly outcome: string
  readonly request: string | null
}

const bench = await benchOfFile({
  chain: { mining: 'manual', gasPrice: 1_000n, balances: { [adminAddress]: 10n ** 20n } },
  env: { DREX_TESTNET_GAS_POLICY: 'legacy' },
})
const ana = await bench.wallet()
const bia = await bench.wallet(0n)
await bench.chain.request('hardhat_setBalance', [ana, coins])

const entries = async (object: string): Promise<readonly Entry[]> => [
  ...(await bench.database.sql<Entry[]>`
    select actor, action, outcome, request_id as request from audit_log
    where object = ${object} order by id`),
]

const pay = (name: string, from = ana) =>
  bench.call(
    ...(['POST', '/v1/drex/transfers'] as const),
    { from_wallet: from, to_wallet: bia, amount: '1.00' },
    { 'Idempotency-Key': name, 'X-Request-Id': `request-${name}` },
  )

/** The public id of the key that everything is asked with. */
const keyId = async (): Promise<string> => {
  const [row] = await bench.database.sql<{ by: string }[]>`
    select created_by as by from drex_wallets where address = ${ana}`
  return row?.by ?? 'nobody'
}

const hasStatus = (id: string, wanted: string) =>
  bench.until(async () => {
    const { json } = await bench.call('GET', `/v1/drex/transfers/${id}`)
    return (json as TransferBody).status === wanted
  })

describe('who did what is recorded', () => {
  test('a transfer, once per Idempotency-Key, and its cancellation by a replacement', async () => {
    const id = ((await pay('a')).json as TransferBody).transfer_id
    expect(((await pay('a')).json as TransferBody).transfer_id).toBe(id)
    await hasStatus(id, 'broadcast')
    const cancelled = await bench.call('POST', `/v1/drex/transfers/${id}/cancel`, undefined, {
      'X-Request-Id': 'request-cancel',
    })
    expect(cancelled.status).toBe(200)
    const actor = await keyId()
    expect(await entries(id)).toEqual([
      { actor, action: 'drex.transfer', outcome: 'pending', request: 'request-a' },
      { actor, action: 'drex.cancel', outcome: 'requested', request: 'request-cancel' },
    ])
    await bench.chain.mine()
    await hasStatus(id, 'cancelled')
    expect((await bench.call('POST', `/v1/drex/transfers/${id}/cancel`)).status).toBe(409)
    expect(await entries(id)).toHaveLength(2)
  })

  test('one refused leaves no entry', async () => {
    const before = await bench.database.sql`select id from audit_log`
    expect((await pay('refused', bia.replace(/^0x..../, '0x0bad') as Hex)).status).toBe(404)
    expect(await bench.database.sql`select id from audit_log`).toHaveLength(before.length)
  })

  test('a wallet, once per Idempotency-Key', async () => {
    const create = () =>
      bench.call(...(['POST', '/v1/wallets', { type: 'managed', label: 'till' }] as const), {
        'Idempotency-Key': 'wallet',
        'X-Request-Id': 'request-wallet',
      })
    const { wallet_id: id } = (await create()).json as { readonly wallet_id: string }
    await create()
    const actor = await keyId()
    expect(await entries(id)).toEqual([
      { actor, action: 'wallets.create', outcome: 'created', request: 'request-wallet' },
    ])
  })
})

test('an engine that does not run: what waits is cancelled at once, and recorded as such', async () => {
  const idle = await createBench({ engine: false })
  try {
    const wallet = async () => {
      const { json } = await idle.call('POST', '/v1/wallets', { type: 'managed', label: 'idle' })
      return (json as { readonly address: string }).address
    }
    const body = { from_wallet: await wallet(), to_wallet: await wallet(), amount: '1.00' }
    const taken = await idle.call('POST', '/v1/drex/transfers', body)
    const id = (taken.json as TransferBody).transfer_id
    expect((await idle.call('POST', `/v1/drex/transfers/${id}/cancel`)).status).toBe(200)
    expect(
      await idle.database.sql`
        select action, outcome from audit_log where object = ${id} order by id`,
    ).toEqual([
      { action: 'drex.transfer', outcome: 'pending' },
      { action: 'drex.cancel', outcome: 'cancelled' },
    ] as never)
  } finally {
    await idle.stop()
  }
})

test('contracts deployed, registered and called; a view leaves no entry', async () => {
  const free = await createBench()
  try {
    const owner = await free.wallet()
    const recorded = (object: string) => free.database.sql<{ action: string; outcome: string }[]>`
      select action, outcome from audit_log where object = ${object} order by id`
    const deployment = await free.call('POST', '/v1/contracts/deploy', {
      template: 'tokenized_asset',
      network: 'drex_testnet',
      params: { name: 'Debênture', symbol: 'DEB', total_supply: '10.00', decimals: 2, owner },
    })
    const { contract_id: id, address } = deployment.json as {
      readonly contract_id: string
      readonly address: string
    }
    expect([...(await recorded(id))]).toEqual([{ action: 'contracts.deploy', outcome: 'pending' }])
    await free.until(async () => {
      const { json } = await free.call('GET', `/v1/contracts/${address}`)
      return (json as { readonly status: string }).status === 'deployed'
    })
    const call = (body: object) => free.call('POST', `/v1/contracts/${address}/call`, body)
    const count = async () => (await free.database.sql`select id from audit_log`).length
    const before = await count()
    expect((await call({ function: 'balanceOf', params: [owner] })).status).toBe(200)
    expect(await count()).toBe(before)
    const sent = await call({ function: 'transfer', params: [bia, '100'], signer_wallet: owner })
    expect(sent.status).toBe(200)
    const { transaction_id: transaction } = sent.json as { readonly transaction_id: string }
    expect([...(await recorded(transaction))]).toEqual([
      { action: 'contracts.call', outcome: 'pending' },
    ])
    const rules = new Interface(rulesArtifact.abi)
    const terms = rules.encodeDeploy([owner]).slice(2)
    const target = await free.admin.send(undefined, rulesArtifact.bytecode + terms)
    const registered = await free.call('POST', '/v1/contracts', {
      address: target,
      network: 'drex_testnet',
      abi: [
        {
          type: 'function',
          name: 'decimals',
          inputs: [],
          stateMutability: 'pure',
          outputs: [{ type: 'uint8' }],
        },
      ],
    })
    const { contract_id: other } = registered.json as { readonly contract_id: string }
    expect([...(await recorded(other))]).toEqual([
      { action: 'contracts.register', outcome: 'registered' },
    ])
  } finally {
    await free.stop()
  }
})
