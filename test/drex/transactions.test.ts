/** A transaction as the chain has it, decoded: to whom it is shown, and what of it. */
import { expect, test } from 'bun:test'
import { Interface } from 'ethers'
import { decodeCall, decodeLog } from '../../src/drex/contracts/decoding.ts'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { otherAccountKey, testApp, testKey } from '../support/app.ts'
import { benchOfFile, currencyAbi } from './support.ts'

let [ana, bia]: Hex[] = []

const transfer = async (amount: string): Promise<string> => {
  const { tx_hash } = await bench.reaches(await bench.pay(ana!, bia!, amount), 'confirmed')
  return tx_hash ?? ''
}

type Explained = {
  readonly status: string
  readonly function: string | null
  readonly args: Readonly<Record<string, unknown>> | null
  readonly contract: { readonly label: string } | null
  readonly proven: boolean | null
  readonly input_bytes: number
  readonly logs: readonly {
    readonly event: string | null
    readonly args: Readonly<Record<string, string>> | null
    readonly data_bytes: number
  }[]
}

const read = async (of = hash) => {
  const { status, json } = await bench.call('GET', `/v1/drex/transactions/${of}`)
  return { status, json: json as Explained }
}

const bench = await benchOfFile({ isLying: true })
;[ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
const hash = await transfer('12.34')

test('a transfer: its call and its event by name, proven by its block', async () => {
  const { status, json } = await read()
  expect(status).toBe(200)
  expect(json).toMatchObject({
    tx_hash: hash,
    status: 'confirmed',
    network: 'drex_testnet',
    proven: true,
    function: 'transfer(address,uint256)',
    value_wei: '0',
    input_bytes: 68,
    logs_count: 1,
  })
  expect(String((json as unknown as { from: string }).from).toLowerCase()).toBe(ana!)
  expect(json.args).toMatchObject({ amount: '1234' })
  expect(json.logs[0]).toMatchObject({
    event: 'Transfer(address,address,uint256)',
    args: { value: '1234' },
  })
  expect(json.logs[0]?.args?.['to']?.toLowerCase()).toBe(bia!)
})

test('an ABI of one’s own goes before the others, and one without the function changes nothing', async () => {
  const abi = [
    {
      type: 'function',
      name: 'transfer',
      stateMutability: 'nonpayable',
      inputs: [
        { name: 'para', type: 'address' },
        { name: 'centavos', type: 'uint256' },
      ],
      outputs: [],
    },
  ]
  const token = await deployedToken()
  const raw = new Interface(abi).encodeFunctionData('transfer', [bia, 1n]) as Hex
  expect(decodeCall([currencyAbi, new Interface(abi)], raw)?.args).toHaveProperty('amount')
  const registered = await bench.call('POST', '/v1/contracts', {
    address: token,
    abi,
    label: 'meu',
  })
  expect(registered.status).toBe(201)
  const sent = await bench.call('POST', `/v1/contracts/${token}/call`, {
    function: 'transfer',
    params: { para: bia, centavos: '1' },
    signer_wallet: ana,
  })
  const { transaction_id } = sent.json as { transaction_id: string }
  let tracked: { status: string; tx_hash: string } | undefined
  await bench.until(async () => {
    const { json: read } = await bench.call('GET', `/v1/contracts/${token}/calls/${transaction_id}`)
    tracked = read as { status: string; tx_hash: string }
    return tracked.status === 'confirmed'
  })
  const { json } = await read(tracked?.tx_hash)
  expect(json).toMatchObject({ contract: { label: 'meu' }, args: { centavos: '1' } })
  // The event is not in that ABI: a template’s explains it.
  expect(json.logs[0]).toMatchObject({ args: { value: '1' }, contract: { label: 'meu' } })
})

/** Another token, of which the administrator gave Ana one unit. */
const deployedToken = async (): Promise<Hex> => {
  const { default: artifact } = await import(
    '../../src/drex/templates/currency/generated/Currency.json'
  )
  const { adminAddress } = await import('./support.ts')
  const deploy = currencyAbi.encodeDeploy(['Outra', 'OUT', adminAddress])
  const token = (await bench.admin.send(undefined, artifact.bytecode + deploy.slice(2)))!
  for (const [name, ...args] of [
    ['enableAccount', ana],
    ['enableAccount', bia],
    ['mint', ana, 1n],
  ] as const) {
    await bench.admin.send(token, currencyAbi.encodeFunctionData(name, args))
  }
  return token
}

test('who has no part in it is told of nothing, nor what no chain has', async () => {
  const path = `/v1/drex/transactions/${hash}`
  const other = await bench.app.call('GET', path, { key: otherAccountKey.key })
  expect(other.status).toBe(404)
  for (const [wallet, status] of [
    [bia!, 200],
    [bench.admin.token, 403],
  ] as const) {
    const { key, record } = testKey('drex:read')
    const keys = [{ ...record, restrictions: { wallets: [wallet] } }]
    const till = testApp(bench.drex().routes ?? [], { keys })
    expect((await till.call('GET', path, { key })).status).toBe(status)
  }
  const unknown = await read(`0x${'ab'.repeat(32)}`)
  expect(unknown.status).toBe(404)
  expect((await read('0x12')).status).toBe(400)
})

test('what a node tells and no block proves is said to be unproven', async () => {
  const unproven = await transfer('0.01')
  bench.node.lie(async ({ method }, answer) => {
    const outcome = await answer()
    if (!('result' in outcome) || outcome.result === null) return outcome
    const { result } = outcome
    if (method === 'eth_getTransactionReceipt') {
      return { result: { ...(result as object), logs: [], blockHash: `0x${'cd'.repeat(32)}` } }
    }
    return outcome
  })
  try {
    expect((await read(unproven)).json).toMatchObject({ proven: false, logs: [] })
  } finally {
    bench.node.lie(undefined)
  }
  expect((await read(unproven)).json).toMatchObject({
    proven: true,
    logs: [{ args: { value: '1' } }],
  })
})

test('bytes that are nonsense are not explained, and break nothing', () => {
  const call = currencyAbi.encodeFunctionData('transfer', [`0x${'11'.repeat(20)}`, 1n]) as Hex
  expect(decodeCall([currencyAbi], call.slice(0, 60) as Hex)).toBeUndefined()
  expect(decodeCall([currencyAbi], '0x')).toBeUndefined()
  expect(decodeCall([], call)).toBeUndefined()
  const topic = currencyAbi.getEvent('Transfer')!.topicHash as Hex
  expect(decodeLog([currencyAbi], { topics: [topic], data: '0x01' })).toBeUndefined()
  expect(decodeLog([currencyAbi], { topics: [], data: '0x' })).toBeUndefined()
})
