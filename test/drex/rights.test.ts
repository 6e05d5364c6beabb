import { describe, expect, test } from 'bun:test'
import { Interface, id } from 'ethers'
import { generateKey, type KeyRecord } from '#src/platform/security/index.ts'
import { harmlessFunctions, movesMoney, movingFunctions } from '../../src/drex/contracts/effects.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { loadArtifact, templateNames } from '../../src/drex/templates/index.ts'
import { type TestApp, testApp } from '../support/app.ts'
import { adminAddress, benchOfFile } from './support.ts'

type Made = {
  readonly grants: readonly string[]
  readonly account: string
  readonly environment: 'live' | 'test'
}

/** A caller with a key of its own on the same gateway. */
const caller = ({ grants = ['*'], account = 'default', environment = 'test' }: Partial<Made>) => {
  const { key, id: keyId, hash } = generateKey(environment)
  const record: KeyRecord = {
    id: keyId,
    name: 'test',
    account,
    hash,
    grants,
    environment,
    expiresAt: undefined,
    revokedAt: undefined,
  }
  const app: TestApp = testApp(bench.drex().routes ?? [], { keys: [record] })
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await app.call(method, path, { key, ...(body === undefined ? {} : { body }) })
    return { status: response.status, json: (await response.json()) as never }
  }
  return { keyId, call }
}

const codeOf = ({ json }: { json: object }) => (json as { error?: { code: string } }).error?.code

const bench = await benchOfFile()
const ana = await bench.wallet()
const bia = await bench.wallet(0n)

const transferAbi = (name: string) => [
  {
    type: 'function',
    name,
    stateMutability: 'nonpayable',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    outputs: [{ type: 'bool' }],
  },
]

describe('rights follow the effect', () => {
  const limited = () => caller({ grants: ['contracts:*', 'wallets:read', 'drex:read'] })

  test('moving the currency needs the right to transfer, whatever the ABI says', async () => {
    const body = { function: 'transfer', params: { to: bia, amount: '100' }, signer_wallet: ana }
    const path = `/v1/contracts/${bench.admin.token}/call`
    await bench.until(async () => (await bench.call('GET', path.slice(0, -5))).status === 200)
    const refused = await limited().call('POST', path, body)
    expect([refused.status, codeOf(refused)]).toEqual([403, 'FORBIDDEN'])
    const approve = { ...body, function: 'approve', params: { spender: bia, amount: '1' } }
    expect((await limited().call('POST', path, approve)).status).toBe(403)
    // What moves nothing stays free; the contract itself refuses this one.
    const pause = await limited().call('POST', path, { ...body, function: 'pause', params: {} })
    expect(codeOf(pause)).toBe('CONTRACT_REVERTED')
    expect((await limited().call('POST', path, { function: 'totalSupply' })).status).toBe(200)
    expect(await bench.balance(bia)).toBe(0n)
    expect((await bench.call('POST', path, body)).status).toBe(200)
    await bench.until(async () => (await bench.balance(bia)) === 100n)
  })

  test('a contract of a template, and any contract with a known selector, counts alike', async () => {
    const { json } = await bench.call('POST', '/v1/contracts/deploy', {
      template: 'tokenized_asset',
      params: { name: 'A', symbol: 'A', total_supply: '1.00', decimals: 2, owner: ana },
    })
    const { address } = json as { address: Hex }
    await bench.until(async () => {
      const read = (await bench.call('GET', `/v1/contracts/${address}`)).json
      return (read as { status: string }).status === 'deployed'
    })
    const mint = { function: 'mint', params: { to: bia, amount: '1' }, signer_wallet: ana }
    expect((await limited().call('POST', `/v1/contracts/${address}/call`, mint)).status).toBe(403)
    // A stranger's account registers a token of nobody here.
    const other = caller({ account: 'other', grants: ['contracts:*', 'wallets:*'] })
    const made = (await other.call('POST', '/v1/wallets', { type: 'managed', label: 'o' })).json
    const { address: signer } = made as { address: Hex }
    await other.call('POST', '/v1/contracts', { address, abi: transferAbi('transfer') })
    const body = { function: 'transfer', params: { to: bia, value: '1' }, signer_wallet: signer }
    const moved = await other.call('POST', `/v1/contracts/${address}/call`, body)
    expect(moved.status).toBe(403)
  })

  test('a contract that the signer lets take its currency may take it in any call', async () => {
    const rules = (await import('../../src/simulators/chain/contracts/generated/AccountRules.json'))
      .default
    const abi = new Interface(rules.abi)
    const contract = await bench.admin.send(
      undefined,
      rules.bytecode + abi.encodeDeploy([ana]).slice(2),
    )
    const registered = { address: contract, abi: rules.abi }
    expect((await bench.call('POST', '/v1/contracts', registered)).status).toBe(201)
    const body = { function: 'addAccount', params: { account: bia }, signer_wallet: ana }
    const path = `/v1/contracts/${contract}/call`
    expect((await limited().call('POST', path, body)).status).toBe(200)
    const approved = await bench.call('POST', `/v1/contracts/${bench.admin.token}/call`, {
      function: 'approve',
      params: [contract, '5'],
      signer_wallet: ana,
    })
    expect(approved.status).toBe(200)
    await bench.until(async () => (await limited().call('POST', path, body)).status === 403)
  })

  test('every function of every template that changes something is judged', async () => {
    const harmless = new Set<string>(harmlessFunctions)
    const moving = new Set<string>(movingFunctions)
    expect(harmlessFunctions.filter((each) => moving.has(each))).toEqual([])
    for (const name of templateNames) {
      const abi = new Interface((await loadArtifact(name)).abi as never)
      abi.forEachFunction((each) => {
        if (each.stateMutability === 'view' || each.stateMutability === 'pure') return
        const data = each.selector as Hex
        expect([each.format(), movesMoney(data, true)]).toEqual([
          each.format(),
          !harmless.has(each.format()),
        ])
        expect(movesMoney(data, false)).toBe(moving.has(each.format()))
      })
    }
    expect(movesMoney(id('unheardOf()').slice(0, 10) as Hex, true)).toBe(true)
  })
})

