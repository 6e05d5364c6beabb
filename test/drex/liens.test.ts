/** Liens as a resource: made by the owner, let go by a beneficiary of another account, taken back at the expiry. */
import { afterAll, beforeAll, expect, setSystemTime, test } from 'bun:test'
import { Interface, id } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import directoryArtifact from '../../src/simulators/chain/contracts/generated/SandboxDirectory.json'
import { testApp, testKey } from '../support/app.ts'
import { lyingMoney } from './lying-money.ts'
import { adminAddress, type Bench, createBench, currencyAbi } from './support.ts'

type Body = {
  readonly lien_id: string
  readonly status: string
  readonly contract: Hex | null
  readonly pledged: string
  readonly error: { readonly code: string } | null
  readonly steps: readonly { readonly kind: string; readonly status: string }[]
  readonly events: readonly { readonly event: string; readonly mismatch: string | null }[]
}

const directoryAbi = new Interface(directoryArtifact.abi)
const bank = testKey('*')
Object.assign(bank.record, { account: 'bank' })
const path = '/v1/drex/liens'
const dayMs = 86_400_000

let bench: Bench
let directory: Hex
let owner: Hex
/** A wallet of the bank's account. */
let beneficiary: Hex

type Answer = { readonly status: number; readonly json: Body }

const byBank = async (method: string, at: string, body?: object): Promise<Answer> => {
  const app = testApp(bench.drex().routes ?? [], { keys: [bank.record] })
  const response = await app.call(method, at, { key: bank.key, ...(body && { body }) })
  return { status: response.status, json: (await response.json()) as Body }
}

beforeAll(async () => {
  bench = await createBench()
  const terms = directoryAbi.encodeDeploy([bench.admin.token, adminAddress, 100_000n])
  directory = (await bench.admin.send(undefined, directoryArtifact.bytecode + terms.slice(2)))!
  const data = directoryAbi.encodeFunctionData('addressDiscovery', [id('RealDigitalEnableAccount')])
  const told = await bench.chain.request('eth_call', [{ to: directory, data }, 'latest'])
  const access = `0x${(told as { result: string }).result.slice(26)}`
  await bench.admin.currency('grantRole', id('ACCESS_ROLE'), access)
  await bench.restart({ DREX_TESTNET_DIRECTORY: directory })
  owner = await bench.wallet(100_000n)
  const { json } = await byBank('POST', '/v1/wallets', { type: 'managed', label: 'bank' })
  beneficiary = (json as unknown as { address: string }).address.toLowerCase() as Hex
})
afterAll(() => bench.stop())

const terms = (changes: object = {}) => ({
  owner_wallet: owner,
  beneficiary,
  amount: '500.00',
  expiry: new Date(Date.now() + 30 * dayMs).toISOString(),
  ...changes,
})
const make = async (changes: object = {}): Promise<string> => {
  const { status, json } = await bench.call('POST', path, terms(changes))
  expect([status, json as object]).toEqual([202, expect.anything()])
  return (json as Body).lien_id
}
const read = async (lien: string): Promise<Body> =>
  (await bench.call('GET', `${path}/${lien}`)).json
const reached = async (lien: string, status: string, pledged?: string): Promise<Body> => {
  await bench.until(async () => {
    const body = await read(lien)
    return body.status === status && (pledged === undefined || body.pledged === pledged)
  })
  return read(lien)
}
const act = (lien: string, body: object) => bench.call('POST', `${path}/${lien}/acts`, body)
const told = (lien: string) =>
  bench.events
    .filter(({ type, subject }) => type === 'drex.lien.changed' && subject === lien)
    .map(({ data }) => data as { status: string; pledged: string })
    .map(({ status, pledged }) => [status, pledged])

