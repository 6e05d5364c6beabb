/** A nonce that is used already, by the very transaction that is sent: nobody else has sent anything. */
import { afterEach, expect, test } from 'bun:test'
import { type Bench, createBench } from './support.ts'

let bench: Bench
afterEach(() => bench.stop())

test('what a node has mined before it answers is its own, and puts nothing in doubt', async () => {
  bench = await createBench({ isLying: true })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  let refusals = 0
  bench.node.lie(async ({ method }, answer) => {
    if (method !== 'eth_sendRawTransaction') return undefined
    await answer()
    refusals += 1
    return { error: { code: -32_000, message: 'nonce too low' } }
  })
  await bench.reaches(await bench.pay(ana, bia), 'confirmed')
  await Bun.sleep(300)
  const lanes = await bench.database.sql<{ doubt: string | null }[]>`
    select doubt from drex_lanes where sender = ${ana}`
  expect(refusals).toBeGreaterThan(0)
  expect(lanes.map(({ doubt }) => doubt)).toEqual([null])
  expect(await bench.balance(bia)).toBe(100n)
}, 60_000)
