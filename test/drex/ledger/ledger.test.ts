/** What came and went, against what the currency itself says at the same block. */
import { expect, test } from 'bun:test'
import type { Hex } from '../../../src/drex/evm/hex.ts'
import type { RpcOutcome } from '../../../src/simulators/chain/engine.ts'
import { benchOfFile, createAdmin, currencyAbi, type TransferBody } from '../support.ts'

type Movement = {
  movement_id: string
  direction: 'in' | 'out'
  kind: string
  amount: string
  balance: string
  counterparty: string | null
  tx_hash: string
  block_number: number
  transfer_id: string | null
  reference: string | null
}
type Statement = {
  opening_balance: string
  closing_balance: string
  as_of_block: number
  checked_block: number | null
  difference: string
  movements: Movement[]
  next_cursor: string | null
}

const bench = await benchOfFile({ chain: { mining: 'manual' }, isLying: true })

const walletIds = new Map<Hex, string>()
const wallet = async (cents: bigint): Promise<Hex> => {
  const address = await bench.wallet(cents)
  const { json } = await bench.call('GET', '/v1/wallets?limit=200')
  for (const each of (json as { wallets: { wallet_id: string; address: string }[] }).wallets) {
    walletIds.set(each.address.toLowerCase() as Hex, each.wallet_id)
  }
  return address
}

const page = async (of: Hex, query = ''): Promise<Statement> => {
  const { status, json } = await bench.call(
    'GET',
    `/v1/wallets/${walletIds.get(of)}/statement?${query}`,
  )
  expect([status, json as object]).toEqual([200, expect.anything()])
  return json as Statement
}

/** All pages, each of which must go on from the one before. */
const statement = async (of: Hex, limit = 7): Promise<Movement[]> => {
  const all: Movement[] = []
  let cursor = ''
  let balance: string | undefined
  for (;;) {
    const each = await page(of, `limit=${limit}${cursor}&full_addresses=true`)
    expect(each.opening_balance).toBe(balance ?? each.opening_balance)
    expect(each.closing_balance).toBe(each.movements.at(-1)?.balance ?? each.opening_balance)
    balance = each.closing_balance
    all.push(...each.movements)
    if (each.next_cursor === null) return all
    cursor = `&cursor=${each.next_cursor}`
  }
}

const head = async () =>
  Number(((await bench.chain.request('eth_blockNumber')) as { result: string }).result)

/** The ledger has read all blocks, and compared all balances. */
const read = (of: Hex, query = '') =>
  bench.until(async () => {
    const { status, json } = await bench.call(
      'GET',
      `/v1/wallets/${walletIds.get(of)}/statement?limit=1${query}`,
    )
    if (status !== 200) return false
    return (json as Statement).as_of_block === (await head())
  })

/** How far the ledger is. */
const place = async () => {
  const [position] = await bench.database.sql<[{ block_number: bigint }]>`
    select block_number from drex_positions where network = 'drex_testnet'`
  return Number(position.block_number)
}

const balanceAt = async (of: Hex, block: number): Promise<string> => {
  const data = currencyAbi.encodeFunctionData('balanceOf', [of])
  const params = [{ to: bench.admin.token, data }, `0x${block.toString(16)}`]
  const { result } = (await bench.chain.request('eth_call', params)) as { result: string }
  return decimal(BigInt(result))
}

const decimal = (cents: bigint): string =>
  `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`

const pay = async (from: Hex, to: Hex, amount: string, reference?: string): Promise<string> => {
  const { status, json } = await bench.call('POST', '/v1/drex/transfers', {
    from_wallet: from,
    to_wallet: to,
    amount,
    ...(reference && { reference }),
  })
  expect([status, json as object]).toEqual([202, expect.anything()])
  return (json as TransferBody).transfer_id
}

const mined = async (id: string) => {
  await bench.until(async () => {
    const { json } = await bench.call('GET', `/v1/drex/transfers/${id}`)
    if ((json as TransferBody).status === 'confirmed') return true
    await bench.chain.mine()
    return false
  })
}

