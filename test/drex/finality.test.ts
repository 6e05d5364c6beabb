/** What was told and then left the chain is taken back, also if no answer says so at first. */
import { afterEach, expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import type { Lie } from './lying-node.ts'
import { type Bench, createBench } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

const confirmed = async (id: string): Promise<void> => {
  await bench.reaches(id, 'broadcast')
  await bench.chain.mine()
  await bench.reaches(id, 'confirmed')
}

/** Confirms a transfer, and takes its block out of the chain while the gateway does not see it. */
const confirmedThenGone = async (
  blocks: number,
  unseen: (ana: Hex, bia: Hex) => Promise<void> = async () => bench.drex().stop?.(),
): Promise<{ readonly id: string; readonly block: number }> => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const snapshot = (await bench.chain.request('evm_snapshot')) as { readonly result: unknown }
  const id = await bench.pay(ana, bia)
  await confirmed(id)
  await unseen(ana, bia)
  await bench.chain.request('evm_revert', [snapshot.result])
  await bench.chain.request('evm_increaseTime', [1])
  for (let i = 0; i < blocks; i++) await bench.chain.mine()
  return { id, block: (await bench.read(id)).block_number! }
}

const takenBack = async (id: string): Promise<void> => {
  await bench.until(async () => {
    await bench.chain.mine()
    const { corrections, status } = await bench.read(id)
    return status === 'confirmed' && corrections.length > 0
  })
  expect((await bench.read(id)).corrections).toMatchObject([
    { from: 'confirmed', code: 'REORGANISED' },
  ])
}

test('a call and a deployment that were told are taken back, and told to be so', async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const snapshot = (await bench.chain.request('evm_snapshot')) as { readonly result: unknown }
  const { token } = bench.admin
  const called = await bench.call('POST', `/v1/contracts/${token}/call`, {
    function: 'approve',
    params: { spender: bia, amount: '5' },
    signer_wallet: ana,
  })
  const deployed = await bench.call('POST', '/v1/contracts/deploy', {
    template: 'tokenized_asset',
    params: { name: 'Asset', symbol: 'AST', total_supply: '1', decimals: 0, owner: ana },
    signer_wallet: ana,
  })
  const { transaction_id: id } = called.json as { readonly transaction_id: string }
  const { contract_id } = deployed.json as { readonly contract_id: string }
  const told = (subject: string) =>
    bench.events.flatMap((each) => {
      if (each.subject !== subject) return []
      return [[each.type, (each.data as { status: string }).status, each.account]]
    })
  const isTold = (count: number) => async () => {
    await bench.chain.mine()
    return told(id).length === count && told(contract_id).length === count
  }
  await bench.until(isTold(1))
  await bench.chain.request('evm_revert', [snapshot.result])
  await bench.chain.request('evm_increaseTime', [1])
  await bench.until(isTold(3))
  const account = 'default'
  expect(told(id)).toEqual([
    ['drex.contract.called', 'confirmed', account],
    ['drex.contract.called', 'broadcast', account],
    ['drex.contract.called', 'confirmed', account],
  ])
  expect(told(contract_id)).toEqual([
    ['drex.contract.deployed', 'confirmed', account],
    ['drex.contract.corrected', 'broadcast', account],
    ['drex.contract.deployed', 'confirmed', account],
  ])
  const found = await bench.database.sql<[{ address: Hex }]>`
    select address from drex_contracts where id = ${contract_id}`
  for (const of of [`${token}/calls/${id}`, found[0].address]) {
    const { json } = await bench.call('GET', `/v1/contracts/${of}`)
    expect((json as { corrections: object[] }).corrections).toMatchObject([
      { from: 'confirmed', to: 'broadcast', code: 'REORGANISED' },
    ])
  }
}, 60_000)

/** How often one question is asked until its answer is the chain's: more often than others than the watch ask it. */
const liesMax = 12

/** @param wrong in place of the answers that say what is at a height */
const untilAsked =
  (block: number, wrong: unknown): Lie =>
  ({ method, params: [at] }) => {
    if (method !== 'eth_getBlockByNumber' || Number(at) !== block || lies++ >= liesMax) return
    return { result: wrong }
  }
let lies = 0

for (const [what, wrong] of [
  ['malformed', { hash: '0x' }],
  ['that there is none', null],
] as const) {
  test(`the first answers about its block are ${what}: it is asked for again`, async () => {
    const { id, block } = await confirmedThenGone(3)
    lies = 0
    bench.node.lie(untilAsked(block, wrong))
    await bench.restart()
    await takenBack(id)
  }, 60_000)
}

test('the chain is shorter at first', async () => {
  const { id } = await confirmedThenGone(0)
  await bench.restart()
  const asked = () => bench.node.asked.get('eth_blockNumber') ?? 0
  const before = asked()
  await bench.until(async () => asked() > before + 5)
  await takenBack(id)
}, 60_000)

test('the first head that is told is beyond any', async () => {
  const { id } = await confirmedThenGone(3)
  let told = 0
  bench.node.lie(({ method }) =>
    method === 'eth_blockNumber' && told++ < 6 ? { result: '0xfffffff' } : undefined,
  )
  await bench.restart()
  await takenBack(id)
}, 60_000)

test('more blocks than are read after a pause were made meanwhile', async () => {
  const { id } = await confirmedThenGone(80, async () => {
    bench.node.refuse(() => new Response('away', { status: 503 }))
    await bench.until(async () => (await bench.drex().health?.())?.status === 'degraded')
  })
  bench.node.refuse(undefined)
  await takenBack(id)
}, 60_000)

test('one that cannot be taken back yet holds up no other', async () => {
  let other = ''
  const { id } = await confirmedThenGone(3, async (ana, bia) => {
    other = await bench.pay(ana, bia)
    await confirmed(other)
    await bench.drex().stop?.()
  })
  const { sql } = bench.database
  await sql`
    alter table drex_transactions add constraint not_stored
    check (status <> 'broadcast' or subject <> ${sql.unsafe(`'${id}'`)}) not valid`
  await bench.restart()
  await bench.until(async () => (await bench.read(other)).corrections.length > 0)
  await sql`alter table drex_transactions drop constraint not_stored`
  await takenBack(id)
  await takenBack(other)
}, 60_000)