test('pledged in one request amid a restart, let go in parts by another account, and what is left by nobody else', async () => {
  await bench.restart({ DREX_TESTNET_DIRECTORY: directory, DREX_ENGINE_ENABLED: 'false' })
  const lien = await make()
  expect((await read(lien)).status).toBe('pending')
  expect((await act(lien, { act: 'pledge', amount: '1.00' })).status).toBe(409)
  await bench.restart({ DREX_TESTNET_DIRECTORY: directory })
  await reached(lien, 'active')
  // The contract may be heard before the step itself has ended.
  await bench.until(async () => (await read(lien)).steps.some(({ kind }) => kind === 'revoke'))
  const made = await read(lien)
  expect(made.steps.map(({ kind, status }) => [kind, status])).toEqual([
    ...['deploy', 'call', 'approve', 'pledge'].map((kind) => [kind, 'confirmed']),
    ['revoke', expect.anything()],
  ])
  const contract = made.contract!.toLowerCase() as Hex
  expect(await bench.balance(contract)).toBe(50_000n)
  expect((await bench.call('GET', `/v1/contracts/${contract}`)).json).toMatchObject({
    status: 'deployed',
    template: 'lien',
  })
  // Another account's lien does not exist; its beneficiary follows it as its own.
  expect((await byBank('GET', `${path}/${lien}`)).status).toBe(404)
  const adopted = await byBank('POST', `${path}/adopt`, { contract, wallet: beneficiary })
  expect([adopted.status, adopted.json.status, adopted.json.pledged]).toEqual([
    ...([201, 'active', '500.00'] as const),
  ])
  const theirs = adopted.json.lien_id
  const early = await act(lien, { act: 'reclaim' })
  expect([early.status, (await act(lien, { act: 'release', amount: '1.00' })).status]).toEqual([
    ...[422, 422],
  ])
  const release = (amount: string) =>
    byBank('POST', `${path}/${theirs}/acts`, { act: 'release', amount })
  expect((await release('200.00')).status).toBe(202)
  await reached(lien, 'active', '300.00')
  await bench.until(
    async () => (await byBank('GET', `${path}/${theirs}`)).json.pledged === '300.00',
  )
  await bench.until(async () => (await release('300.00')).status === 202)
  await reached(lien, 'released')
  expect(await bench.balance(owner)).toBe(100_000n)
  expect(told(lien)).toEqual([
    ...[
      ['active', '500.00'],
      ['active', '300.00'],
      ['released', '0.00'],
    ],
  ])
}, 60_000)

test('a pledge beyond what is there has failed and leaves no allowance; once there is more, it can be pledged', async () => {
  const lien = await make({ amount: '5000.00' })
  const failed = await reached(lien, 'failed')
  expect(failed.error?.code).toBe('SIMULATION_REVERTED')
  const contract = failed.contract!
  const data = currencyAbi.encodeFunctionData('allowance', [owner, contract])
  await bench.until(async () => {
    const told = await bench.chain.request('eth_call', [{ to: bench.admin.token, data }, 'latest'])
    return BigInt((told as { result: string }).result) === 0n
  })
  await bench.until(async () => (await act(lien, { act: 'pledge', amount: '5.00' })).status === 202)
  await reached(lien, 'active', '5.00')
}, 60_000)

test('a token that only says that it was pledged: the lien is told as mismatched', async () => {
  const token = (await bench.admin.send(undefined, lyingMoney))!
  const lien = await make({ token })
  expect((await reached(lien, 'mismatched')).error?.code).toBe('TRANSFER_MISMATCH')
}, 60_000)

test('refused before anything is sent: strangers, other codes, past expiries, acts without a sum', async () => {
  const contract = (await read(await make({ amount: '1.00' }))).contract ?? bench.admin.token
  const status = async (at: string, body: object) => (await bench.call('POST', at, body)).status
  expect(await status(path, terms({ beneficiary: owner }))).toBe(400)
  expect(await status(path, terms({ expiry: '2020-01-01T00:00:00Z' }))).toBe(400)
  expect(await status(path, terms({ amount: '1.001' }))).toBe(400)
  expect(await status(`${path}/adopt`, { contract: bench.admin.token, wallet: owner })).toBe(400)
  expect(await status(`${path}/adopt`, { contract, wallet: beneficiary })).toBe(404)
  const other = await bench.wallet(0n)
  const lien = await reached((await list())[0]!.lien_id, 'active')
  expect(await status(`${path}/adopt`, { contract: lien.contract, wallet: other })).toBe(400)
  expect(await status(`${path}/${lien.lien_id}/acts`, { act: 'pledge' })).toBe(400)
  expect(await status(`${path}/${lien.lien_id}/acts`, { act: 'reclaim', amount: '1.00' })).toBe(400)
}, 60_000)

const list = async (): Promise<readonly Body[]> => {
  const { json } = await bench.call('GET', path)
  return (json as { liens: Body[] }).liens
}

test('a repetition behind the expiry is answered as the first was', async () => {
  const body = terms({ amount: '1.00' })
  const post = () => bench.call('POST', path, body, { 'Idempotency-Key': 'pledged-once' })
  const first = await post()
  expect(first.status).toBe(202)
  setSystemTime(Date.now() + 31 * dayMs)
  try {
    const again = await post()
    expect([again.status, (again.json as Body).lien_id]).toEqual([
      202,
      (first.json as Body).lien_id,
    ])
  } finally {
    setSystemTime()
  }
})

test('from the expiry on the owner takes back what is left', async () => {
  const lien = await make({ amount: '10.00' })
  await reached(lien, 'active')
  await bench.chain.request('evm_increaseTime', [31 * 86_400])
  await bench.until(async () => (await act(lien, { act: 'reclaim' })).status === 202)
  await reached(lien, 'reclaimed', '0.00')
}, 60_000)