test('a random walk of transfers, calls, issue and redemption: each balance is the chain’s at its block', async () => {
  const wallets = [await wallet(50_000n), await wallet(10_000n), await wallet(0n)]
  const outsider: Hex = `0x${'ab'.repeat(20)}`
  await bench.admin.currency('enableAccount', outsider)
  let seed = 20_260
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  const any = () => wallets[random(wallets.length)]!
  for (let turn = 0; turn < 24; turn++) {
    const to = any()
    const cents = BigInt(1 + random(300))
    switch (random(5)) {
      case 0:
        await bench.admin.currency('mint', to, cents)
        break
      case 1:
        await bench.admin.currency('move', wallets[0]!, random(2) === 0 ? to : outsider, cents)
        break
      case 2:
        await bench.admin.currency('moveAndBurn', wallets[0]!, cents)
        break
      default:
        await mined(await pay(wallets[0]!, wallets[1 + random(2)]!, decimal(cents), `turn ${turn}`))
    }
  }
  for (const each of wallets) {
    await read(each)
    const movements = await statement(each)
    expect(movements.length).toBeGreaterThan(0)
    const last = new Map(movements.map((movement) => [movement.block_number, movement.balance]))
    for (const [block, balance] of last) expect(balance).toBe(await balanceAt(each, block))
    const end = await page(each)
    expect(end.difference).toBe('0.00')
    expect(movements.at(-1)?.balance).toBe(await balanceAt(each, await head()))
  }
  const all = await statement(wallets[0]!, 200)
  expect(all[0]).toMatchObject({ kind: 'mint', counterparty: null, amount: '500.00' })
  expect(all.some(({ kind }) => kind === 'burn')).toBe(true)
  expect(
    all
      .filter(({ transfer_id }) => transfer_id !== null)
      .every(({ reference }) => reference?.startsWith('turn')),
  ).toBe(true)
}, 60_000)

