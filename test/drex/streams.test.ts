/** Streams of contracts' events: filtered, each told once, across restarts, and taken back where the chain is. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type EventFragment, Interface, keccak256, toUtf8Bytes } from 'ethers'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { streamsMax } from '../../src/drex/streams/service.ts'
import { otherAccountKey } from '../support/app.ts'
import { type Bench, createBench } from './support.ts'

let bench: Bench
let token: Hex

beforeAll(async () => {
  bench = await createBench({ isLying: true, chain: { mining: 'manual' } })
  token = bench.admin.token
  // The currency is registered by itself, soon after the start.
  await bench.until(async () => (await bench.call('GET', `/v1/contracts/${token}`)).status === 200)
})
afterAll(() => bench.stop())

type Told = {
  readonly type: string
  readonly subject: string
  readonly account?: string | undefined
  readonly data: {
    readonly log_id: string
    readonly stream_id: string
    readonly args: Record<string, string> | null
  }
}

const told = (streamId: string): readonly Told[] =>
  (bench.events as unknown as readonly Told[]).filter(({ subject }) => subject === streamId)

const path = () => `/v1/contracts/${token}/streams`

const create = async (body: object): Promise<string> => {
  const { status, json } = await bench.call('POST', path(), body)
  expect([status, json as object]).toEqual([201, expect.anything()])
  return (json as { stream_id: string }).stream_id
}

const read = async (id: string) => {
  const { json } = await bench.call('GET', `${path()}?limit=200`)
  const { streams } = json as { streams: { stream_id: string; next_block: number }[] }
  return streams.find(({ stream_id }) => stream_id === id)
}

const head = async () =>
  Number(((await bench.chain.request('eth_blockNumber')) as { result: string }).result)

/** The stream has told all that is on the chain. */
const caughtUp = (id: string) =>
  bench.until(async () => ((await read(id))?.next_block ?? 0) > (await head()))

const amounts = (id: string) => told(id).map(({ data }) => data.args?.['value'])

test('what is asked for and no other event, with its arguments by name', async () => {
  const [ana, bia] = [await bench.wallet(0n), await bench.wallet(0n)]
  const [all, anas] = [
    await create({ event: 'Transfer' }),
    await create({ event: 'Transfer(address,address,uint256)', where: { to: ana } }),
  ]
  await bench.admin.currency('mint', ana, 100n)
  await bench.admin.currency('mint', bia, 200n)
  await bench.admin.currency('disableAccount', bia)
  await Promise.all([caughtUp(all), caughtUp(anas)])
  expect([amounts(all), amounts(anas)]).toEqual([['100', '200'], ['100']])
  const [first] = told(anas)
  expect(first).toMatchObject({ type: 'drex.contract.event', account: 'default' })
  expect(first?.data.args?.['to']?.toLowerCase()).toBe(ana)
  // Two streams tell of one log under one id, each under its own name.
  expect(told(all)[0]?.data.log_id).toBe(first!.data.log_id)
  for (const id of [all, anas]) {
    expect((await bench.call('GET', path())).status).toBe(200)
    const { status } = await bench.app.call('DELETE', `${path()}/${id}`, {
      key: otherAccountKey.key,
    })
    expect(status).toBe(404)
  }
})

test('a restart and a start in the past: each event is told exactly once', async () => {
  const ana = await bench.wallet(0n)
  const from = (await head()) + 1
  await bench.admin.currency('mint', ana, 1n)
  const late = await create({ event: 'Transfer', where: { to: ana }, from_block: from })
  await caughtUp(late)
  await bench.drex().stop?.()
  for (const cents of [2n, 3n]) await bench.admin.currency('mint', ana, cents)
  // So far below the head that they are read by range.
  for (let i = 0; i < 70; i++) await bench.chain.mine()
  await bench.restart()
  const other = bench.peer()
  await caughtUp(late)
  await other.stop()
  expect(amounts(late)).toEqual(['1', '2', '3'])
})

test('a node that lies about events is not believed', async () => {
  const ana = await bench.wallet(0n)
  const id = await create({ event: 'Transfer', where: { to: ana } })
  let lies = 0
  bench.node.lie(async ({ method }, answer) => {
    const outcome = await answer()
    if (!('result' in outcome) || outcome.result === null) return outcome
    if (method !== 'eth_getTransactionReceipt') return outcome
    lies++
    return { result: { ...outcome.result, logs: [] } }
  })
  await bench.admin.currency('mint', ana, 7n)
  await bench.until(async () => lies >= 3)
  expect(told(id)).toEqual([])
  bench.node.lie(undefined)
  await caughtUp(id)
  expect(amounts(id)).toEqual(['7'])
})

