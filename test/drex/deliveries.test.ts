/** Deliveries against payment as a resource: both sides here, either first, amid restarts and tokens that lie. */
import { expect, test } from 'bun:test'
import { Interface, id } from 'ethers'
import { advance } from '../../src/drex/agreements/advance.ts'
import { isCodeOf } from '../../src/drex/agreements/template-code.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { takeBacksMax } from '../../src/drex/sagas.ts'
import deliveryArtifact from '../../src/drex/templates/bond-delivery/generated/BondDelivery.json'
import defaultsArtifact from '../../src/drex/templates/default-accounts/generated/DefaultAccounts.json'
import directoryArtifact from '../../src/simulators/chain/contracts/generated/SandboxDirectory.json'
import { bondAbi, deliveryAbi, deployBond, deployDelivery, ltn, ltnTuple } from './bond-delivery.ts'
import { lyingMoney } from './lying-money.ts'
import { adminAddress, benchOfFile, currencyAbi } from './support.ts'

type Body = {
  readonly delivery_id: string
  readonly status: string
  readonly price: string
  readonly error: { readonly code: string } | null
  readonly steps: readonly { readonly kind: string; readonly status: string }[]
  readonly events: readonly { readonly event: string; readonly mismatch: string | null }[]
}

const held = 10_000_000n

let number = 20_261_123_000_000n

const bench = await benchOfFile({ isLying: true })
const seller = await bench.wallet(0n)
const buyer = await bench.wallet(held)
const bond = await deployBond(bench.admin, [seller, buyer])
const contract = await deployDelivery(bench.admin, bench.admin.token, bond)

const view = async (to: Hex, abi: Interface, name: string, ...args: readonly unknown[]) => {
  const data = abi.encodeFunctionData(name, args)
  const outcome = await bench.chain.request('eth_call', [{ to, data }, 'latest'])
  return BigInt((outcome as { result: string }).result)
}

/** 10.00 bonds of 994.12345678: 9 941.23 and some. */
const terms = (part: 'seller' | 'buyer', operation: bigint, changes: object = {}) => ({
  contract,
  operation_id: String(operation),
  part,
  bond: ltn,
  ...(part === 'seller'
    ? { wallet: seller, counterparty: buyer }
    : { wallet: buyer, counterparty: seller }),
  amount: '10.00',
  unit_price: '994.12345678',
  ...changes,
})

const path = '/v1/drex/deliveries'
const create = (...of: Parameters<typeof terms>) => bench.call('POST', path, terms(...of))
const made = async (...of: Parameters<typeof terms>): Promise<string> => {
  const { status, json } = await create(...of)
  expect([status, json as object]).toEqual([202, expect.anything()])
  return (json as Body).delivery_id
}
const read = async (id: string): Promise<Body> => (await bench.call('GET', `${path}/${id}`)).json
const reached = async (id: string, ...wanted: readonly string[]): Promise<Body> => {
  await bench.until(async () => wanted.includes((await read(id)).status))
  return read(id)
}
const allowance = (of: Hex) => view(bench.admin.token, currencyAbi, 'allowance', of, contract)
const told = (id: string): readonly unknown[] =>
  bench.events
    .filter(({ type, subject }) => type === 'drex.delivery.changed' && subject === id)
    .map(({ data }) => (data as { status: string }).status)

