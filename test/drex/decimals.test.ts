import { expect, test } from 'bun:test'
import { Interface } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import asset from '../../src/drex/templates/tokenized-asset/generated/TokenizedAsset.json'
import { adminAddress, type Bench, benchOfFile, type TransferBody } from './support.ts'

const abi = new Interface(asset.abi)
const unit = 10n ** 18n
const network = 'eth_sepolia'

let [ana, bia]: Hex[] = []

/** A token with other decimals than the pilot's. */
const deploy = async (on: Bench, decimals: number): Promise<Hex> => {
  const terms = {
    name: 'Real',
    symbol: 'BRL',
    decimals,
    initialSupply: 10n ** 30n,
    cap: 0,
    owner: adminAddress,
    allowlisted: false,
    metadataUri: '',
    metadataHash: `0x${'00'.repeat(32)}`,
  }
  return (await on.admin.send(undefined, asset.bytecode + abi.encodeDeploy([terms]).slice(2)))!
}

const wallet = async (on: Bench): Promise<Hex> => {
  const { json } = await on.call('POST', '/v1/wallets', { type: 'managed', label: 'w' })
  return (json as { address: string }).address.toLowerCase() as Hex
}

const environment = (of: Hex) => ({
  DREX_ETH_SEPOLIA_RPC_URLS: bench.chain.url,
  DREX_ETH_SEPOLIA_TOKEN: of,
  DREX_ETH_SEPOLIA_CHAIN_ID: String(bench.chain.chainId),
  DREX_ETH_SEPOLIA_GAS_POLICY: 'zero',
  DREX_ETH_SEPOLIA_CONFIRMATIONS: '1',
  DREX_ETH_SEPOLIA_BLOCK_TIME_MS: '40',
})

const bench = await benchOfFile()
const token = await deploy(bench, 18)
await bench.restart(environment(token))
;[ana, bia] = [await wallet(bench), await wallet(bench)]
const funding = abi.encodeFunctionData('transfer', [ana, 50_000n * unit])
await bench.admin.send(token, funding)

const held = async (who: Hex): Promise<bigint> => {
  const data = abi.encodeFunctionData('balanceOf', [who])
  const outcome = await bench.chain.request('eth_call', [{ to: token, data }, 'latest'])
  return BigInt((outcome as { result: string }).result)
}

const balance = async (who: Hex) => {
  const { json } = await bench.call('GET', `/v1/drex/balance/${who}?network=${network}`)
  return (json as { balance: string }).balance
}

const pay = (amount: string) =>
  bench.call('POST', '/v1/drex/transfers', {
    from_wallet: ana,
    to_wallet: bia,
    amount,
    network,
  })

test('a token of 18 decimals is shown and moved as what it is', async () => {
  expect(await balance(ana!)).toBe('50000.00')
  for (const amount of ['1000.00', '0.500000000000000001']) {
    const { status, json } = await pay(amount)
    expect([status, (json as TransferBody).amount]).toEqual([202, amount])
    const path = `/v1/drex/transfers/${(json as TransferBody).transfer_id}`
    await bench.until(
      async () => ((await bench.call('GET', path)).json as TransferBody).status === 'confirmed',
    )
    expect(((await bench.call('GET', path)).json as TransferBody).amount).toBe(amount)
  }
  expect(await held(bia!)).toBe(1_000n * unit + unit / 2n + 1n)
  expect(await balance(bia!)).toBe('1000.500000000000000001')
  expect(bench.events.at(-1)?.data).toMatchObject({ amount: '0.500000000000000001' })
})

test('more fraction digits than the token has are refused, by field', async () => {
  for (const amount of [`0.${'0'.repeat(18)}1`, `1.${'0'.repeat(19)}`]) {
    const { status, json } = await pay(amount)
    expect(status).toBe(400)
    expect(json as object).toMatchObject({ error: { details: { field: 'amount' } } })
  }
  const cents = await bench.call('POST', '/v1/drex/transfers', {
    from_wallet: ana,
    to_wallet: bia,
    amount: '1.001',
    network: 'drex_testnet',
  })
  expect(cents.status).toBe(400)
})

test('an escrow of another token counts in that token', async () => {
  const { status, json } = await bench.call('POST', '/v1/contracts/deploy', {
    template: 'escrow',
    params: {
      token,
      payer: ana,
      payee: bia,
      arbiter: `0x${'c1'.repeat(20)}`,
      amount: '2.50',
      deadline: '2098-01-01T00:00:00Z',
    },
    network,
  })
  expect(status).toBe(202)
  const { address } = json as { address: string }
  await bench.until(async () => {
    const read = (await bench.call('GET', `/v1/contracts/${address}`)).json
    return (read as { status: string }).status === 'deployed'
  })
  const amount = await bench.call('POST', `/v1/contracts/${address}/call`, { function: 'amount' })
  expect(amount.json as object).toMatchObject({ result: String((unit * 5n) / 2n) })
})

test('however long a node takes to tell them, the id of a transfer is no older than its row', async () => {
  await bench.database.sql`delete from drex_tokens where address = ${token}`
  await bench.restart({ ...environment(token), DREX_ETH_SEPOLIA_RPC_URLS: bench.node.url })
  bench.node.lie(({ method }) =>
    method === 'eth_call' ? Bun.sleep(50).then(() => undefined) : undefined,
  )
  const { transfer_id: id, created_at: createdAt } = (await pay('1.00')).json as TransferBody
  bench.node.lie(undefined)
  const idHex = id.slice('trf_'.length, 'trf_'.length + 12)
  expect(Number.parseInt(idHex, 16)).toBeGreaterThanOrEqual(Date.parse(createdAt))
})

test('what a token told first is kept: without a node it counts, another answer is refused', async () => {
  const kept = () =>
    bench.database.sql`update drex_tokens set decimals = 6 where address = ${token}`
  await kept()
  // This process has asked already.
  expect(await balance(ana!)).toMatch(/\.\d+$/)
  await bench.restart(environment(token))
  const { status, json } = await pay('1.00')
  expect([status, (json as { error: { code: string } }).error.code]).toEqual([
    422,
    'TOKEN_UNUSABLE',
  ])
  bench.chain.faults.set([{ kind: 'unavailable', method: 'eth_call' }])
  const away = await pay('1.0000001')
  expect([away.status, JSON.stringify(away.json).includes('which has 6')]).toEqual([400, true])
  bench.chain.faults.set([])
})

test('a token that tells no decimals is not used', async () => {
  await bench.restart(environment(`0x${'ee'.repeat(20)}`))
  const { status, json } = await pay('1.00')
  expect([status, (json as { error: { code: string } }).error.code]).toEqual([
    422,
    'TOKEN_UNUSABLE',
  ])
})