/** So many events, each in a block of its own. @returns what they tell, and the hash of the last block */
const mintEach = async (to: Hex, count: number) => {
  const cents = Array.from({ length: count }, (_, i) => BigInt(i + 1))
  for (const each of cents) await bench.admin.currency('mint', to, each)
  const outcome = await bench.chain.request('eth_getBlockByNumber', ['latest', false])
  return {
    amounts: cents.map(String),
    last: (outcome as { result: { hash: Hex } }).result.hash,
  }
}

/** Whether the ledger and all streams have read the head. */
const isAllRead = async (): Promise<boolean> => {
  const [row] = await bench.database.sql<{ number: number }[]>`
    select least((select block_number from drex_positions), (select min(block_number) from drex_streams))::int
      as number`
  return row?.number === (await head())
}

for (const [where, blocks] of [
  ['far below the head', 70],
  ['near the head', 0],
] as const) {
  test(`a block ${where} that nobody proves keeps back nothing that was told before it`, async () => {
    const ana = await bench.wallet(0n)
    const from = await head()
    const minted = await mintEach(ana, 5)
    for (let i = 0; i < blocks; i++) await bench.chain.mine()
    bench.node.lie(({ method, params }) =>
      method === 'eth_getBlockByHash' && params[0] === minted.last ? { result: null } : undefined,
    )
    const id = await create({ event: 'Transfer', where: { to: ana }, from_block: from })
    await bench.until(async () => amounts(id).length === 4)
    bench.node.lie(undefined)
    await caughtUp(id)
    expect(amounts(id)).toEqual(minted.amounts)
  })

  test(`blocks ${where} that take long to be proven are told part by part`, async () => {
    const ana = await bench.wallet(0n)
    const from = await head()
    const minted = await mintEach(ana, 30)
    for (let i = 0; i < blocks; i++) await bench.chain.mine()
    // What others have proven is not kept, and they ask for none of these blocks any more.
    await bench.until(isAllRead)
    await bench.restart()
    let toldBeforeLast: readonly string[] | undefined
    bench.node.lie(async ({ method, params }) => {
      if (method !== 'eth_getBlockByHash') return undefined
      if (params[0] === minted.last) toldBeforeLast ??= bench.events.map(({ subject }) => subject)
      await Bun.sleep(150)
      return undefined
    })
    const id = await create({ event: 'Transfer', where: { to: ana }, from_block: from })
    await bench.until(async () => toldBeforeLast !== undefined)
    expect(toldBeforeLast).toContain(id)
    bench.node.lie(undefined)
    await caughtUp(id)
    expect(amounts(id)).toEqual(minted.amounts)
  })
}

test('what the chain takes back is taken back by an event with the same id', async () => {
  const ana = await bench.wallet(0n)
  const id = await create({ event: 'Transfer', where: { to: ana } })
  await caughtUp(id)
  await bench.chain.mine()
  await caughtUp(id)
  await bench.chain.markFork()
  await bench.admin.currency('mint', ana, 9n)
  await caughtUp(id)
  await bench.chain.reorg()
  await bench.until(async () => told(id).length === 2)
  const [first, second] = told(id)
  expect([first?.type, second?.type]).toEqual([
    'drex.contract.event',
    'drex.contract.event_removed',
  ])
  expect(second?.data).toEqual(first!.data)
  await bench.admin.currency('mint', ana, 9n)
  await bench.until(async () => told(id).length === 3)
  expect(told(id)[2]?.data.log_id).not.toBe(first!.data.log_id)
})

test('all that a stream has read leaves the chain: all of it is taken back, and it begins anew', async () => {
  const ana = await bench.wallet(0n)
  await bench.chain.mine()
  const from = (await head()) + 1
  await bench.chain.markFork()
  for (const cents of [1n, 2n, 3n]) await bench.admin.currency('mint', ana, cents)
  // What these blocks told comes in one page.
  const id = await create({ event: 'Transfer', where: { to: ana }, from_block: from })
  await caughtUp(id)
  expect(amounts(id)).toEqual(['1', '2', '3'])
  await bench.chain.reorg()
  await bench.until(async () => told(id).length >= 4)
  await bench.admin.currency('mint', ana, 4n)
  await caughtUp(id)
  expect(told(id).map(({ type, data }) => [type, data.args?.['value']])).toEqual([
    ...['1', '2', '3'].map((value) => ['drex.contract.event', value]),
    ...['3', '2', '1'].map((value) => ['drex.contract.event_removed', value]),
    ['drex.contract.event', '4'],
  ])
})

