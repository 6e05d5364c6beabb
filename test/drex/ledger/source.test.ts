/** A node that does not answer some of many questions: what it did answer is read, and nothing is taken for gone. */
import { expect, spyOn, test } from 'bun:test'
import type { Hex } from '../../../src/drex/evm/hex.ts'
import { lastOnChain } from '../../../src/drex/ledger/following.ts'
import { createSource } from '../../../src/drex/ledger/source.ts'
import type { RpcOutcome } from '../../../src/drex/rpc/client.ts'
import { RpcFailure } from '../../../src/drex/rpc/errors.ts'

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const topic = hashOf(7)
const address: Hex = `0x${'ab'.repeat(20)}`
const limited = { failure: new RpcFailure('rate_limited', 'too many requests') }

type Question = { readonly method: string; readonly params: readonly unknown[] }

/** Blocks without end, each with one event. @param isLeft whether a question about a block is left unanswered */
const contextOf = (isLeft: (method: string, number: number) => boolean) => {
  const answer = ({ method, params: [about] }: Question): RpcOutcome => {
    const isBlock = method === 'eth_getBlockByNumber'
    const number = Number(isBlock ? about : (about as { blockHash: Hex }).blockHash)
    if (isLeft(method, number)) return limited
    const [hash, place] = [hashOf(number), { logIndex: 0, blockNumber: number }]
    if (isBlock) return { result: { number, hash, parentHash: hashOf(number - 1) } }
    return { result: [{ ...place, address, topics: [topic], blockHash: hash, removed: false }] }
  }
  const batch = async (questions: readonly Question[]) => questions.map(answer)
  return { network: { proofs: false }, rpc: { batch }, prover: {} } as never
}

const read = (isLeft: Parameters<typeof contextOf>[0]) =>
  createSource(contextOf(isLeft)).read({ number: 10, hash: hashOf(10) }, 40, {
    addresses: [address],
    topics: [topic],
  })

for (const [what, method] of [
  ['a block', 'eth_getBlockByNumber'],
  ['the events of a block', 'eth_getLogs'],
] as const) {
  test(`${what} left out: the page ends before it, and begins with it no page`, async () => {
    const page = await read((asked, number) => asked === method && number === 23)
    expect([page?.last.number, page?.logs.length]).toEqual([22, 12])
    const first = read((asked, number) => asked === method && number === 11)
    await expect(first).rejects.toMatchObject({ kind: 'rate_limited' })
  })
}

/**
 * Answers questions about ranges, too.
 * @param ask the blocks that it tells an event of
 * @param head of the node that answers them
 */
const rangesOf = (
  ask: (from: number, to: number) => number[],
  isLeft: Parameters<typeof contextOf>[0] = () => false,
  head = Infinity,
) => {
  const asked: (readonly [number, number])[] = []
  const range = ({ fromBlock, toBlock }: { readonly fromBlock: Hex; readonly toBlock: Hex }) => {
    const [from, to] = [Number(fromBlock), Number(toBlock)]
    asked.push([from, to])
    return ask(from, to).map((blockNumber) => ({
      blockNumber,
      blockHash: hashOf(blockNumber),
      logIndex: 0,
      address,
      topics: [topic],
      removed: false,
    }))
  }
  const context = contextOf(isLeft) as {
    readonly rpc: { readonly batch: (questions: readonly Question[]) => Promise<RpcOutcome[]> }
  }
  const { batch } = context.rpc
  const together = async ([block, logs]: readonly Question[]): Promise<RpcOutcome[]> => {
    const filter = logs?.params[0] as { readonly fromBlock: Hex; readonly toBlock: Hex }
    const [told] = await batch([block!])
    return [Number(filter.toBlock) > head ? { result: null } : told!, { result: range(filter) }]
  }
  const source = createSource({ ...context, rpc: { batch, together } } as never)
  return { source, asked }
}

const upTo = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)

test('the newest blocks are never read by range: a node that lags behind leaves nothing out', async () => {
  const head = 300
  const { source } = rangesOf((from, to) => upTo(from, Math.min(to, head - 5)))
  const found: number[] = []
  for (let last = 10; last < head; ) {
    const place = { number: last, hash: hashOf(last) }
    const page = await source.read(place, head, { addresses: [address], topics: [topic] })
    found.push(...page!.logs.map(({ blockNumber }) => blockNumber))
    last = page!.last.number
  }
  expect(found).toEqual(upTo(11, head))
})

const far = { number: 10, hash: hashOf(10) }
const readFar = ({ source }: ReturnType<typeof rangesOf>) =>
  source.read(far, 100_000, { addresses: [address], topics: [topic] })
const sizes = ({ asked }: ReturnType<typeof rangesOf>) => asked.map(([from, to]) => to - from + 1)

test('a node that is further behind tells no range whose end it has not', async () => {
  const lagging = (head: number) =>
    rangesOf((from, to) => upTo(from, Math.min(to, head)), undefined, head)
  await expect(readFar(lagging(2_009))).rejects.toMatchObject({ kind: 'transient' })
  expect((await readFar(lagging(2_010)))?.logs).toHaveLength(2_000)
})

test('a node that is slow to refuse a range is asked for half of it at the next look, and not before', async () => {
  let nowMs = 0
  const clock = spyOn(performance, 'now').mockImplementation(() => nowMs)
  const ranges = rangesOf((from, to) => {
    if (to - from < 500) return [from]
    nowMs += 20_000
    throw new RpcFailure('timed_out', 'no answer in time')
  })
  try {
    await expect(readFar(ranges)).rejects.toMatchObject({ kind: 'timed_out' })
    await expect(readFar(ranges)).rejects.toMatchObject({ kind: 'timed_out' })
    expect((await readFar(ranges))?.last.number).toBe(510)
    expect(sizes(ranges)).toEqual([2_000, 1_000, 500])
  } finally {
    clock.mockRestore()
  }
})

test('a range that is refused at once is halved at once; a block that is not told makes none smaller', async () => {
  let isAway = true
  const ranges = rangesOf(
    (from, to) => {
      if (to - from < 500) return [from]
      throw new RpcFailure('refused', 'too many blocks')
    },
    () => isAway,
  )
  await expect(readFar(ranges)).rejects.toMatchObject({ kind: 'rate_limited' })
  isAway = false
  expect((await readFar(ranges))?.last.number).toBe(510)
  expect(sizes(ranges)).toEqual([2_000, 1_000, 500])
})

test('the newest block that is still there counts, whatever is not told of older ones', async () => {
  const anchors = [10, 20, 30].map((number) => ({ number, hash: hashOf(number) }))
  const gone = { number: 40, hash: hashOf(1) }
  const last = (left: number) =>
    lastOnChain(
      contextOf((_, number) => number === left),
      [...anchors, gone],
    )
  expect(await last(20)).toEqual(anchors[2])
  await expect(last(30)).rejects.toMatchObject({ kind: 'rate_limited' })
  await expect(last(40)).rejects.toMatchObject({ kind: 'rate_limited' })
})
