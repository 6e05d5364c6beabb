/** A permit calls with the address that its deployment got, whoever reads what it does: for more fee, or found outside. */
import { afterEach, expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import rulesArtifact from '../../src/simulators/chain/contracts/generated/AccountRules.json'
import { sendOutside } from './outside.ts'
import { rewind } from './rewind.ts'
import { adminAddress, type Bench, type BenchOptions, createBench, sealer } from './support.ts'

const rulesAbi = new Interface(rulesArtifact.abi)
const gwei = 1_000_000_000n

let bench: Bench
afterEach(() => bench.stop())

type Contract = { readonly contract_id: string; readonly address: Hex; readonly status: string }

/** A gateway whose network has account rules, with a wallet that they know; blocks are made when told. */
const begin = async (options: BenchOptions = {}): Promise<{ rules: Hex; wallet: Hex }> => {
  bench = await createBench({ ...options, chain: { mining: 'manual', ...options.chain } })
  const deploy = rulesArtifact.bytecode + rulesAbi.encodeDeploy([adminAddress]).slice(2)
  const rules = (await bench.admin.send(undefined, deploy))!
  const wallet = await bench.wallet(0n)
  await bench.admin.send(rules, rulesAbi.encodeFunctionData('addAccount', [wallet]))
  await bench.chain.request('hardhat_setBalance', [wallet, '0x8ac7230489e80000'])
  await bench.restart({ DREX_TESTNET_PERMISSIONING: rules })
  return { rules, wallet }
}

const deployBy = async (signer_wallet: Hex): Promise<string> => {
  const params = { name: 'Asset', symbol: 'AST', total_supply: '1000', decimals: 0 }
  const body = { template: 'tokenized_asset', params, signer_wallet }
  const { status, json } = await bench.call('POST', '/v1/contracts/deploy', body)
  expect(status).toBe(202)
  return (json as Contract).contract_id
}

const contractOf = async (id: string): Promise<Contract | undefined> => {
  const { json } = await bench.call('GET', '/v1/contracts?limit=200')
  return (json as { contracts: Contract[] }).contracts.find(({ contract_id }) => contract_id === id)
}

const stepOf = async (contract: string, kind: 'deploy' | 'permit') => {
  const [row] = await bench.database.sql<{ id: string; status: string; hash: Hex }[]>`
    select id, status, hash from drex_transactions where subject = ${contract} and kind = ${kind}`
  return row!
}
const permitOf = (contract: string) => stepOf(contract, 'permit')

const permitReaches = (contract: string, wanted: string): Promise<void> =>
  bench.until(async () => {
    if ((await permitOf(contract)).status === wanted) return true
    await bench.chain.mine()
    return false
  })

/** A contract that is on the chain, and its permit signed, but in no node's pool. */
const withLostPermit = async (wallet: Hex): Promise<string> => {
  const contract = await deployBy(wallet)
  await bench.until(async () => (await stepOf(contract, 'deploy')).status === 'broadcast')
  bench.chain.faults.set([{ kind: 'dropped', method: 'eth_sendRawTransaction' }])
  await permitReaches(contract, 'broadcast')
  return contract
}

const isTarget = async (rules: Hex, address: Hex): Promise<boolean> => {
  const data = rulesAbi.encodeFunctionData('verifyTarget', [address])
  const outcome = await bench.chain.request('eth_call', [{ to: rules, data }, 'latest'])
  return BigInt((outcome as { result: string }).result) === 1n
}

test('a permit that is sent again for a higher fee adds the contract', async () => {
  const { rules, wallet } = await begin({
    chain: { gasPrice: gwei, balances: { [adminAddress]: 10n ** 20n } },
    env: { DREX_TESTNET_GAS_POLICY: 'eip1559' },
  })
  const contract = await withLostPermit(wallet)
  const { id } = await permitOf(contract)
  await bench.until(async () => {
    await bench.chain.mine()
    const bumps = await bench.database.sql`
      select hash from drex_attempts where transaction_id = ${id} and kind = 'bump'`
    return bumps.length > 0
  })
  bench.chain.faults.set([])
  await permitReaches(contract, 'confirmed')
  expect(await isTarget(rules, (await contractOf(contract))!.address)).toBe(true)
}, 60_000)

test('a copy from before both were signed finds the deployment on the chain, and the permit with it', async () => {
  const { rules, wallet } = await begin()
  const contract = await deployBy(wallet)
  await permitReaches(contract, 'confirmed')
  const { hash } = await permitOf(contract)
  await bench.drex().stop?.()
  await rewind(bench.database.sql, contract)
  await bench.restart({ DREX_TESTNET_PERMISSIONING: rules })
  await permitReaches(contract, 'confirmed')
  expect((await permitOf(contract)).hash).toBe(hash)
  const count = await bench.chain.request('eth_getTransactionCount', [wallet, 'latest'])
  expect(count).toEqual({ result: '0x2' })
}, 60_000)

test('a permit that another copy of the book has sent is known as such', async () => {
  const { rules, wallet } = await begin()
  const contract = await deployBy(wallet)
  await permitReaches(contract, 'confirmed')
  const { id, hash } = await permitOf(contract)
  await bench.drex().stop?.()
  await bench.database.sql`
    update drex_transactions set status = 'pending', nonce = null, hash = null, raw = null, block_number = null,
      block_hash = null, mined_hash = null, succeeded = null, signed_at = null, mined_at = null, settled_at = null,
      held = jsonb_build_object('since', now(), 'candidates', '[]'::jsonb) where id = ${id}`
  await bench.restart({ DREX_TESTNET_PERMISSIONING: rules })
  const { address } = (await contractOf(contract))!
  const data = rulesAbi.encodeFunctionData('addTarget', [address])
  const { json } = await bench.call('GET', '/v1/drex/held')
  expect(json as object).toMatchObject({ held: [{ transaction_id: id, data }] })
  const decision = { decision: 'sent', tx_hash: hash }
  expect((await bench.call('POST', `/v1/drex/held/${id}/resolve`, decision)).status).toBe(200)
  await permitReaches(contract, 'confirmed')
  expect((await permitOf(contract)).hash).toBe(hash)
}, 60_000)

test('a permit that was signed elsewhere for another fee is ours, and is not signed again', async () => {
  const { rules, wallet } = await begin()
  const contract = await withLostPermit(wallet)
  const { address } = (await contractOf(contract))!
  const data = rulesAbi.encodeFunctionData('addTarget', [address])
  const [other] = await sendOutside({ ...bench, sealer }, wallet, [{ to: rules, data }])
  await bench.chain.mine()
  bench.chain.faults.set([])
  await permitReaches(contract, 'confirmed')
  const [row] = await bench.database.sql<{ mined: Hex; corrections: number }[]>`
    select mined_hash as mined, (select count(*)::int from drex_corrections c where c.transaction_id = t.id) as corrections
    from drex_transactions t where subject = ${contract} and kind = 'permit'`
  expect(row).toEqual({ mined: other!, corrections: 0 })
}, 60_000)