test('neither half moves before both sides have commanded, and both do then; a restart between forgets nothing', async () => {
  const operation = ++number
  // While nobody was followed, a node told of a head that the chain will not have for years.
  const { sql } = bench.database
  await sql`insert into drex_agreement_positions (network, block_number) values ('drex_testnet', 1000000000)
    on conflict (network) do update set block_number = excluded.block_number, block_hash = null`
  const ours = await made('seller', operation)
  await reached(ours, 'commanded')
  expect(await bench.balance(buyer)).toBe(held)
  await bench.restart()
  const theirs = await made('buyer', operation)
  const settled = await reached(theirs, 'settled')
  expect(settled).toMatchObject({
    price: '9941.23',
    error: null,
    events: [{ event: 'TradeSettled', mismatch: null }],
  })
  expect(settled.steps.map(({ kind, status }) => [kind, status])).toEqual([
    ...[
      ['allow', 'confirmed'],
      ['command', 'confirmed'],
    ],
  ])
  await reached(ours, 'settled')
  expect(told(ours)).toEqual(['commanded', 'settled'])
  expect(told(theirs).at(-1)).toBe('settled')
  expect([await bench.balance(buyer), await bench.balance(seller)]).toEqual([
    held - 994_123n,
    994_123n,
  ])
  expect(await view(bond, bondAbi, 'balanceOf', buyer, 1n)).toBe(1_000n)
  expect(await allowance(buyer)).toBe(0n)
}, 60_000)

test('several purchases at once: each allows its own price, and one that is cancelled gives back its own alone', async () => {
  const [one, two] = [++number, ++number]
  const first = await made('buyer', one)
  const second = await made('buyer', two, { amount: '1.00' })
  await Promise.all([first, second].map((id) => reached(id, 'commanded')))
  expect(await allowance(buyer)).toBe(994_123n + 99_412n)
  const key = { 'Idempotency-Key': `cancel-${first}` }
  const cancel = (id: string, headers = {}) =>
    bench.call('POST', `${path}/${id}/cancel`, { reason: 'no more' }, headers)
  const [answer, again] = [await cancel(first, key), await cancel(first, key)]
  expect([answer.status, again.status, again.headers.get('Idempotent-Replayed')]).toEqual([
    ...[202, 202, 'true'],
  ] as never)
  await reached(first, 'cancelled')
  await bench.until(async () => (await allowance(buyer)) === 99_412n)
  expect((await cancel(first)).status).toBe(409)
  const sale = await made('seller', two, { amount: '1.00' })
  await Promise.all([second, sale].map((id) => reached(id, 'settled')))
  expect((await cancel(second)).status).toBe(409)
  expect(await allowance(buyer)).toBe(0n)
}, 60_000)

test('a command that may be on the chain is not taken back as if nobody had seen it', async () => {
  await bench.restart({ DREX_ENGINE_ENABLED: 'false' })
  const id = await made('buyer', ++number)
  const { sql } = bench.database
  const cancel = async () =>
    (await bench.call('POST', `${path}/${id}/cancel`, { reason: 'no more' })).status
  const held = sql`jsonb_build_object('since', now(), 'candidates', '[]'::jsonb)`
  await sql`update drex_transactions set held = ${held} where subject = ${id} and kind = 'command'`
  expect(await cancel()).toBe(409)
  await sql`update drex_transactions set held = null where subject = ${id}`
  expect(await cancel()).toBe(202)
  await bench.restart()
  await reached(id, 'failed')
}, 60_000)

test('other terms, other codes, unknown bonds and too many digits are refused before anything is signed', async () => {
  const operation = ++number
  const ours = await made('seller', operation)
  await reached(ours, 'commanded')
  const differing = await create('buyer', operation, { amount: '11.00' })
  expect([differing.status, (differing.json as { error: object }).error]).toMatchObject([
    422,
    { code: 'CONTRACT_REVERTED', details: { revert: { name: 'TermsDiffer' } } },
  ])
  const refused = async (changes: object) => {
    const { status, json } = await create('buyer', ++number, changes)
    return [status, (json as { error: { details: { field: string } } }).error.details.field]
  }
  expect(await refused({ contract: bench.admin.token })).toEqual([400, 'contract'])
  expect(await refused({ bond: { ...ltn, code: '9' } })).toEqual([400, 'bond'])
  expect(await refused({ amount: '1.001' })).toEqual([400, 'amount'])
  expect(await refused({ unit_price: '1.000000001' })).toEqual([400, 'unit_price'])
  expect(await refused({ amount: '0.01', unit_price: '0.01' })).toEqual([400, 'amount'])
  const large = '9'.repeat(40)
  expect(await refused({ amount: large, unit_price: large })).toEqual([400, 'unit_price'])
  expect(await refused({ bond: { ...ltn, maturity_date: '1969-12-31' } })).toEqual([
    400,
    'bond.maturity_date',
  ])
  expect(await refused({ counterparty: buyer })).toEqual([400, 'counterparty'])
  expect(await allowance(buyer)).toBe(0n)
  const { json } = await bench.call('GET', `${path}?status=commanded`)
  const ids = (json as { deliveries: Body[] }).deliveries.map(({ delivery_id }) => delivery_id)
  expect(ids).toEqual([ours])
}, 60_000)

