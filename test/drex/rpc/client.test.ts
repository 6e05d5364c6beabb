import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { commonHead } from '../../../src/drex/engine/blocks.ts'
import { createRpcClient, type RpcClientOptions } from '../../../src/drex/rpc/client.ts'
import {
  classifyRpcError,
  isRetryable,
  type RpcFailure,
  type RpcFailureKind,
} from '../../../src/drex/rpc/errors.ts'
import { type Chain, createChain, pilotChainId } from '../../../src/simulators/chain/index.ts'
import { collected } from '../../support/collector.ts'
import { until } from '../../support/until.ts'
import { createLyingNode } from '../lying-node.ts'

let chain: Chain

beforeAll(async () => {
  chain = await createChain({ mining: 'manual' })
})
afterAll(async () => {
  await chain.stop()
})

const client = (changes: Partial<RpcClientOptions> = {}) =>
  createRpcClient({
    urls: [chain.url],
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

describe('JSON-RPC client', () => {
  test('a batch longer than the limit is cut, and outcomes keep their order', async () => {
    const requests = Array.from({ length: 250 }, (_, i) => ({
      method: 'eth_getBlockByNumber' as const,
      params: [i % 2 === 0 ? '0x0' : 'no block', false],
    }))
    const outcomes = await client().batch(requests)
    expect(outcomes.length).toBe(250)
    outcomes.forEach((outcome, i) => {
      expect('result' in outcome).toBe(i % 2 === 0)
    })
    expect(await client().batch([])).toEqual([])
  })

  test('fails over from a dead node, and gives up when all are dead', async () => {
    const dead = 'http://127.0.0.1:9'
    expect(await client({ urls: [dead, chain.url] }).call('eth_blockNumber')).toBe(0)
    expect(await failureOf(client({ urls: [dead] }).call('eth_blockNumber'))).toBe('unreachable')
    expect(await failureOf(client({ urls: [] }).call('eth_blockNumber'))).toBe('unreachable')
  })

  test('a node that has no state says nothing of one that is dead, whichever is asked last', async () => {
    const pruned = createLyingNode(chain)
    pruned.lie(({ method }) =>
      method === 'eth_blockNumber'
        ? { error: { code: -32_000, message: 'World state unavailable' } }
        : undefined,
    )
    try {
      const dead = 'http://127.0.0.1:9'
      for (const urls of [
        [dead, pruned.url],
        [pruned.url, dead],
      ]) {
        const failed = failureOf(client({ urls, attemptsMax: 2 }).call('eth_blockNumber'))
        expect(await failed).toBe('unreachable')
      }
      const alone = client({ urls: [pruned.url, pruned.url], attemptsMax: 2 })
      expect(await failureOf(alone.call('eth_blockNumber'))).toBe('no_state')
    } finally {
      await pruned.stop()
    }
  })

  for (const [kind, error] of [
    ['method_not_found', { code: -32_601, message: 'Method not found' }],
    ['invalid_question', { code: -32_602, message: 'Invalid params' }],
  ] as const) {
    test(`a node that answers ${kind} says nothing of others`, async () => {
      const unable = createLyingNode(chain)
      unable.lie(({ method }) => (method === 'eth_blockNumber' ? { error } : undefined))
      try {
        const dead = 'http://127.0.0.1:9'
        const asked = client({ urls: [unable.url, unable.url, chain.url], attemptsMax: 1 })
        expect(await asked.call('eth_blockNumber')).toBe(0)
        for (const urls of [
          [dead, unable.url],
          [unable.url, dead],
        ]) {
          const failed = failureOf(client({ urls, attemptsMax: 4 }).call('eth_blockNumber'))
          expect(await failed).toBe('unreachable')
        }
        const before = unable.asked.get('eth_blockNumber')!
        const alone = client({ urls: [unable.url, unable.url], attemptsMax: 4 })
        expect(await failureOf(alone.call('eth_blockNumber'))).toBe(kind)
        expect(unable.asked.get('eth_blockNumber')).toBe(before + 2)
      } finally {
        await unable.stop()
      }
    })
  }

  test('every passing fault is ridden out; the attempts are bounded', async () => {
    const rpc = client()
    await rpc.genesis()
    for (const kind of [
      'unavailable',
      'lost_reply',
      'rate_limited',
      'internal_error',
      'garbage',
    ] as const) {
      chain.faults.set([{ kind, method: 'eth_blockNumber', times: 3 }])
      expect(await rpc.call('eth_blockNumber')).toBe(0)
      chain.faults.set([{ kind, method: 'eth_blockNumber', times: 4 }])
      expect(await failureOf(rpc.call('eth_blockNumber'))).toBeDefined()
    }
    chain.faults.set([])
  })

  test('nobody waits for a node that hangs once enough others have answered, and it is not asked first', async () => {
    const hanging = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Promise(() => {}),
    })
    try {
      const urls = [chain.url, `http://127.0.0.1:${hanging.port}`, chain.url]
      // The node that hangs is given up after the test's own time.
      const rpc = client({ urls, timeoutMs: 120_000 })
      await rpc.genesis()
      const requests = [{ method: 'eth_blockNumber' as const, params: [] }]
      const answers = await rpc.pollBatch(requests, { enough: 2 })
      expect(
        answers.map(([each]) => ('result' in each! ? each.result : each?.failure.kind)),
      ).toEqual([0, 'timed_out', 0])
      // All are waited for where all are wanted.
      const startMs = performance.now()
      const all = await client({ urls, timeoutMs: 3_000 }).pollBatch(requests)
      expect(performance.now() - startMs).toBeGreaterThan(2_999)
      expect(all.map(([each]) => 'result' in each!)).toEqual([true, false, true])
    } finally {
      await hanging.stop(true)
    }
  })

  test('the head is that of those who tell it in a second, and none where too few do', async () => {
    const nodes = [createLyingNode(chain), createLyingNode(chain), createLyingNode(chain)] as const
    const [ahead, slow, hanging] = nodes
    try {
      const rpc = client({ urls: nodes.map(({ url }) => url), timeoutMs: 20_000 })
      ahead.lie(({ method }) => (method === 'eth_blockNumber' ? { result: '0x9' } : undefined))
      slow.lie(async ({ method }) => {
        if (method === 'eth_blockNumber') await Bun.sleep(400)
        return undefined
      })
      hanging.lie(() => new Promise(() => {}))
      const startMs = performance.now()
      expect(await commonHead(rpc, 2)).toBe(0)
      expect(performance.now() - startMs).toBeLessThan(10_000)
      const all = client({ urls: nodes.map(({ url }) => url), timeoutMs: 1_000 })
      expect(await failureOf(commonHead(all, 3, 3))).toBe('unreachable')
    } finally {
      for (const each of nodes) await each.stop()
    }
  })

  for (const [what, needed, heads, head] of [
    ['one node that is behind', 2, ['0x9', '0x9', '0x1'], 9],
    ['one node that is ahead', 2, ['0x99', '0x9', '0x8'], 9],
    ['one node that is ahead, where one is enough', 1, ['0x99', '0x9', '0x8'], 9],
    ['one of two', 1, ['0x99', '0x9'], 9],
  ] as const) {
    test(`${what} does not decide the head`, async () => {
      const nodes = heads.map(() => createLyingNode(chain))
      try {
        for (const [i, result] of heads.entries()) {
          nodes[i]!.lie(({ method }) => (method === 'eth_blockNumber' ? { result } : undefined))
        }
        const rpc = client({ urls: nodes.map(({ url }) => url) })
        expect(await commonHead(rpc, needed)).toBe(head)
      } finally {
        for (const each of nodes) await each.stop()
      }
    })
  }

  test('a node that tells nonsense, or what no block proves, is not asked first again', async () => {
    const odd = createLyingNode(chain)
    try {
      const rpc = client({ urls: [odd.url, chain.url] })
      await rpc.genesis()
      odd.lie(({ method }) => (method === 'eth_blockNumber' ? { result: 'latest' } : undefined))
      expect(await rpc.call('eth_blockNumber')).toBe(0)
      await rpc.batch([{ method: 'eth_blockNumber', params: [] }])
      expect(odd.asked.get('eth_blockNumber')).toBe(1)
      // The other one has more trouble now.
      rpc.turn()
      rpc.turn()
      await rpc.batch([{ method: 'eth_blockNumber', params: [] }])
      expect(odd.asked.get('eth_blockNumber')).toBe(2)
      const [, again] = [await rpc.batch([{ method: 'eth_chainId', params: [] }]), odd.asked]
      expect(again.get('eth_blockNumber')).toBe(2)
    } finally {
      await odd.stop()
    }
  })

  test('what one node tells in no form that can be, another is asked for', async () => {
    const odd = createLyingNode(chain)
    try {
      const rpc = client({ urls: [odd.url, chain.url] })
      await rpc.genesis()
      odd.lie(({ params }) => (params[0] === '0x0' ? { result: { hash: '0x' } } : undefined))
      const outcomes = await rpc.batch(
        ['0x0', 'latest'].map((tag) => ({
          method: 'eth_getBlockByNumber' as const,
          params: [tag, false],
        })),
      )
      expect(outcomes.map((each) => 'result' in each && each.result?.number)).toEqual([0, 0])
      // With one node, its nonsense is all there is.
      const alone = client({ urls: [odd.url] })
      odd.lie(({ method }) => (method === 'eth_blockNumber' ? { result: 'latest' } : undefined))
      const [only] = await alone.batch([{ method: 'eth_blockNumber', params: [] }])
      expect('failure' in only! && only.failure.kind).toBe('malformed')
    } finally {
      await odd.stop()
    }
  })

  test('once all is told that is wanted, nobody waits for a node that goes on for ever, and it is hung up on', async () => {
    let isHungUp = false
    const chunk = new Uint8Array(256).fill(0x20)
    const endless = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => {
        request.signal.addEventListener('abort', () => {
          isHungUp = true
        })
        return new Response(
          new ReadableStream({
            async pull(controller) {
              await Bun.sleep(1)
              controller.enqueue(chunk)
            },
          }),
        )
      },
    })
    try {
      const urls = [`http://127.0.0.1:${endless.port}`, chain.url, chain.url]
      // What goes on for ever is given up after the test's own time.
      const rpc = client({ urls, timeoutMs: 120_000 })
      const seen: number[] = []
      const answers = await rpc.pollBatch([{ method: 'eth_blockNumber' as const, params: [] }], {
        isDone: (told) => {
          seen.push(told.length)
          return told.length === 2
        },
      })
      expect(seen).toEqual([1, 2])
      expect(answers.map(([each]) => 'result' in each!)).toEqual([false, true, true])
      await until(() => isHungUp)
    } finally {
      await endless.stop(true)
    }
  })

  for (const [what, status, error] of [
    ['a limit in HTTP', 429, { code: -32_000, message: 'you are over it' }],
    ['a limit in words', 200, { code: -32_007, message: '50/second request limit reached' }],
    ['what nobody has seen', 402, { code: -32_000, message: 'the subscription has ended' }],
    ['that it has no state', 200, { code: -32_000, message: 'World state unavailable' }],
  ] as const) {
    test(`where a node tells of ${what}, the next is asked, for one and for many`, async () => {
      const limited = createLyingNode(chain)
      try {
        const rpc = client({ urls: [limited.url, chain.url], attemptsMax: 2 })
        await rpc.genesis()
        limited.refuse((calls) =>
          calls === 1
            ? Response.json({ jsonrpc: '2.0', id: 0, error }, { status })
            : Response.json({ jsonrpc: '2.0', id: null, error }, { status }),
        )
        expect(await rpc.call('eth_blockNumber')).toBe(0)
        const fresh = client({ urls: [limited.url, chain.url], attemptsMax: 2 })
        limited.refuse(undefined)
        await fresh.genesis()
        limited.lie(() => ({ error }))
        const asked = Array.from({ length: 3 }, () => ({
          method: 'eth_blockNumber' as const,
          params: [],
        }))
        const outcomes = await fresh.batch(asked)
        expect(outcomes.map((each) => 'result' in each && each.result)).toEqual([0, 0, 0])
      } finally {
        await limited.stop()
      }
    })
  }

  test('beside a node that hangs the next is asked, and answers first from then on', async () => {
    const [hanging, healthy] = [createLyingNode(chain), createLyingNode(chain)]
    try {
      const rpc = client({ urls: [hanging.url, healthy.url], timeoutMs: 120_000 })
      await rpc.genesis()
      let asked: string[] = []
      hanging.refuse(() => {
        asked.push('hanging')
        return new Response(new ReadableStream({}))
      })
      healthy.refuse(() => {
        asked.push('healthy')
        return undefined
      })
      const firstAsked: (string | undefined)[] = []
      for (let i = 0; i < 3; i++) {
        expect(await rpc.call('eth_blockNumber')).toBe(0)
        firstAsked.push(asked[0])
        asked = []
      }
      expect(firstAsked).toEqual(['hanging', 'healthy', 'healthy'])
    } finally {
      await hanging.stop()
      await healthy.stop()
    }
  })

  test('one call that takes for ever costs itself alone, and the node keeps its batches', async () => {
    const node = createLyingNode(chain)
    const sizes: number[] = []
    try {
      const rpc = client({ urls: [node.url], timeoutMs: 300 })
      await rpc.genesis()
      node.lie(({ params }) => (params[0] === '0x7' ? new Promise(() => {}) : undefined))
      node.refuse((calls) => {
        sizes.push(calls)
        return undefined
      })
      const ask = (tags: readonly string[]) =>
        rpc.batch(
          tags.map((tag) => ({ method: 'eth_getBlockByNumber' as const, params: [tag, false] })),
        )
      const told = (outcomes: Awaited<ReturnType<typeof ask>>) =>
        outcomes.map((each) => ('failure' in each ? each.failure.kind : each.result?.number))
      const many = Array.from({ length: 20 }, (_, i) => (i === 9 ? '0x7' : '0x0'))
      expect(told(await ask(many))).toEqual(many.map((tag) => (tag === '0x0' ? 0 : 'timed_out')))
      sizes.length = 0
      expect(told(await ask(['0x7']))).toEqual(['timed_out'])
      expect(told(await ask(many.slice(0, 9)))).toEqual(Array.from({ length: 9 }, () => 0))
      expect(sizes.at(-1)).toBe(9)
    } finally {
      await node.stop()
    }
  })

  test('a node that answers one call after another comes to a batch that it answers in time', async () => {
    const node = createLyingNode(chain)
    try {
      const rpc = client({ urls: [node.url], timeoutMs: 300 })
      await rpc.genesis()
      let work: Promise<unknown> = Promise.resolve()
      node.lie(async () => {
        work = work.then(() => Bun.sleep(8))
        await work
        return undefined
      })
      const requests = Array.from({ length: 100 }, () => ({
        method: 'eth_blockNumber' as const,
        params: [],
      }))
      let told = 0
      for (let turn = 0; turn < 8 && told < 100; turn++) {
        const outcomes = await rpc.batch(requests).catch(() => [])
        told = outcomes.filter((each) => 'result' in each).length
        await work
      }
      expect(told).toBe(100)
    } finally {
      await node.stop()
    }
  })

  test('a node that answers only which chain it is on is not asked for all the rest', async () => {
    const node = createLyingNode(chain)
    try {
      const rpc = client({ urls: [node.url], timeoutMs: 300 })
      await rpc.genesis()
      node.lie(({ method }) => (method === 'eth_getBalance' ? new Promise(() => {}) : undefined))
      const address = `0x${'11'.repeat(20)}`
      const requests = Array.from({ length: 250 }, () => ({
        method: 'eth_getBalance' as const,
        params: [address, 'latest'],
      }))
      for (let turn = 0; turn < 8; turn++) {
        const before = node.asked.get('eth_getBalance') ?? 0
        const outcomes = await rpc.batch(requests)
        expect(outcomes.length).toBe(250)
        expect(outcomes.every((each) => 'failure' in each && isRetryable(each.failure.kind))).toBe(
          true,
        )
        // A batch, and then a few alone.
        expect(node.asked.get('eth_getBalance')! - before).toBeLessThanOrEqual(108)
      }
    } finally {
      await node.stop()
    }
  }, 60_000)

  test('a call that is not sent has an end in its gas', async () => {
    const gases: unknown[] = []
    const node = createLyingNode(chain)
    try {
      node.lie(({ method, params }) => {
        if (method === 'eth_call' || method === 'eth_estimateGas')
          gases.push((params[0] as { readonly gas?: string }).gas)
        return undefined
      })
      const rpc = client({ urls: [node.url] })
      const call = { to: `0x${'11'.repeat(20)}` }
      await rpc.call('eth_call', call, 'latest')
      await rpc.call('eth_estimateGas', call)
      await rpc.call('eth_call', { ...call, gas: '0x5208' }, 'latest')
      expect(gases).toEqual(['0x10000000', '0x10000000', '0x5208'])
    } finally {
      await node.stop()
    }
  })

  test('a reply beyond what was asked is not read to its end', async () => {
    let sent = 0
    const talkative = createLyingNode(chain)
    try {
      const rpc = client({ urls: [talkative.url, chain.url] })
      await rpc.genesis()
      talkative.refuse(() => {
        const pull = (controller: ReadableStreamDefaultController) => {
          sent += 16_384
          controller.enqueue(new Uint8Array(16_384).fill(0x20))
        }
        return new Response(new ReadableStream({ pull }))
      })
      expect(await rpc.call('eth_blockNumber')).toBe(0)
      // What is on its way between the two sockets is not ours.
      expect(sent).toBeLessThan(8 * 1024 * 1024)
    } finally {
      await talkative.stop()
    }
  })

  test('a node that never answers is left at the time-out', async () => {
    const mute = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Promise<Response>(() => {}),
    })
    const url = String(mute.url)
    expect(await client({ urls: [url, chain.url], timeoutMs: 50 }).call('eth_blockNumber')).toBe(0)
    expect(await failureOf(client({ urls: [url], timeoutMs: 50 }).call('eth_blockNumber'))).toBe(
      'timed_out',
    )
    await mute.stop(true)
  })
})