describe('a wallet is its account’s', () => {
  test('another account neither sees it nor signs with it', async () => {
    const other = caller({ account: 'other' })
    const { wallets } = (await bench.call('GET', '/v1/wallets')).json as {
      wallets: { wallet_id: string; address: string }[]
    }
    const mine = wallets.find(({ address }) => address.toLowerCase() === ana)!
    expect((await other.call('GET', `/v1/wallets/${mine.wallet_id}`)).status).toBe(404)
    expect((await other.call('GET', `/v1/wallets/${mine.wallet_id}/transactions`)).status).toBe(404)
    const seen = (await other.call('GET', '/v1/wallets')).json as { wallets: { address: string }[] }
    expect(seen.wallets.some(({ address }) => address.toLowerCase() === ana)).toBe(false)
    const pay = { from_wallet: ana, to_wallet: bia, amount: '1.00' }
    const paid = await other.call('POST', '/v1/drex/transfers', pay)
    expect([paid.status, codeOf(paid)]).toEqual([404, 'WALLET_NOT_FOUND'])
    const asset = {
      template: 'tokenized_asset',
      params: { name: 'A', symbol: 'A', total_supply: '1', decimals: 0 },
      signer_wallet: ana,
    }
    expect((await other.call('POST', '/v1/contracts/deploy', asset)).status).toBe(404)
  })

  test('what one account sends to a wallet of another is not in its list', async () => {
    const other = caller({ account: 'other' })
    const address = '0x00000000000000000000000000000000000a11ce'
    const watched = await other.call('POST', '/v1/wallets', {
      type: 'external',
      label: 'watched',
      address,
    })
    expect(watched.status).toBe(201)
    const pay = { from_wallet: ana, to_wallet: address, amount: '1.00' }
    expect((await bench.call('POST', '/v1/drex/transfers', pay)).status).toBe(202)
    const { wallet_id } = watched.json as { wallet_id: string }
    const { json } = await other.call('GET', `/v1/wallets/${wallet_id}/transactions`)
    expect(json as object).toEqual({ transactions: [], next_cursor: null })
  })

  test('transfers, contracts and calls of one account do not exist for another', async () => {
    const pay = { from_wallet: ana, to_wallet: bia, amount: '1.00' }
    const { json } = await bench.call('POST', '/v1/drex/transfers', pay)
    const path = `/v1/drex/transfers/${(json as { transfer_id: string }).transfer_id}`
    const other = caller({ account: 'other' })
    expect((await other.call('GET', path)).status).toBe(404)
    expect((await other.call('POST', `${path}/cancel`)).status).toBe(404)
    const list = (await other.call('GET', '/v1/drex/transfers')).json
    expect((list as { transfers: unknown[] }).transfers).toEqual([])
    const asset = {
      template: 'tokenized_asset',
      params: { name: 'B', symbol: 'B', total_supply: '1', decimals: 0, owner: ana },
    }
    const made = (await bench.call('POST', '/v1/contracts/deploy', asset)).json
    const { address } = made as { address: string }
    expect((await bench.call('GET', `/v1/contracts/${address}`)).status).toBe(200)
    expect((await other.call('GET', `/v1/contracts/${address}`)).status).toBe(404)
    expect((await other.call('GET', `/v1/contracts/${bench.admin.token}`)).status).toBe(200)
  })
})