test('money that came in is told once it has its confirmations, whoever sent it', async () => {
  const [ana, bia] = [await wallet(5_000n), await wallet(0n)]
  const id = await pay(ana, bia, '12.34')
  await mined(id)
  await bench.admin.currency('move', ana, bia, 1n)
  await read(bia)
  const told = bench.incoming.filter(
    ({ type, subject }) => type === 'drex.transfer.received' && subject === walletIds.get(bia),
  )
  const short = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`
  expect(told.map(({ data }) => data)).toMatchObject([
    {
      amount: '12.34',
      transfer_id: id,
      kind: 'transfer',
      from_wallet: short(ana),
      to_wallet: short(bia),
    },
    { amount: '0.01', transfer_id: null, wallet_id: walletIds.get(bia)! },
  ])
  const { movements } = await page(bia)
  expect(movements.map(({ counterparty }) => counterparty)).toEqual([short(ana), short(ana)])
})

test('the receiver’s account is not told the transfer of the sender’s', async () => {
  const [ana, bia] = [await wallet(5_000n), await wallet(0n)]
  await bench.database.sql`update drex_wallets set account = 'other' where address = ${bia}`
  await mined(await pay(ana, bia, '3.21'))
  const told = () => bench.incoming.filter(({ account }) => account === 'other')
  await bench.until(async () => told().length > 0)
  expect(told()).toMatchObject([
    { type: 'drex.transfer.received', data: { amount: '3.21', transfer_id: null } },
  ])
})

test('a block that leaves the chain after all takes back what it told', async () => {
  const ana = await wallet(5_000n)
  const bia = await wallet(0n)
  await read(ana)
  const before = await page(bia)
  await bench.chain.markFork()
  await bench.admin.currency('move', ana, bia, 700n)
  await bench.admin.currency('mint', bia, 11n)
  await read(bia)
  expect((await page(bia)).closing_balance).toBe('7.11')
  const of = (type: string) =>
    bench.incoming.filter((each) => each.type === type && each.subject === walletIds.get(bia))
  const told = of('drex.transfer.received').map(
    ({ data }) => (data as { movement_id: string }).movement_id,
  )
  expect(told).toHaveLength(2)
  await bench.chain.reorg()
  await bench.until(async () => of('drex.transfer.reversed').length === 2)
  const reversed = of('drex.transfer.reversed').map(
    ({ data }) => (data as { movement_id: string }).movement_id,
  )
  expect(reversed.toSorted()).toEqual(told.toSorted())
  await read(bia)
  expect(await page(bia)).toMatchObject({ movements: [], closing_balance: before.closing_balance })
  await bench.admin.currency('move', ana, bia, 200n)
  await read(bia)
  for (const each of [ana, bia]) {
    const { closing_balance, difference } = await page(each)
    expect([closing_balance, difference]).toEqual([await balanceAt(each, await head()), '0.00'])
  }
})

test('a watched wallet begins with what it had; nobody else’s wallet is shown', async () => {
  const outsider: Hex = `0x${'ef'.repeat(20)}`
  await bench.admin.currency('enableAccount', outsider)
  await bench.admin.currency('mint', outsider, 4_200n)
  const ana = await wallet(5_000n)
  await read(ana)
  const body = { type: 'external', label: 'watched', address: outsider }
  const { json } = await bench.call('POST', '/v1/wallets', body)
  walletIds.set(outsider, (json as { wallet_id: string }).wallet_id)
  expect(await page(outsider)).toMatchObject({
    opening_balance: '42.00',
    closing_balance: '42.00',
    movements: [],
  })
  await mined(await pay(ana, outsider, '1.00'))
  await read(outsider)
  expect(await page(outsider)).toMatchObject({
    opening_balance: '42.00',
    closing_balance: '43.00',
    difference: '0.00',
  })
  const moment = new Date(Date.now() - 86_400_000).toISOString()
  const empty = await page(outsider, `to=${moment}`)
  expect([empty.opening_balance, empty.movements]).toEqual(['42.00', []])
  const ever = await page(outsider, `from=${new Date(Date.now() + 86_400_000).toISOString()}`)
  expect([ever.opening_balance, ever.closing_balance]).toEqual(['43.00', '43.00'])
  const none = await bench.call('GET', `/v1/wallets/wal_${'0'.repeat(32)}/statement`)
  expect(none.status).toBe(404)
  const token = await bench.call(
    'GET',
    `/v1/wallets/${walletIds.get(outsider)}/statement?token=${outsider}`,
  )
  expect(token.status).toBe(400)
})

test('of several gateways one follows at a time; when it ends, another goes on, and nothing is told twice', async () => {
  const [ana, bia] = [await wallet(5_000n), await wallet(0n)]
  const peer = bench.peer()
  try {
    for (let turn = 0; turn < 4; turn++) {
      if (turn === 2) await bench.restart()
      await bench.admin.currency('move', ana, bia, 5n)
      await bench.chain.mine()
    }
    await read(bia)
    const told = bench.incoming.filter(
      ({ type, subject }) => type === 'drex.transfer.received' && subject === walletIds.get(bia),
    )
    expect(told).toHaveLength(4)
    expect((await page(bia)).closing_balance).toBe('0.20')
  } finally {
    await peer.stop()
  }
})

test('a difference between the events of a currency and its balances is shown and counted', async () => {
  const ana = await wallet(5_000n)
  await read(ana)
  bench.node.lie(async ({ method, params }, answer) => {
    const data = String((params[0] as { data?: string } | undefined)?.data)
    if (method !== 'eth_call' || !data.startsWith('0x70a08231') || !data.endsWith(ana.slice(2))) {
      return undefined
    }
    const { result } = (await answer()) as { result: string }
    return { result: `0x${(BigInt(result) - 3n).toString(16).padStart(64, '0')}` }
  })
  await bench.admin.currency('mint', ana, 1n)
  await bench.until(async () => (await page(ana)).difference === '-0.03')
  expect(await bench.scrape()).toMatch(/drex_balances_differing\{network="drex_testnet"\} 1/)
  bench.node.lie(undefined)
  await bench.admin.currency('mint', ana, 1n)
  await bench.until(async () => (await page(ana)).difference === '0.00')
})

/** A node that answers so when a currency is asked for its decimals. @returns how often it was asked */
const tellNoDecimals = (of: Hex, answer: RpcOutcome) => {
  let asked = 0
  bench.node.lie(({ method, params }) => {
    const [call] = params as { to?: string; data?: string }[]
    if (method !== 'eth_call' || call?.to !== of || call.data !== '0x313ce567') return undefined
    asked++
    return answer
  })
  return () => asked
}

const oddAnswers: readonly (readonly [string, RpcOutcome])[] = [
  ['nothing', { result: '0x' }],
  ['a refusal', { error: { code: 3, message: 'execution reverted', data: '0x' } }],
  ['other decimals', { result: `0x${'6'.padStart(64, '0')}` }],
]
for (const [name, answer] of oddAnswers) {
  test(`${name} in answer to decimals(): a currency that was used stays followed`, async () => {
    const ana = await wallet(5_000n)
    await read(ana)
    tellNoDecimals(bench.admin.token, answer)
    await bench.restart()
    await bench.admin.currency('mint', ana, 1n)
    const minted = await head()
    await bench.until(async () => (await place()) >= minted)
    const told = bench.incoming.filter(({ subject }) => subject === walletIds.get(ana))
    expect(told.at(-1)?.data).toMatchObject({ amount: '0.01' })
    bench.node.lie(undefined)
    expect((await page(ana)).closing_balance).toBe('50.01')
  })
}

test('nothing is read over a currency that has never told its decimals', async () => {
  const ana = await wallet(0n)
  const { token } = await createAdmin(bench.chain)
  const asked = tellNoDecimals(token, { result: '0x' })
  await bench.restart({ DREX_TESTNET_TOKENS: token })
  for (const [name, ...args] of [
    ['enableAccount', ana],
    ['mint', ana, 7n],
  ] as const) {
    await bench.admin.send(token, currencyAbi.encodeFunctionData(name, args))
  }
  const [first, minted] = [asked(), await head()]
  await bench.until(async () => asked() > first + 3)
  expect(await place()).toBeLessThan(minted)
  bench.node.lie(undefined)
  await read(ana, `&token=${token}`)
  expect((await page(ana, `token=${token}`)).closing_balance).toBe('0.07')
  await bench.restart()
})

test('balances that no node tells hold up no other comparison, and are asked for now and then', async () => {
  const ana = await wallet(5_000n)
  await read(ana)
  const mute: Hex = `0x${'dead'.repeat(10)}`
  let asked = 0
  bench.node.lie(({ method, params }) => {
    if (method === 'eth_call' && (params[0] as { to?: string }).to === mute) asked++
    return undefined
  })
  const { sql } = bench.database
  await sql`
    insert into drex_holdings (network, token, wallet, total, since_block, moved_block)
    select 'drex_testnet', ${mute}, '0x' || lpad(to_hex(n), 40, '0'), 1, 1, 1
    from generate_series(1, 128) n`
  await bench.admin.currency('mint', ana, 1n)
  const minted = await head()
  await bench.until(async () => ((await page(ana)).checked_block ?? 0) >= minted)
  asked = 0
  await Bun.sleep(2_000)
  expect(asked).toBeLessThanOrEqual(3 * 64)
  // Once they are told, they are compared.
  bench.node.lie(({ method, params }) =>
    method === 'eth_call' && (params[0] as { to?: string }).to === mute
      ? { result: `0x${'1'.padStart(64, '0')}` }
      : undefined,
  )
  await bench.until(async () => {
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count from drex_holdings where token = ${mute} and opening = 0`
    return count === 128
  })
  bench.node.lie(undefined)
  await sql`delete from drex_holdings where token = ${mute}`
})