describe('classified refusals', () => {
  const halted = 'Transaction processing could not be completed due to an exception: '
  const cases: readonly (readonly [number, string, RpcFailureKind])[] = [
    [-32000, 'already known', 'known_transaction'],
    [-32000, 'Known transaction', 'known_transaction'],
    [-32000, 'transaction with the same hash was already imported', 'known_transaction'],
    [-32000, 'unknown transaction', 'refused'],
    [-32001, 'Nonce too low', 'nonce_too_low'],
    [-32000, 'nonce too low: next nonce 5, tx nonce 4', 'nonce_too_low'],
    [-32000, 'nonce is too low', 'nonce_too_low'],
    [-32006, 'Nonce too high', 'nonce_too_high'],
    [-32000, 'Transaction nonce is too distant from current sender nonce', 'nonce_too_high'],
    [-32000, 'nonce too far in the future', 'nonce_too_high'],
    [-32000, 'An invalid transaction with a lower nonce exists', 'nonce_too_high'],
    [-32000, 'Replacement transaction underpriced', 'underpriced'],
    [-32009, 'Gas price below configured minimum gas price', 'underpriced'],
    [-32004, 'Upfront cost exceeds account balance', 'insufficient_funds'],
    [-32000, 'insufficient funds for gas * price + value', 'insufficient_funds'],
    [-32007, 'Sender account not authorized to send transactions', 'not_permitted'],
    [-32003, 'Intrinsic gas exceeds gas limit', 'invalid_transaction'],
    [-32000, 'Wrong chainId', 'invalid_transaction'],
    [-32000, 'Execution reverted', 'reverted'],
    [-32601, 'Method not found', 'method_not_found'],
    [-32004, 'Method eth_getBlockReceipts is not supported', 'method_not_found'],
    [-32603, 'Internal error', 'transient'],
    [-32000, 'txpool is full', 'transient'],
    [-32005, 'daily request count exceeded, request rate limited', 'rate_limited'],
    [-32007, '50/second request limit reached - reduce calls per second', 'rate_limited'],
    [-32005, 'You’ve exceeded the RPS limit available on the current plan.', 'rate_limited'],
    [-32012, 'credits limited to 6000/sec', 'rate_limited'],
    [-32000, 'API key is not allowed to access this', 'refused'],
    [-32007, 'something nobody has seen', 'refused'],
    [-32000, 'missing trie node 1f (path )', 'no_state'],
    [-32000, 'World state unavailable', 'no_state'],
    [-32000, 'required historical state unavailable (reexec=128)', 'no_state'],
    [-32000, 'state at block #12 is pruned', 'no_state'],
    [-32000, 'out of gas', 'reverted'],
    [-32000, 'gas required exceeds allowance (268435456)', 'reverted'],
    [-32000, 'invalid opcode: INVALID', 'reverted'],
    [-32003, 'EVM error: StackUnderflow', 'reverted'],
    [-32000, `${halted}Bad instruction`, 'reverted'],
    [-32000, `${halted}Bad jump destination`, 'reverted'],
    [-32000, `${halted}Out of stack`, 'reverted'],
    [-32000, `${halted}Out of bounds`, 'reverted'],
    [-32000, `${halted}Illegal state change`, 'reverted'],
    [-32000, `${halted}Code is too large`, 'reverted'],
    [-32000, `${halted}Precompile error`, 'reverted'],
    [-32015, 'BadInstruction', 'reverted'],
    [-32015, 'StaticCallViolation', 'reverted'],
    [-32015, 'AccessViolation', 'reverted'],
    [-32015, 'VM execution error.', 'reverted'],
    [-32015, 'gateway timeout', 'transient'],
    [-32016, 'The execution failed due to an exception.', 'reverted'],
    [-32016, 'over rate limit', 'rate_limited'],
    [-32000, 'write protection', 'reverted'],
    [-32000, 'return data out of bounds', 'reverted'],
    [-32000, 'stack limit reached 1024 (1023)', 'reverted'],
    [-32000, 'gas uint64 overflow', 'reverted'],
    [-32000, 'max code size exceeded', 'reverted'],
    [-32000, 'contract address collision', 'reverted'],
    [-32602, 'unknown block tag', 'invalid_question'],
    [-32000, 'block tag pending is not supported', 'invalid_question'],
    [-32099, 'something nobody has seen', 'refused'],
  ]
  for (const [code, message, kind] of cases) {
    test(`${code} ${message}`, () => {
      expect(classifyRpcError({ code, message }).kind).toBe(kind)
    })
  }

  test('a revert’s payload is found wherever the client nests it', () => {
    const data = '0x08c379a0'
    expect(classifyRpcError({ code: 3, message: 'execution reverted', data }).data).toBe(data)
    expect(classifyRpcError({ code: -32000, message: 'x', data: { data } }).kind).toBe('reverted')
    expect(classifyRpcError({ code: -32000, message: 'x', data: { data: { data } } }).data).toBe(
      data,
    )
    const word = { code: -32015, message: 'VM execution error.', data: `Reverted ${data}` }
    expect(classifyRpcError(word).data).toBe(data)
  })

  test('a contract’s words are not the node’s', () => {
    const words = 'nonce too low, already known, rate limited'
    expect(classifyRpcError({ code: 3, message: words, data: '0x08c379a0' }).kind).toBe('reverted')
    const geth = { code: -32000, message: `execution reverted: ${words}` }
    expect(classifyRpcError(geth).kind).toBe('reverted')
    for (const before of [
      'VM Exception while processing transaction: reverted with reason string',
      'Error: VM Exception while processing transaction: reverted with reason string',
      'VM Exception while processing transaction: revert',
      'Error: Transaction reverted:',
    ]) {
      const hardhat = { code: -32603, message: `${before} '${words}'` }
      expect(classifyRpcError(hardhat).kind).toBe('reverted')
    }
    expect(classifyRpcError({ code: -32000, message: 'x: revert limit exceeded' }).kind).toBe(
      'reverted',
    )
  })

  test('what is not an error object is refused, and only passing troubles are retried', () => {
    expect(classifyRpcError('no').kind).toBe('refused')
    expect(classifyRpcError({}).kind).toBe('refused')
    expect(
      ['unreachable', 'transient', 'rate_limited', 'no_state', 'refused'].every((kind) =>
        isRetryable(kind as RpcFailureKind),
      ),
    ).toBe(true)
    expect(isRetryable('nonce_too_low')).toBe(false)
  })
})