describe('refused', () => {
  const cases: readonly (readonly [string, object, string])[] = [
    ['an event that the contract has not', { event: 'Transferred' }, '/event'],
    ['an argument that it has not', { event: 'Transfer', where: { whom: '0x' } }, '/where/whom'],
    ['one that is not indexed', { event: 'Transfer', where: { value: '1' } }, '/where/value'],
    ['a value of another type', { event: 'Transfer', where: { to: 'ana' } }, '/where/to'],
    ['a block that is far ahead', { event: 'Transfer', from_block: 2 ** 40 }, '/from_block'],
  ]
  for (const [name, body, pointer] of cases) {
    test(name, async () => {
      const { status, json } = await bench.call('POST', path(), body)
      expect(status).toBe(400)
      expect(JSON.stringify(json)).toContain(pointer)
    })
  }

  test('one more than an account may have; a deleted one makes room', async () => {
    const { sql } = bench.database
    const [{ count }] = await sql<[{ count: number }]>`
      select count(*)::int as count from drex_streams where account = 'default'`
    // They are of a network that nobody follows here.
    await sql`
      insert into drex_streams (id, account, contract_id, network, address, event, filter, topics,
        block_number, created_by)
      select 'str_' || lpad(n::text, 32, '0'), 'default', 'ctr_x', 'none', '0x', 'E()', '{}', '[]',
        0, 'k'
      from generate_series(1, ${streamsMax - count - 1}) n`
    const last = await create({ event: 'Paused' })
    const { status, json } = await bench.call('POST', path(), { event: 'Paused' })
    expect([status, (json as { error: { code: string } }).error.code]).toEqual([
      422,
      'TOO_MANY_STREAMS',
    ])
    expect((await bench.app.call('DELETE', `${path()}/${last}`, { key: bench.key })).status).toBe(
      204,
    )
    await create({ event: 'Paused' })
    await sql`delete from drex_streams where network = 'none'`
  })
})

/** A stream of a contract that tells one event, with data that may be nonsense, whenever it is called. */
const teller = async (event: string, args: readonly unknown[], nonsense?: string) => {
  const abi = new Interface([`event ${event}`])
  const [fragment] = abi.fragments as unknown as [EventFragment]
  const encoded = abi.encodeEventLog(fragment, args)
  const data = nonsense ?? encoded.data.slice(2)
  const word = (value: number) => value.toString(16).padStart(4, '0')
  const topics = encoded.topics.toReversed().map((topic) => `7f${topic.slice(2)}`)
  const size = word(data.length / 2)
  // CODECOPY of the data behind the code, then LOG of it.
  const end = `${topics.join('')}61${size}6000a${topics.length}00`
  const code = `61${size}61${word(9 + end.length / 2)}600039${end}${data}`
  const init = `61${word(code.length / 2)}600e60003961${word(code.length / 2)}6000f3`
  const address = (await bench.admin.send(undefined, `0x${init}${code}`))!
  const registered = await bench.call('POST', '/v1/contracts', {
    address,
    abi: JSON.parse(abi.formatJson()) as unknown[],
  })
  expect(registered.status).toBe(201)
  token = address
  return { id: await create({ event: fragment.name }), tell: () => bench.admin.send(address, '0x') }
}

test('an event whose data is nonsense is told without its arguments', async () => {
  const { id, tell } = await teller(
    'Odd(address indexed who, string text)',
    [`0x${'0'.repeat(40)}`, ''],
    '00',
  )
  await tell()
  await caughtUp(id)
  expect(told(id).map(({ data }) => data.args)).toEqual([null])
})

test('text that the database cannot store is told with what stands for it', async () => {
  const { id, tell } = await teller('Memo(string text, string[] texts)', ['a\0b', ['\0', 'c']])
  await tell()
  await caughtUp(id)
  expect(told(id).map(({ data }) => data.args as object)).toEqual([
    { text: 'a\ufffdb', texts: ['\ufffd', 'c'] },
  ])
})