test('an address that is no currency holds up no other, and is named with its setting', async () => {
  const ana = await wallet(0n)
  const mistyped = `0x${'5a'.repeat(20)}`
  await bench.restart({ DREX_TESTNET_TOKENS: mistyped })
  await bench.admin.currency('mint', ana, 7n)
  await read(ana)
  expect((await page(ana)).closing_balance).toBe('0.07')
  const checks = (await bench.drex().checks?.()) ?? []
  expect(checks.filter(({ status }) => status === 'failed')).toEqual([
    {
      name: `Currency ${mistyped} of drex_testnet`,
      status: 'failed',
      detail: 'tells no decimals: there is no currency at this address',
      fix: 'correct DREX_TESTNET_TOKENS, or tokens of drex_testnet in DREX_NETWORKS_FILE',
    },
  ])
  await bench.restart()
}, 60_000)

test('far behind, ranges are read, as large as the node takes', async () => {
  const ana = await wallet(5_000n)
  await read(ana)
  const limit = 60
  let refused = 0
  bench.node.lie(({ method, params }) => {
    const [filter] = params as { fromBlock?: string; toBlock?: string }[]
    const range = Number(filter?.toBlock) - Number(filter?.fromBlock) + 1
    if (method !== 'eth_getLogs' || !(range > limit)) return undefined
    refused++
    return { error: { code: -32005, message: 'query returned more than 10000 results' } }
  })
  for (let mined = 0; mined < 500; mined++) await bench.chain.mine()
  await bench.admin.currency('mint', ana, 1n)
  for (let mined = 0; mined < 500; mined++) await bench.chain.mine()
  await read(ana)
  bench.node.lie(undefined)
  expect(refused).toBeGreaterThan(0)
  expect(refused).toBeLessThan(20)
  expect((await page(ana)).movements.map(({ balance }) => balance)).toEqual(['50.00', '50.01'])
})

