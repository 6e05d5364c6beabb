/** Nodes with limits, nodes that answer nonsense, and nodes of other chains. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { createRpcClient, type RpcClientOptions } from '../../../src/drex/rpc/client.ts'
import type { RpcFailure, RpcFailureKind } from '../../../src/drex/rpc/errors.ts'
import { exchange, replyBytesMax } from '../../../src/drex/rpc/exchange.ts'
import type { Method } from '../../../src/drex/rpc/methods.ts'
import { type Chain, createChain, pilotChainId } from '../../../src/simulators/chain/index.ts'
import { createLyingNode, type LyingNode } from '../lying-node.ts'

let chain: Chain
let node: LyingNode

beforeAll(async () => {
  chain = await createChain({ mining: 'manual' })
  for (let i = 0; i < 3; i++) await chain.mine()
})
afterAll(() => chain.stop())
beforeEach(() => {
  node = createLyingNode(chain)
})
afterEach(() => node.stop())

const client = (changes: Partial<RpcClientOptions> = {}) =>
  createRpcClient({
    urls: [node.url],
    chainId: pilotChainId,
    timeoutMs: 1_000,
    attemptsMax: 4,
    batchCallsMax: 100,
    random: () => 0.01,
    ...changes,
  })

const failureOf = async (action: Promise<unknown>): Promise<RpcFailureKind | undefined> => {
  try {
    await action
    return undefined
  } catch (error) {
    return (error as RpcFailure).kind
  }
}

const blocks = (count: number) =>
  Array.from({ length: count }, () => ({
    method: 'eth_getBlockByNumber' as const,
    params: ['0x1', false],
  }))

describe('what a node takes at once', () => {
  const refusals: Readonly<Record<string, () => Response>> = {
    'an error in place of the array': () =>
      Response.json({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32005, message: 'Batch too big' },
      }),
    'an array of one error': () =>
      Response.json([
        { jsonrpc: '2.0', id: 0, error: { code: -32600, message: 'batch too large' } },
      ]),
    'HTTP 413 in plain text': () => new Response('too large', { status: 413 }),
    'a reply of too many bytes, whose length is not told': () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20))
          },
        }),
      ),
  }
  for (const [name, refusal] of Object.entries(refusals)) {
    for (const limit of [1, 10, 99]) {
      test(`${limit} calls; more get ${name}: found out, and remembered`, async () => {
        let refused = 0
        node.refuse((calls) => {
          if (calls <= limit) return undefined
          refused++
          return refusal()
        })
        // The long reply takes a busy machine its time.
        const rpc = client({ timeoutMs: 20_000 })
        const outcomes = await rpc.batch(blocks(220))
        expect(outcomes.length).toBe(220)
        expect(outcomes.every((each) => 'result' in each && each.result?.number === 1)).toBe(true)
        expect(refused).toBeLessThanOrEqual(7)
        const before = refused
        await rpc.batch(blocks(220))
        expect(refused).toBe(before)
      })
    }
  }

  test('no batches at all: single calls', async () => {
    node.refuse((calls) =>
      calls > 1 ? Response.json({ id: null, error: { code: -32600, message: 'no' } }) : undefined,
    )
    const outcomes = await client().batch(blocks(30))
    expect(outcomes.every((each) => 'result' in each)).toBe(true)
  })

  test.each([
    [-32005, 'Too many requests: 50 a second', 'rate_limited'],
    [-32603, 'Internal error', 'transient'],
    [-32000, 'the subscription has ended', 'refused'],
  ] as const)(
    'one error for all that says nothing of their number does not cut the batch: %i %s',
    async (code, message, kind) => {
      const rpc = client({ attemptsMax: 1 })
      await rpc.genesis()
      const sizes: number[] = []
      node.refuse((calls) => {
        sizes.push(calls)
        return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } })
      })
      expect(await failureOf(rpc.batch(blocks(100)))).toBe(kind)
      // At most a few alone: it may be one call's that is said of all.
      expect([sizes[0], sizes.slice(1).filter((each) => each !== 1)]).toEqual([100, []])
      expect(sizes.length).toBeLessThan(10)
    },
  )

  test('one call that a node answers by an error for all spoils no other, and the node keeps its batches', async () => {
    const requests = blocks(20).map((each, i) =>
      i === 9 ? { ...each, params: ['0x2', false] } : each,
    )
    const sizes: number[] = []
    const proxy = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const text = await request.text()
        const body = JSON.parse(text) as unknown
        sizes.push(Array.isArray(body) ? body.length : 1)
        if (!text.includes('"0x2"')) return fetch(node.url, { method: 'POST', body: text })
        const error = { code: -32603, message: 'Internal error' }
        return Response.json({ jsonrpc: '2.0', id: Array.isArray(body) ? null : 0, error })
      },
    })
    const rpc = client({ urls: [String(proxy.url)] })
    const outcomes = await rpc.batch(requests)
    expect(
      outcomes.flatMap((each, i) => ('failure' in each ? [[i, each.failure.kind]] : [])),
    ).toEqual([[9, 'transient']])
    sizes.length = 0
    await rpc.batch(blocks(20))
    expect(sizes).toEqual([20])
    await proxy.stop(true)
  })

  test('fewer answers than calls: those missing are asked for alone', async () => {
    const short = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const body = (await request.json()) as { id: number; method: string }[]
        const response = await fetch(chain.url, { method: 'POST', body: JSON.stringify(body) })
        const replies = (await response.json()) as unknown
        return Response.json(Array.isArray(replies) ? replies.slice(1).toReversed() : replies)
      },
    })
    const outcomes = await client({ urls: [String(short.url)] }).batch(blocks(5))
    expect(outcomes.every((each) => 'result' in each)).toBe(true)
    await short.stop(true)
  })

  test('a reply is read out of gzip as far as its limit goes, and out of no other compression', async () => {
    const told = JSON.stringify({ jsonrpc: '2.0', id: 0, result: '0x7' })
    const replies = [
      ['gzip', gzipSync(told), undefined],
      ['gzip', gzipSync(told + ' '.repeat(replyBytesMax)), 'too_large'],
      ['br', brotliCompressSync(told), 'malformed'],
    ] as const
    for (const [coding, bytes, kind] of replies) {
      node.refuse(() => new Response(bytes, { headers: { 'Content-Encoding': coding } }))
      const asked = [{ method: 'eth_blockNumber', params: [] }] as const
      expect(await failureOf(exchange(node.url, asked, { timeoutMs: 5_000 }))).toBe(kind)
    }
  })

  test('a single reply of too many bytes is refused without being kept', async () => {
    let sent = 0
    node.refuse(
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              sent += 1024 * 1024
              if (sent > 64 * replyBytesMax) controller.close()
              else controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20))
            },
          }),
        ),
    )
    expect(await failureOf(client({ attemptsMax: 1 }).call('eth_blockNumber'))).toBe('too_large')
    expect(sent).toBeLessThan(2 * replyBytesMax)
  })
})

describe('one call whose answer nobody can read', () => {
  const [large, other] = ['0x2', '0x1']
  const answers: Readonly<Record<string, readonly [RpcFailureKind, () => string]>> = {
    'too long': ['too_large', () => `"${' '.repeat(replyBytesMax)}"`],
    'no JSON': ['malformed', () => '{"jsonrpc":"2.0","id":0,"result":'],
  }
  const cases: readonly (readonly string[])[] = [[large], [large, other], [other, large, other]]
  for (const [name, [kind, body]] of Object.entries(answers)) {
    for (const asked of cases) {
      for (const batchCallsMax of [100, 1]) {
        test(`${name}: told of it alone, of ${asked.length}, by ${batchCallsMax}`, async () => {
          const proxy = Bun.serve({
            hostname: '127.0.0.1',
            port: 0,
            async fetch(request) {
              const text = await request.text()
              if (text.includes(`"params":["${large}"`)) return new Response(body())
              return fetch(node.url, { method: 'POST', body: text })
            },
          })
          const rpc = client({ urls: [String(proxy.url)], batchCallsMax, timeoutMs: 20_000 })
          await rpc.genesis()
          const outcomes = await rpc.batch(
            asked.map((number) => ({ method: 'eth_getBlockByNumber', params: [number, false] })),
          )
          expect(outcomes.map((each) => ('failure' in each ? each.failure.kind : 'told'))).toEqual(
            asked.map((number) => (number === large ? kind : 'told')),
          )
          await proxy.stop(true)
        })
      }
    }
  }
})

describe('answers of a form that the method cannot have', () => {
  const receipt = {
    transactionHash: `0x${'11'.repeat(32)}`,
    blockNumber: '0x1',
    blockHash: `0x${'22'.repeat(32)}`,
    gasUsed: '0x5208',
    logs: [],
  }
  const answers: readonly (readonly [Method, unknown])[] = [
    ['eth_blockNumber', 'latest'],
    ['eth_blockNumber', '0x'],
    ['eth_blockNumber', '0xzz'],
    ['eth_blockNumber', `0x1${'0'.repeat(14)}`],
    ['eth_blockNumber', -1],
    ['eth_blockNumber', null],
    ['eth_call', null],
    ['eth_call', '0x1'],
    ['eth_gasPrice', `0x1${'0'.repeat(64)}`],
    ['eth_estimateGas', 'many'],
    ['eth_sendRawTransaction', '0x1234'],
    ['eth_getTransactionReceipt', receipt],
    ['eth_getTransactionReceipt', { ...receipt, status: null }],
    ['eth_getTransactionReceipt', { ...receipt, status: '0x2' }],
    ['eth_getTransactionReceipt', { ...receipt, status: '0x1', blockNumber: null }],
    ['eth_getTransactionReceipt', { ...receipt, status: '0x1', logs: [{ topics: null }] }],
    ['eth_getTransactionReceipt', 'none'],
    ['eth_getBlockByNumber', {}],
    ['eth_getLogs', {}],
  ]
  for (const [method, result] of answers) {
    test(`${method}: ${JSON.stringify(result)?.slice(0, 60)}`, async () => {
      const rpc = client({ attemptsMax: 2 })
      await rpc.genesis()
      node.lie((call) => (call.method === method ? { result } : undefined))
      expect(await failureOf(rpc.call(method))).toBe('malformed')
      node.lie(undefined)
      // Another node may answer well.
      expect(await rpc.call('eth_blockNumber')).toBe(3)
    })
  }

  test('one of many spoils no other', async () => {
    const rpc = client()
    let asked = 0
    node.lie(({ params }) =>
      params[0] === '0x1' && ++asked === 3 ? { result: { hash: 'none' } } : undefined,
    )
    const outcomes = await rpc.batch(blocks(6))
    expect(outcomes.filter((each) => 'result' in each).length).toBe(5)
  })
})

describe('which chain a node is on', () => {
  let other: Chain
  beforeAll(async () => {
    // Another second, another genesis block.
    await Bun.sleep(1_001)
    other = await createChain({ mining: 'manual' })
  })
  afterAll(() => other.stop())

  test('another chain id: never used, and the next node is', async () => {
    const alien = await createChain({ mining: 'manual', chainId: 1337 })
    const found = await client({ urls: [alien.url, node.url] }).call('eth_chainId')
    expect(found).toBe(pilotChainId)
    expect(await failureOf(client({ urls: [alien.url] }).genesis())).toBe('wrong_chain')
    await alien.stop()
  })

  test('the same chain id, another genesis block: not used, and told', async () => {
    const told: string[] = []
    const rpc = client({
      urls: [node.url, other.url],
      onWrongChain: (_host, reason) => told.push(reason),
    })
    expect(await rpc.call('eth_blockNumber')).toBe(3)
    node.refuse(() => new Response('away', { status: 503 }))
    expect(await failureOf(rpc.call('eth_blockNumber'))).toBe('wrong_chain')
    expect(told.some((reason) => reason.includes('genesis'))).toBe(true)
    node.refuse(undefined)
  })

  test('a node that comes back as another chain is asked nothing more', async () => {
    const rpc = client()
    await rpc.call('eth_blockNumber')
    node.refuse(() => new Response('away', { status: 503 }))
    expect(await failureOf(rpc.call('eth_blockNumber'))).toBe('unreachable')
    node.refuse(undefined)
    node.move(other)
    const before = node.asked.get('eth_blockNumber')
    expect(await failureOf(rpc.call('eth_blockNumber'))).toBe('wrong_chain')
    expect(node.asked.get('eth_blockNumber')).toBe(before)
  })

  test('a change without any failure is found out at the next look', async () => {
    const rpc = client({ identityMs: 20 })
    await rpc.call('eth_blockNumber')
    node.move(other)
    await Bun.sleep(25)
    expect(await failureOf(rpc.call('eth_blockNumber'))).toBe('wrong_chain')
  })

  test('the same genesis block, another block where a final one was: the chain began anew', async () => {
    const rpc = client({ identityMs: 1 })
    await rpc.genesis()
    const hash = `0x${'ab'.repeat(32)}` as const
    rpc.expectCheckpoint({ number: 2, hash })
    await Bun.sleep(2)
    expect(await failureOf(rpc.call('eth_blockNumber'))).toBe('wrong_chain')
    rpc.expectGenesis(undefined)
  })

  test('a node that is not there yet lags behind, and is not used', async () => {
    const rpc = client({ identityMs: 1 })
    await rpc.genesis()
    rpc.expectCheckpoint({ number: 1_000, hash: `0x${'ab'.repeat(32)}` })
    await Bun.sleep(2)
    expect(await failureOf(rpc.call('eth_blockNumber'))).toBe('unreachable')
  })
})
