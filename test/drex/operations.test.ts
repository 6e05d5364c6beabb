/** Operations with the network's own contracts, and transfers to institutions by their CNPJ. */
import { expect, test } from 'bun:test'
import { Interface, id } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { operationNames } from '../../src/drex/operations/index.ts'
import defaultsArtifact from '../../src/drex/templates/default-accounts/generated/DefaultAccounts.json'
import directoryArtifact from '../../src/simulators/chain/contracts/generated/SandboxDirectory.json'
import { testApp, testKey } from '../support/app.ts'
import { adminAddress, benchOfFile, type TransferBody } from './support.ts'

type OperationBody = {
  readonly operation_id: string
  readonly operation: string
  readonly status: string
  readonly tx_hash: string | null
  readonly error: { readonly code: string } | null
  readonly steps: readonly { readonly kind: string; readonly status: string }[]
}

const directoryAbi = new Interface(directoryArtifact.abi)
const defaultsAbi = new Interface(defaultsArtifact.abi)
const cnpj8 = '00038166'

const find = async (name: string): Promise<Hex> => {
  const data = directoryAbi.encodeFunctionData('addressDiscovery', [id(name)])
  const outcome = await bench.chain.request('eth_call', [{ to: directory, data }, 'latest'])
  return `0x${(outcome as { result: string }).result.slice(26)}`
}

const bench = await benchOfFile()
const terms = directoryAbi.encodeDeploy([bench.admin.token, adminAddress, 100_000n])
const directory = (await bench.admin.send(undefined, directoryArtifact.bytecode + terms.slice(2)))!
await bench.restart({ DREX_TESTNET_DIRECTORY: directory })
const ana = await bench.wallet()
const bia = await bench.wallet(0n)
const access = await find('RealDigitalEnableAccount')
const str = await find('STR')
await bench.admin.currency('grantRole', id('ACCESS_ROLE'), access)
for (const role of ['MINTER_ROLE', 'MOVER_ROLE']) {
  await bench.admin.currency('grantRole', id(role), str)
}
await bench.admin.currency('grantRole', id('FREEZER_ROLE'), ana)
await bench.admin.send(
  await find('RealDigitalDefaultAccount'),
  defaultsAbi.encodeFunctionData('addDefaultAccount', [BigInt(cnpj8), bia]),
)

const ask = (operation: string, params: object, signer: Hex = ana, more: object = {}) =>
  bench.call('POST', '/v1/drex/operations', {
    operation,
    params,
    signer_wallet: signer,
    ...more,
  })

const read = async (operationId: string) =>
  (await bench.call('GET', `/v1/drex/operations/${operationId}`)).json as OperationBody

const perform = async (operation: string, params: object, signer: Hex = ana) => {
  const { status, json } = await ask(operation, params, signer)
  expect([operation, status, json as object]).toEqual([operation, 202, expect.anything()])
  const { operation_id } = json as OperationBody
  await bench.until(async () =>
    ['confirmed', 'failed', 'reverted'].includes((await read(operation_id)).status),
  )
  return read(operation_id)
}

const balanceOf = async (wallet: Hex) =>
  (await bench.call('GET', `/v1/drex/balance/${wallet}`)).json as Record<string, string | boolean>

test('an account is admitted through the contract of the directory, and leaves by itself', async () => {
  const created = await bench.call('POST', '/v1/wallets', { type: 'managed', label: 'new' })
  const { address } = created.json as { address: Hex }
  const wallet = address.toLowerCase() as Hex
  const admitted = await perform('enable_account', { wallet })
  expect(admitted).toMatchObject({ operation: 'enable_account', status: 'confirmed', error: null })
  expect(admitted.steps.map(({ kind, status }) => [kind, status])).toEqual([['call', 'confirmed']])
  expect(await balanceOf(wallet)).toMatchObject({ authorised: true })
  await perform('disable_account', { wallet }, wallet)
  expect(await balanceOf(wallet)).toMatchObject({ authorised: false })
  // Who is not admitted admits nobody, and is told before anything is signed.
  const refused = await ask('enable_account', { wallet }, wallet)
  expect([refused.status, (refused.json as { error: { code: string } }).error.code]).toEqual([
    ...[422, 'CONTRACT_REVERTED'],
  ])
  await bench.until(async () =>
    bench.events.some(({ subject }) => subject === admitted.operation_id),
  )
  const told = bench.events.filter(({ subject }) => subject === admitted.operation_id)
  expect(told).toEqual([
    expect.objectContaining({
      type: 'drex.operation.changed',
      data: expect.objectContaining({ operation: 'enable_account', status: 'confirmed' }),
    }),
  ])
  const calls = bench.events.filter(({ type }) => type === 'drex.contract.called')
  expect(calls).toEqual([])
}, 60_000)

test('a balance is frozen and let go of in parts, and only by who has the role', async () => {
  await perform('freeze_balance', { wallet: ana, amount: '400.00' })
  expect(await balanceOf(ana)).toMatchObject({ frozen: '400.00', available: '600.00' })
  await perform('unfreeze_balance', { wallet: ana, amount: '150.00' })
  expect(await balanceOf(ana)).toMatchObject({ frozen: '250.00' })
  await perform('unfreeze_balance', { wallet: ana, amount: '250.00' })
  expect((await ask('freeze_balance', { wallet: ana, amount: '1.00' }, bia)).status).toBe(422)
  expect((await ask('freeze_balance', { wallet: ana, amount: '1.001' })).status).toBe(400)
}, 60_000)