test('every exchange is a client span with method and server, and nothing of the URL’s path', async () => {
  const url = `${chain.url}/secret-of-the-node?key=secret-too`
  const collector = await collected(async () => {
    await client({ urls: [url] }).call('eth_blockNumber')
    await client({ urls: ['http://127.0.0.1:1'], attemptsMax: 1 })
      .call('eth_blockNumber')
      .catch(() => {})
  })
  const spans = collector.spans.map(({ name, kind, attributes, isFailed }) => ({
    name,
    kind,
    isFailed,
    port: attributes['server.port'],
    method: attributes['rpc.method'],
    system: attributes['rpc.system.name'],
  }))
  const port = Number(new URL(chain.url).port)
  const block = 'eth_getBlockByNumber'
  const common = { kind: 3, system: 'jsonrpc' }
  expect(spans).toEqual([
    { ...common, name: 'rpc eth_chainId', method: 'eth_chainId', port, isFailed: false },
    { ...common, name: `rpc ${block}`, method: block, port, isFailed: false },
    { ...common, name: 'rpc eth_blockNumber', method: 'eth_blockNumber', port, isFailed: false },
    { ...common, name: 'rpc eth_chainId', method: 'eth_chainId', port: 1, isFailed: true },
  ])
  expect(collector.text()).not.toContain('secret')
})