test('a command that the chain refuses has failed, and what was allowed for it is taken back', async () => {
  const operation = ++number
  await bench.restart({ DREX_ENGINE_ENABLED: 'false' })
  const ours = await made('buyer', operation)
  // By the time it is sent, the number is another's.
  const data = deliveryAbi.encodeFunctionData('trade', [
    operation,
    adminAddress,
    seller,
    0,
    ltnTuple,
    1n,
    10n ** 8n,
  ])
  await bench.admin.send(contract, data)
  await bench.restart()
  expect((await reached(ours, 'failed')).error?.code).toBe('SIMULATION_REVERTED')
  await bench.until(async () => (await allowance(buyer)) === 0n)
  expect(told(ours)).toEqual(['failed'])
}, 60_000)

test('what was to take an allowance back and did not is followed by another, after a while and not for ever', async () => {
  const { sql } = bench.database
  const ours = await made('buyer', ++number)
  await reached(ours, 'commanded')
  await bench.call('POST', `${path}/${ours}/cancel`, { reason: 'no more' })
  const back = () =>
    sql<{ status: string; isLater: boolean }[]>`
      select status, due_at > now() + interval '30 seconds' as "isLater" from drex_transactions
      where subject = ${ours} and kind = 'disallow' order by id`
  await bench.until(async () => (await back())[0]?.status === 'confirmed')
  for (let tries = 1; tries <= takeBacksMax; tries++) {
    await sql`
      update drex_transactions set status = 'failed' where subject = ${ours} and kind = 'disallow'`
    await sql.begin((tx) => advance(tx, async () => {}, [ours]))
    const all = await back()
    expect(all.length).toBe(Math.min(tries + 1, takeBacksMax))
    if (tries < takeBacksMax) expect(all.at(-1)).toEqual({ status: 'pending', isLater: true })
  }
}, 60_000)

test('a reason that the database cannot store holds up nobody’s deliveries', async () => {
  const operation = ++number
  await bench.restart({ DREX_ENGINE_ENABLED: 'false' })
  const ours = await made('buyer', operation)
  // A stranger uses the number, and takes it back.
  const command = [operation, adminAddress, seller, 0, ltnTuple, 1n, 10n ** 8n]
  await bench.admin.send(contract, deliveryAbi.encodeFunctionData('trade', command))
  const reason = deliveryAbi.encodeFunctionData('cancel', [operation, 'a\0b'])
  await bench.admin.send(contract, reason)
  await bench.restart()
  await reached(ours, 'failed', 'cancelled')
  const [sale, purchase] = [await made('seller', ++number), await made('buyer', number)]
  await Promise.all([sale, purchase].map((id) => reached(id, 'settled')))
}, 60_000)