test('arguments are told whole, and only what the log holds the hash of by its hash', async () => {
  const document = [`0x${'ab'.repeat(32)}`, 'a', true]
  const { id, tell } = await teller(
    'Kept((bytes32 hash, string text, bool _isIndexed) document, string indexed title)',
    [document, 'b'],
  )
  await tell()
  await caughtUp(id)
  const title = keccak256(toUtf8Bytes('b'))
  expect(told(id).map(({ data }) => data.args as object)).toEqual([{ document, title }])
})

test('a stream that cannot be told holds up no other, and goes on when it can', async () => {
  const { sql } = bench.database
  const { id, tell } = await teller('Memo(string text)', ['a'])
  const other = await create({ event: 'Memo' })
  const [first, second] = [id, other].toSorted() as [string, string]
  await sql`
    alter table drex_stream_events add constraint not_told check (stream_id <> ${sql.unsafe(`'${first}'`)}) not valid`
  await tell()
  await caughtUp(second)
  expect([told(first).length, told(second).length]).toEqual([0, 1])
  await sql`alter table drex_stream_events drop constraint not_told`
  await caughtUp(first)
  expect(told(first)).toHaveLength(1)
})

test('a stream that no node reads slows no other: each has ranges of its own, and rests after a failure', async () => {
  const { id, tell } = await teller('Memo(string text)', ['a'])
  const stuck = token
  await bench.drex().stop?.()
  const from = await head()
  token = bench.admin.token
  const other = await create({ event: 'Paused', from_block: from })
  await tell()
  for (let i = 0; i < 200; i++) await bench.chain.mine()
  const ranges = { stuck: [] as number[], other: [] as number[] }
  bench.node.lie(async ({ method, params }) => {
    const filter = params[0] as { address?: readonly Hex[]; fromBlock?: Hex; toBlock?: Hex }
    if (method !== 'eth_getLogs' || filter.fromBlock === undefined) return undefined
    const isStuck = filter.address?.includes(stuck.toLowerCase() as Hex) === true
    const asked = isStuck ? ranges.stuck : ranges.other
    asked.push(Number(filter.toBlock) - Number(filter.fromBlock) + 1)
    return isStuck ? { error: { code: -32_000, message: 'history pruned' } } : undefined
  })
  await bench.restart()
  await bench.until(async () => ranges.stuck.at(-1) === 1)
  const before = ranges.stuck.length
  await Bun.sleep(4_000)
  expect(ranges.stuck.length - before).toBeLessThanOrEqual(3)
  await caughtUp(other)
  expect(ranges.other.filter((size) => size < 100)).toEqual([])
  bench.node.lie(undefined)
  token = stuck
  await caughtUp(id)
  expect(told(id)).toHaveLength(1)
})

test('a stream whose reads hang keeps no other waiting', async () => {
  const { id, tell } = await teller('Memo(string text)', ['a'])
  const hung = token
  token = bench.admin.token
  const ana = await bench.wallet(0n)
  const other = await create({ event: 'Transfer', where: { to: ana } })
  await bench.drex().stop?.()
  await tell()
  // So far below the head that they are read by range.
  for (let i = 0; i < 70; i++) await bench.chain.mine()
  const [refused, hanging] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const released = Promise.withResolvers<void>()
  let isHanging = false
  bench.node.lie(async ({ method, params }) => {
    const filter = (params[0] ?? {}) as { address?: readonly Hex[]; fromBlock?: Hex; toBlock?: Hex }
    const isHung = filter.address?.includes(hung.toLowerCase() as Hex) === true
    if (method !== 'eth_getLogs' || !isHung) return undefined
    if (!isHanging) {
      // Nothing smaller is asked for: the stream rests.
      if (filter.fromBlock === filter.toBlock) refused.resolve()
      return { error: { code: -32_000, message: 'history pruned' } }
    }
    hanging.resolve()
    await released.promise
    return undefined
  })
  // A node that hangs is given up long after the other stream has told.
  await bench.restart({ DREX_RPC_TIMEOUT_MS: '120000' })
  await refused.promise
  isHanging = true
  await hanging.promise
  await bench.admin.currency('mint', ana, 5n)
  await bench.until(async () => told(other).length === 1)
  released.resolve()
  bench.node.lie(undefined)
  token = hung
  await caughtUp(id)
  expect(told(id)).toHaveLength(1)
})
