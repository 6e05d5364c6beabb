/** The block that a chain is known by later: it is remembered on the word of several nodes, never on that of one. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Hex } from '../../src/drex/evm/hex.ts'
import { commandHere } from '../support/command-here.ts'
import type { Lie } from './lying-node.ts'
import { type Bench, createBench } from './support.ts'

let bench: Bench

beforeEach(async () => {
  bench = await createBench({ isLying: true, engine: false, chain: { mining: 'manual' } })
  for (let i = 0; i < 8; i++) await bench.chain.mine()
})
afterEach(() => bench.stop())

const remembered = async (): Promise<Hex | undefined> => {
  const [row] = await bench.database.sql<{ hash: Hex | null }[]>`
    select checkpoint_hash as hash from drex_network_state`
  return row?.hash ?? undefined
}

/** Until every node has been asked for the block, and some time more. */
const look = async (urls: readonly string[], lie?: Lie): Promise<void> => {
  let asked = 0
  bench.node.lie((call, answer) => {
    const [number] = call.params
    if (call.method !== 'eth_getBlockByNumber' || number === '0x0') return undefined
    asked++
    return lie?.(call, answer)
  })
  await bench.restart({ DREX_TESTNET_RPC_URLS: urls.join(','), DREX_WATCH_BLOCKS: '2' })
  void bench.drex().start?.()
  await bench.until(async () => asked > 3 || (await remembered()) !== undefined)
}

const otherHash: Lie = async (_, answer) => {
  const outcome = await answer()
  if (!('result' in outcome)) return outcome
  return { result: { ...(outcome.result as object), hash: `0x${'ab'.repeat(32)}` } }
}

test('a node that is alone with its block: nothing is remembered of it', async () => {
  const { node, chain } = bench
  await look([node.url, chain.url], otherHash)
  expect(await remembered()).toBeUndefined()
  await look([node.url, chain.url], () => ({ result: null }))
  expect(await remembered()).toBeUndefined()
  // One that is named alone has to prove what it tells.
  await look([node.url], otherHash)
  expect(await remembered()).toBeUndefined()
}, 60_000)

test('two first blocks on the first start: neither is remembered, until the other node is gone', async () => {
  const { node, chain } = bench
  let asked = 0
  node.lie((call, answer) => {
    asked++
    return call.params[0] === '0x0' ? otherHash(call, answer) : undefined
  })
  const rows = () => bench.database.sql`select genesis_hash from drex_network_state`
  const start = async (urls: readonly string[]) => {
    await bench.restart({ DREX_TESTNET_RPC_URLS: urls.join(',') })
    void bench.drex().start?.()
  }
  await start([node.url, chain.url])
  await bench.until(async () => asked > 4)
  expect(await rows()).toHaveLength(0)
  await start([chain.url])
  await bench.until(async () => (await rows()).length === 1)
  expect((await rows())[0]?.['genesis_hash']).not.toBe(`0x${'ab'.repeat(32)}`)
}, 60_000)

test('two that tell the same: it is remembered', async () => {
  await look([bench.node.url, bench.chain.url])
  await bench.until(async () => (await remembered()) !== undefined)
}, 60_000)

test('a node that is far ahead: what comes in is no history for that', async () => {
  const { node, chain } = bench
  node.lie(({ method }) => (method === 'eth_blockNumber' ? { result: '0xffffffffff' } : undefined))
  await bench.restart({ DREX_TESTNET_RPC_URLS: `${node.url},${chain.url}` })
  void bench.drex().start?.()
  const begun = () => bench.database.sql<{ until: number }[]>`
    select history_until::float8 as until from drex_positions`
  await bench.until(async () => (await begun()).length === 1)
  expect((await begun())[0]!.until).toBeLessThan(1_000)
}, 60_000)

test('what a node lied is forgotten by a command, once nobody follows the network: it is known anew', async () => {
  const { chain, database } = bench
  const networks = async (...argv: string[]) => {
    const { code, out, err } = await commandHere(['networks', ...argv], {
      DATABASE_DSN: database.dsn,
    })
    return { code, told: out + err }
  }
  const status = async () => (await bench.networkStatus()) ?? ''
  await look([chain.url])
  await bench.until(async () => (await remembered()) !== undefined)
  const [right] = await database.sql`select * from drex_network_state`
  const refused = await networks('forget', 'drex_testnet')
  expect([refused.code, refused.told]).toEqual([1, expect.stringContaining('follows drex_testnet')])

  await bench.drex().stop?.()
  const lie = `0x${'ab'.repeat(32)}`
  await database.sql`update drex_network_state set checkpoint_hash = ${lie}, genesis_hash = ${lie}`
  await bench.restart({ DREX_WATCH_BLOCKS: '2' })
  void bench.drex().start?.()
  await bench.until(async () => (await status()) === 'wrong_network')
  expect((await networks('show')).told).toContain(lie)
  expect((await networks('forget', 'drex_mainnet')).code).toBe(1)
  expect((await networks('forget', 'drex_testnet', '--genesis', '0x1')).code).toBe(2)
  const genesis = String(right?.['genesis_hash'])
  await bench.until(
    async () => (await networks('forget', 'drex_testnet', '--genesis', genesis)).code === 0,
  )
  await bench.until(async () => (await status()) === 'running')
  await bench.until(async () => (await remembered()) === right?.['checkpoint_hash'])
  const audited = await database.sql`
    select object, outcome from audit_log where action = 'drex.forget'`
  expect([...audited]).toEqual([{ object: 'drex_testnet', outcome: 'first block replaced' }])
}, 60_000)