test('reserves become currency of the signer, and the reverse', async () => {
  const before = await bench.balance(bia)
  await perform('request_mint', { amount: '1000.00' }, bia)
  expect(await bench.balance(bia)).toBe(before + 100_000n)
  await perform('request_burn', { amount: '400.00' }, bia)
  expect(await bench.balance(bia)).toBe(before + 60_000n)
  expect((await ask('request_mint', { amount: '1000.01' }, bia)).status).toBe(422)
}, 60_000)

test('a transfer finds an institution by the start of its CNPJ, as long as it has a wallet', async () => {
  const pay = (body: object) =>
    bench.call('POST', '/v1/drex/transfers?full_addresses=true', {
      from_wallet: ana,
      amount: '7.00',
      ...body,
    })
  const { status, json } = await pay({ to_wallet: cnpj8 })
  expect(status).toBe(202)
  const { transfer_id, to_wallet } = json as TransferBody
  expect(to_wallet.toLowerCase()).toBe(bia)
  await bench.until(async () => {
    const now = (await bench.call('GET', `/v1/drex/transfers/${transfer_id}`)).json as TransferBody
    return now.status === 'confirmed'
  })
  const refusals = [
    [{ to_wallet: '99999999' }, 422, 'NOT_IN_DIRECTORY'],
    [{ to_wallet: '1234567' }, 400, 'VALIDATION_FAILED'],
    [{ to_wallet: cnpj8, from_wallet: bia }, 400, 'VALUE_REFUSED'],
    [
      {
        to_wallet: cnpj8,
        swap: { sender_token: ana, receiver_token: bia, reserve_wallet: ana },
      },
      400,
      'VALUE_REFUSED',
    ],
  ] as const
  for (const [body, wanted, code] of refusals) {
    const refused = await pay(body)
    expect([
      body,
      refused.status,
      (refused.json as { error: { code: string } }).error.code,
    ]).toEqual([body, wanted, code])
  }
}, 60_000)

test('an institution hands its wallet over, and a repeated transfer keeps to the former one', async () => {
  const again = () =>
    bench.call(
      ...(['POST', '/v1/drex/transfers?full_addresses=true'] as const),
      { from_wallet: ana, amount: '1.00', to_wallet: cnpj8 },
      { 'Idempotency-Key': 'to-an-institution' },
    )
  const first = (await again()).json as TransferBody
  const heir = await bench.wallet(0n)
  await perform('change_default_account', { cnpj8, wallet: heir }, bia)
  expect((await again()).json as TransferBody).toEqual(first)
  const { json } = await bench.call('POST', '/v1/drex/transfers?full_addresses=true', {
    from_wallet: ana,
    amount: '1.00',
    to_wallet: cnpj8,
  })
  expect((json as TransferBody).to_wallet.toLowerCase()).toBe(heir)
  await perform('change_default_account', { cnpj8, wallet: bia }, heir)
}, 60_000)

test('what moves money needs the right to transfer; another account sees and signs nothing', async () => {
  const { key, record } = testKey('contracts:call', 'drex:read')
  const other = testKey('*')
  const keys = [record, { ...other.record, account: 'other' }]
  const { call } = testApp(bench.drex().routes ?? [], { keys })
  const post = (by: string, body: object) => call('POST', '/v1/drex/operations', { key: by, body })
  const mint = { operation: 'request_mint', params: { amount: '1.00' }, signer_wallet: ana }
  expect((await post(key, mint)).status).toBe(403)
  expect((await post(other.key, mint)).status).toBe(404)
  const { json } = await ask('enable_account', { wallet: bia })
  const path = `/v1/drex/operations/${(json as OperationBody).operation_id}`
  expect((await call('GET', path, { key })).status).toBe(200)
  expect((await call('GET', path, { key: other.key })).status).toBe(404)
  const listed = await (await call('GET', '/v1/drex/operations', { key: other.key })).json()
  expect(listed).toEqual({ operations: [], next_cursor: null })
})

test('a repeated request makes one operation, and every operation tells its parameters', async () => {
  const once = () =>
    bench.call(
      ...(['POST', '/v1/drex/operations'] as const),
      { operation: 'enable_account', params: { wallet: bia }, signer_wallet: ana },
      { 'Idempotency-Key': 'admit-once' },
    )
  const [first, second] = [
    (await once()).json as OperationBody,
    (await once()).json as OperationBody,
  ]
  expect(second.operation_id).toBe(first.operation_id)
  const { json } = await bench.call('GET', '/v1/drex/operations/types')
  const types = (json as { operations: { operation: string; params: object }[] }).operations
  expect(types.map(({ operation }) => operation)).toEqual([...operationNames])
  const wrong = await ask('enable_account', { wallet: bia, amount: '1.00' })
  expect(wrong.status).toBe(400)
})