/** Whatever it is asked, it has a million blocks more than the chain, and a payment of a cent in every 50 000th. */
const prolong = async (to: Hex) => {
  const base = await head()
  const [end, each] = [base + 1_000_000, 50_000]
  const { result } = (await bench.chain.request('eth_getBlockByNumber', ['latest', false])) as {
    result: { hash: Hex; timestamp: string }
  }
  const hashOf = (number: number): Hex =>
    number === base ? result.hash : `0xbb${number.toString(16).padStart(62, '0')}`
  const word = (digits: string): Hex => `0x${digits.padStart(64, '0')}`
  const block = (number: number) => ({
    ...result,
    number: `0x${number.toString(16)}`,
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    logsBloom: undefined,
    transactions: [],
  })
  const log = (number: number) => ({
    address: bench.admin.token,
    topics: [currencyAbi.getEvent('Transfer')!.topicHash, word('0'), word(to.slice(2))],
    data: word('1'),
    blockNumber: `0x${number.toString(16)}`,
    blockHash: hashOf(number),
    transactionHash: hashOf(number),
    logIndex: '0x0',
    removed: false,
  })
  const paid = Array.from({ length: 20 }, (_, i) => base + (i + 1) * each)
  bench.node.lie(async ({ method, params }) => {
    const [first, second] = params as [never, { blockHash?: Hex }]
    if (method === 'eth_blockNumber') return { result: `0x${end.toString(16)}` }
    if (method === 'eth_getBlockByNumber') {
      const number = first === 'latest' ? end : Number(first)
      if (number > end) return { result: null }
      return number > base ? { result: block(number) } : undefined
    }
    if (method === 'eth_getLogs') {
      const { fromBlock, toBlock, blockHash } = first as Record<string, string>
      if (blockHash !== undefined && !blockHash.startsWith('0xbb')) return undefined
      const isIn = (number: number) =>
        blockHash === undefined
          ? number >= Number(fromBlock) && number <= Number(toBlock)
          : blockHash === hashOf(number)
      return { result: paid.filter(isIn).map(log) }
    }
    const data = String((first as { data?: string }).data)
    if (method !== 'eth_call' || !data.endsWith(to.slice(2))) return undefined
    if (second.blockHash?.startsWith('0xbb') !== true) return undefined
    const outcome = await bench.chain.request('eth_call', [first, 'latest'])
    const number = Number(`0x${second.blockHash.slice(4)}`)
    const received = paid.filter((each) => each <= number).length
    const balance = BigInt((outcome as { result: string }).result) + BigInt(received)
    return { result: word(balance.toString(16)) }
  })
  return { end, paid }
}

test('a million blocks are caught up within seconds, and not in memory', async () => {
  // The blocks that are invented here prove nothing.
  await bench.restart({ DREX_TESTNET_PROOFS: 'false' })
  const ana = await wallet(5_000n)
  await read(ana)
  const before = bench.node.asked.get('eth_getLogs') ?? 0
  const { end, paid } = await prolong(ana)
  await bench.until(async () => (await page(ana)).as_of_block === end)
  const { closing_balance, difference, movements } = await page(ana)
  expect([closing_balance, difference]).toEqual(['50.20', '0.00'])
  expect(movements.slice(1).map(({ block_number }) => block_number)).toEqual(paid)
  // Pages of 2 000 to 10 000 blocks, and no more than that is held at once.
  expect((bench.node.asked.get('eth_getLogs') ?? 0) - before).toBeLessThan(500)
  bench.node.lie(undefined)
})