test('commanded by both sides in one block: whoever comes second has the gas that settling takes', async () => {
  const { chain, node } = bench
  // What the seller allows stays allowed.
  await reached(await made('seller', ++number), 'commanded')
  const operation = ++number
  await chain.request('evm_setIntervalMining', [0])
  // As most nodes do: of the newest block, whatever waits for the next.
  node.lie(({ method, params }) =>
    method === 'eth_estimateGas' ? chain.request(method, [params[0], 'latest']) : undefined,
  )
  const stepOf = async (of: string, wanted: string) =>
    (await read(of)).steps.find(({ kind }) => kind === wanted)?.status
  try {
    const purchase = await made('buyer', operation)
    await bench.until(async () => {
      if ((await stepOf(purchase, 'allow')) === 'broadcast') await chain.mine()
      return (await stepOf(purchase, 'command')) === 'broadcast'
    })
    const sale = await made('seller', operation)
    await bench.until(async () => (await stepOf(sale, 'command')) === 'broadcast')
    await chain.mine()
    const isEnded = async (of: string) =>
      ['confirmed', 'reverted'].includes(String(await stepOf(of, 'command')))
    await bench.until(async () => (await isEnded(sale)) && (await isEnded(purchase)))
    await Promise.all([sale, purchase].map((each) => reached(each, 'settled', 'failed')))
    expect((await read(purchase)).status).toBe('settled')
    expect((await read(sale)).status).toBe('settled')
  } finally {
    node.lie(undefined)
    await chain.request('evm_setIntervalMining', [40])
  }
}, 60_000)

test('money that only says that it was paid: the contract settles, and the delivery is told as mismatched', async () => {
  const money = (await bench.admin.send(undefined, lyingMoney))!
  const other = await deployDelivery(bench.admin, money, bond)
  const operation = ++number
  const ours = await made('buyer', operation, { contract: other })
  const theirs = await made('seller', operation, { contract: other })
  for (const id of [ours, theirs]) {
    const { error, events } = await reached(id, 'mismatched', 'settled')
    expect([error?.code, events.length]).toEqual(['TRANSFER_MISMATCH', 1])
  }
  // Honest deliveries beside it go on.
  const [sale, purchase] = [await made('seller', ++number), await made('buyer', number)]
  await Promise.all([sale, purchase].map((id) => reached(id, 'settled')))
}, 60_000)

test('the other side is named by the start of its CNPJ, whose wallet the directory tells', async () => {
  const { admin, chain } = bench
  const unnamed = await create('buyer', ++number, { counterparty: '00038166' })
  expect(unnamed.json).toMatchObject({ error: { details: { field: 'directory' } } })
  const abi = new Interface(directoryArtifact.abi)
  const directory = (await admin.send(
    undefined,
    directoryArtifact.bytecode + abi.encodeDeploy([admin.token, adminAddress, 1n]).slice(2),
  ))!
  const data = abi.encodeFunctionData('addressDiscovery', [id('RealDigitalDefaultAccount')])
  const told = await chain.request('eth_call', [{ to: directory, data }, 'latest'])
  const accounts: Hex = `0x${(told as { result: string }).result.slice(26)}`
  const named = new Interface(defaultsArtifact.abi)
  await admin.send(accounts, named.encodeFunctionData('addDefaultAccount', [38_166n, seller]))
  await bench.restart({ DREX_TESTNET_DIRECTORY: directory })
  const unknown = await create('buyer', number, { counterparty: '99999999' })
  expect(unknown.json).toMatchObject({ error: { code: 'NOT_IN_DIRECTORY' } })
  const purchase = await made('buyer', number, { counterparty: '00038166' })
  const sale = await made('seller', number)
  await Promise.all([sale, purchase].map((each) => reached(each, 'settled')))
  await bench.restart()
}, 60_000)

test('code is that of a template whatever its constructor set, and nothing else is', () => {
  const { deployedBytecode: template } = deliveryArtifact
  const room = `7f${'00'.repeat(32)}`
  const set = template.toLowerCase().replaceAll(room, `7f${'ab'.repeat(32)}`)
  expect(set).not.toBe(template.toLowerCase())
  expect(isCodeOf(set, template.toLowerCase())).toBe(true)
  for (const at of [2, set.length - 1]) {
    const other = `${set.slice(0, at)}${set[at] === '0' ? '1' : '0'}${set.slice(at + 1)}`
    expect(isCodeOf(other, template.toLowerCase())).toBe(false)
  }
  expect(isCodeOf(`${set}00`, template.toLowerCase())).toBe(false)
  expect(isCodeOf('0x', template.toLowerCase())).toBe(false)
})
