/** Blocks take their time to be proven: what is proven is told, and the next look goes on behind it. */
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import type { Hex } from '../../../src/drex/evm/hex.ts'
import { provenPart } from '../../../src/drex/ledger/part.ts'

const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`
const topic = hashOf(7)
const address: Hex = `0x${'ab'.repeat(20)}`
const logOf = (blockNumber: number) => ({
  blockNumber,
  blockHash: hashOf(blockNumber),
  logIndex: 0,
  address,
  topics: [topic],
  removed: false,
})
const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

let nowMs = 0
let clock: { mockRestore: () => void }
beforeEach(() => {
  nowMs = 0
  clock = spyOn(performance, 'now').mockImplementation(() => nowMs)
})
afterEach(() => clock.mockRestore())

/** Each block has one event, and takes so long to be proven. */
const proverOf = (tookMs: number, unproven: readonly number[] = []) => {
  const asked: number[] = []
  const prove = async (hash: Hex) => {
    const number = Number(hash)
    asked.push(number)
    nowMs += tookMs
    if (unproven.includes(number)) return undefined
    return { number, hash, receipts: new Map([[hash, { logs: [logOf(number)] }]]) }
  }
  return { asked, prover: { prove } as never }
}

const partOf = async (tookMs: number, unproven: readonly number[] = []) => {
  const { asked, prover } = proverOf(tookMs, unproven)
  const told = upTo(11, 110).map(logOf) as never
  const page = {
    before: { number: 10, hash: hashOf(10) },
    last: { number: 2_010, hash: hashOf(2_010) },
    logs: told,
    blocks: new Map(),
  }
  const shortened: number[] = []
  const source = { shorten: (blocks: number) => shortened.push(blocks) }
  const part = await provenPart({ prover, source, page }, told, (logs) => logs)
  return { asked, shortened, last: part.page.last, proven: part.proven.length }
}

test('what is proven in time is taken, and the page ends with it', async () => {
  const part = await partOf(100)
  expect(part).toEqual({
    asked: upTo(11, 20),
    shortened: [10],
    last: { number: 20, hash: hashOf(20) },
    proven: 10,
  })
})

test('all of it in time: the page ends where it did', async () => {
  const { last, proven, shortened } = await partOf(1)
  expect([last.number, proven, shortened]).toEqual([2_010, 100, []])
})

test('one that takes longer by itself is taken alone', async () => {
  const { last, proven } = await partOf(10_000)
  expect([last.number, proven]).toEqual([11, 1])
})

test('the page ends before a block that is not proven, and begins with none', async () => {
  const { last, proven } = await partOf(1, [50])
  expect([last.number, proven]).toEqual([49, 39])
  await expect(partOf(1, [11])).rejects.toMatchObject({ kind: 'transient' })
})
