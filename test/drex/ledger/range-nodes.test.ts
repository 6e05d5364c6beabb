/** Ranges of blocks, asked of nodes over the wire: a range and its last block are of one node. */
import { afterEach, expect, test } from 'bun:test'
import { quantity } from '../../../src/drex/evm/hex.ts'
import { createSource } from '../../../src/drex/ledger/source.ts'
import { createRpcClient } from '../../../src/drex/rpc/client.ts'

type Call = { readonly id: number; readonly method: string; readonly params: readonly unknown[] }

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as const
const address = `0x${'11'.repeat(20)}` as const
const topic = hashOf(7)

const blockOf = (number: number) => ({
  number: quantity(number),
  hash: hashOf(number + 1),
  parentHash: hashOf(number),
  timestamp: '0x1',
  transactions: [],
})

const logsOf = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => ({
    address,
    topics: [topic],
    data: '0x',
    blockNumber: quantity(from + i),
    blockHash: hashOf(from + i + 1),
    transactionHash: hashOf(from + i),
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  }))

const servers: Bun.Server<undefined>[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true)
})

/** Each block up to its head has one event. @param refuse of a range, by its number of blocks */
const nodeOf = (head: number, refuse: (blocks: number) => object | Response | undefined) => {
  const sizes: number[] = []
  const answer = ({ method, params: [about] }: Call): object | Response => {
    if (method === 'eth_chainId') return { result: '0x1' }
    if (method === 'eth_getBlockByNumber') {
      const number = Number(about)
      return { result: number <= head ? blockOf(number) : null }
    }
    if (method !== 'eth_getLogs') return { result: '0x0' }
    const { fromBlock, toBlock } = about as { fromBlock: string; toBlock: string }
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    return refuse(to - from + 1) ?? { result: logsOf(from, Math.min(head, to)) }
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as Call | Call[]
      const calls = Array.isArray(body) ? body : [body]
      sizes.push(calls.length)
      const replies = calls.map((call) => {
        const told = answer(call)
        return told instanceof Response ? told : { jsonrpc: '2.0', id: call.id, ...told }
      })
      const whole = replies.find((each) => each instanceof Response)
      return whole ?? Response.json(Array.isArray(body) ? replies : replies[0])
    },
  })
  servers.push(server)
  return { url: String(server.url), sizes }
}

const readerOf = (nodes: readonly { readonly url: string }[]) => {
  const rpc = createRpcClient({
    urls: nodes.map(({ url }) => url),
    chainId: 1,
    timeoutMs: 2_000,
    attemptsMax: 4,
    batchCallsMax: 100,
  })
  const source = createSource({ network: { proofs: false }, rpc, prover: {} } as never)
  const read = () =>
    source.read({ number: 10, hash: hashOf(11) }, 5_000, { addresses: [address], topics: [topic] })
  return { rpc, read }
}

const broken = { error: { code: -32_603, message: 'Internal error' } }
const all = () => undefined

test('the end of a range proves nothing of what a node that lags behind tells of the range', async () => {
  const { read } = readerOf([nodeOf(5_000, () => broken), nodeOf(1_500, all)])
  await expect(read()).rejects.toMatchObject({ kind: 'transient' })
})

test('what one node does not tell of a range, another does, with its end', async () => {
  const { read } = readerOf([nodeOf(5_000, () => broken), nodeOf(5_000, all)])
  const page = await read()
  expect([page?.last.number, page?.logs.length]).toEqual([2_010, 2_000])
})

test('a range that is too long costs nobody else the size of his batches', async () => {
  const tooLarge = (blocks: number) =>
    blocks >= 1_500 ? new Response('', { status: 413 }) : undefined
  const node = nodeOf(5_000, tooLarge)
  const { rpc, read } = readerOf([node])
  expect((await read())?.logs).toHaveLength(1_000)
  node.sizes.length = 0
  const params = [address, 'latest']
  await rpc.batch(
    Array.from({ length: 100 }, () => ({ method: 'eth_getTransactionCount', params })),
  )
  expect(node.sizes).toEqual([100])
})

test('a node that takes no batches tells a range all the same', async () => {
  const node = nodeOf(5_000, all)
  const single = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.text()
      if (!body.startsWith('[')) return fetch(node.url, { method: 'POST', body })
      return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'no' } })
    },
  })
  servers.push(single)
  expect((await readerOf([{ url: String(single.url) }]).read())?.logs).toHaveLength(2_000)
})