describe('keys and environments', () => {
  test('a live key has no right to a sandbox network', async () => {
    const live = caller({ environment: 'live' })
    const pay = { from_wallet: ana, to_wallet: bia, amount: '1.00' }
    for (const network of [{}, { network: 'drex_testnet' }]) {
      const refused = await live.call('POST', '/v1/drex/transfers', { ...pay, ...network })
      expect([refused.status, codeOf(refused)]).toEqual([403, 'FORBIDDEN'])
    }
    expect((await live.call('GET', `/v1/drex/balance/${ana}`)).status).toBe(403)
    expect((await live.call('GET', `/v1/contracts/${bench.admin.token}`)).status).toBe(404)
    const list = (await live.call('GET', '/v1/drex/transfers')).json
    expect((list as { transfers: unknown[] }).transfers).toEqual([])
  })

  test('a test key moves nothing on a production network, and a live key does', async () => {
    await bench.restart({
      DREX_MAINNET_RPC_URLS: bench.chain.url,
      DREX_MAINNET_TOKEN: bench.admin.token,
      DREX_MAINNET_CHAIN_ID: String(bench.chain.chainId),
      DREX_MAINNET_BLOCK_TIME_MS: '40',
    })
    const pay = { from_wallet: ana, to_wallet: bia, amount: '1.00', network: 'drex_mainnet' }
    const refused = await caller({}).call('POST', '/v1/drex/transfers', pay)
    expect([refused.status, codeOf(refused)]).toEqual([403, 'FORBIDDEN'])
    const asset = {
      template: 'currency',
      params: { name: 'A', symbol: 'A', admin: adminAddress },
      network: 'drex_mainnet',
    }
    expect((await caller({}).call('POST', '/v1/contracts/deploy', asset)).status).toBe(403)
    const live = caller({ environment: 'live' })
    // A wallet of the sandbox signs nothing there, also for a live key of its account.
    const sandboxed = await live.call('POST', '/v1/drex/transfers', pay)
    expect([sandboxed.status, codeOf(sandboxed)]).toEqual([403, 'FORBIDDEN'])
    const made = (await live.call('POST', '/v1/wallets', { type: 'managed', label: 'live' })).json
    const { address, environment } = made as { address: Hex; environment: string }
    expect(environment).toBe('live')
    await bench.admin.currency('enableAccount', address)
    await bench.admin.currency('mint', address, 100n)
    expect(bench.drex().wallets.signerFor(ana, 'live')).rejects.toThrow('test networks only')
    const taken = await live.call('POST', '/v1/drex/transfers', {
      ...pay,
      from_wallet: address,
      network: undefined,
    })
    expect([taken.status, (taken.json as { network: string }).network]).toEqual([
      202,
      'drex_mainnet',
    ])
  })
})
