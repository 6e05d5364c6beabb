import { expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import sandboxArtifact from '../../src/simulators/chain/contracts/generated/SandboxCurrency.json'
import { adminAddress, benchOfFile, type TransferBody } from './support.ts'

const abi = new Interface(sandboxArtifact.abi)

/** A chain whose currency is that of `dev`: nobody but the gateway does anything for the caller. */
const bench = await benchOfFile()
const terms = abi.encodeDeploy(['Real Digital', 'BRL', adminAddress, adminAddress]).slice(2)
const token = (await bench.admin.send(undefined, sandboxArtifact.bytecode + terms))!
await bench.restart({ DREX_TESTNET_TOKEN: token })

const post = async (path: string, body: object, headers = {}) => {
  const { status, json } = await bench.call('POST', path, body, headers)
  expect([path, status < 300, json as object]).toEqual([path, true, expect.anything()])
  return json as Record<string, string>
}

const wallet = async (label: string) => {
  const { address } = await post('/v1/wallets', { type: 'managed', label })
  return address as Hex
}

const fund = (to: string, amount?: string) =>
  post('/v1/drex/sandbox/fund', { wallet: to, ...(amount === undefined ? {} : { amount }) })

const available = async (of: string) => {
  const { json } = await bench.call('GET', `/v1/drex/balance/${of}`)
  const { available, authorised } = json as { available: string; authorised: boolean }
  return [available, authorised]
}

const deploy = async (template: string, params: object): Promise<string> => {
  const { address } = await post('/v1/contracts/deploy', { template, params })
  await bench.until(async () => {
    const { json } = await bench.call('GET', `/v1/contracts/${address}`)
    return (json as { status: string }).status === 'deployed'
  })
  return address as string
}

const perform = async (address: string, name: string, signer: string, params: object = {}) => {
  const sent = await post(`/v1/contracts/${address}/call`, {
    function: name,
    params,
    signer_wallet: signer,
  })
  await bench.until(async () => {
    const path = `/v1/contracts/${address}/calls/${sent['transaction_id']}`
    return ((await bench.call('GET', path)).json as TransferBody).status === 'confirmed'
  })
}

test('a new wallet is admitted and funded, and can pay', async () => {
  const [ana, bia] = [await wallet('a'), await wallet('b')]
  expect(await fund(ana, '100.00')).toMatchObject({
    wallet: ana,
    amount: '100.00',
    currency: 'DREX',
    status: 'confirmed',
    tx_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) as never,
  })
  expect(await available(ana)).toEqual(['100.00', true])
  expect(await fund(bia)).toMatchObject({ amount: null, status: 'confirmed' })
  // There is nothing left to do.
  expect(await fund(bia)).toMatchObject({ transaction_id: null, status: 'confirmed' })
  await fund(ana, '1.00')
  expect(await available(ana)).toEqual(['101.00', true])
  const paid = await post('/v1/drex/transfers?full_addresses=true', {
    from_wallet: ana,
    to_wallet: bia,
    amount: '1.50',
  })
  expect([paid['from_wallet'], paid['to_wallet']]).toEqual([ana, bia])
  const path = `/v1/drex/transfers/${paid['transfer_id']}`
  const read = async (query: string) => (await bench.call('GET', path + query)).json as TransferBody
  await bench.until(async () => (await read('')).status === 'confirmed')
  const short = ana.toLowerCase()
  expect((await read('')).from_wallet).toBe(`${short.slice(0, 6)}…${short.slice(-4)}`)
  expect((await read('?full_addresses=true')).from_wallet).toBe(ana)
  const list = (await bench.call('GET', '/v1/drex/transfers?full_addresses=true')).json
  expect((list as { transfers: TransferBody[] }).transfers[0]?.to_wallet).toBe(bia)
  expect((await bench.call('GET', `${path}?full_addresses=maybe`)).status).toBe(400)
  expect(await available(bia)).toEqual(['1.50', true])
})

test('funded once per Idempotency-Key; a bad request funds nothing', async () => {
  const ana = await wallet('a')
  const headers = { 'Idempotency-Key': 'fund-1' }
  const body = { wallet: ana, amount: '5.00' }
  const first = await post('/v1/drex/sandbox/fund', body, headers)
  expect(await post('/v1/drex/sandbox/fund', body, headers)).toEqual(first)
  for (const bad of [{ amount: '5' }, { amount: '5.001' }, { wallet: '0x1' }, { colour: 'red' }]) {
    const { status } = await bench.call('POST', '/v1/drex/sandbox/fund', { ...body, ...bad })
    expect(status).toBe(400)
  }
  expect(await available(ana)).toEqual(['5.00', true])
})

test('an escrow and a receivable work from nothing', async () => {
  const [ana, bia, caio] = [await wallet('a'), await wallet('b'), await wallet('c')]
  for (const each of [ana, bia]) await fund(each, '1000.00')
  const escrow = await deploy('escrow', {
    payer: ana,
    payee: bia,
    arbiter: caio,
    amount: '10.00',
    deadline: '2098-01-01T00:00:00-03:00',
  })
  await fund(escrow)
  await perform(token, 'approve', ana, { spender: escrow, amount: '1000' })
  await perform(escrow, 'fund', ana)
  await perform(escrow, 'release', ana)
  await perform(escrow, 'withdraw', bia)
  expect(await available(bia)).toEqual(['1010.00', true])

  const receivable = await deploy('receivables', {
    name: 'Duplicata 1',
    symbol: 'DUP1',
    payer: bia,
    originator: caio,
    face_value: '100.00',
    issue_date: '2026-01-01',
    due_date: '2098-01-01',
  })
  for (const each of [receivable, caio]) await fund(each)
  await perform(receivable, 'accept', bia)
  await perform(token, 'approve', ana, { spender: receivable, amount: '10000' })
  await perform(receivable, 'fund', ana, { units: '10000' })
  expect(await available(caio)).toEqual(['100.00', true])
}, 60_000)

test('there is no such help on a production network, nor without a right to issue', async () => {
  const ana = await wallet('a')
  await bench.restart({ DREX_TESTNET_TOKEN: bench.admin.token })
  const { status, json } = await bench.call('POST', '/v1/drex/sandbox/fund', { wallet: ana })
  expect([status, (json as { error: { code: string } }).error.code]).toEqual([
    422,
    'CONTRACT_REVERTED',
  ])
  const issuer = await wallet('issuer')
  for (const role of ['ACCESS_ROLE', 'MINTER_ROLE']) {
    const id = await bench.chain.request('eth_call', [
      { to: bench.admin.token, data: abi.encodeFunctionData(role) },
      'latest',
    ])
    await bench.admin.currency('grantRole', (id as { result: string }).result, issuer)
  }
  await bench.restart({ DREX_TESTNET_TOKEN: bench.admin.token, DREX_TESTNET_ISSUER: issuer })
  await fund(ana, '7.00')
  expect(await available(ana)).toEqual(['7.00', true])
  const { sql } = bench.database
  await sql`update drex_wallets set status = 'disabled' where address = lower(${issuer})`
  await bench.restart({ DREX_TESTNET_TOKEN: bench.admin.token, DREX_TESTNET_ISSUER: issuer })
  const resting = await bench.call('POST', '/v1/drex/sandbox/fund', { wallet: ana, amount: '1.00' })
  expect([resting.status, (resting.json as { error: { code: string } }).error.code]).toEqual([
    422,
    'WALLET_DISABLED',
  ])
  const mainnet = { wallet: ana, network: 'drex_mainnet' }
  expect((await bench.call('POST', '/v1/drex/sandbox/fund', mainnet)).status).toBe(422)
})
