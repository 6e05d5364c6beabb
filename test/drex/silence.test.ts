/** If one of two nodes is behind, it holds up every end: somebody is told which it is, and when it is over. */
import { afterAll, expect, mock, spyOn, test } from 'bun:test'
import type { EngineContext } from '#src/drex/engine/context.ts'
import { createSilence } from '#src/drex/engine/silence.ts'
import { quietLogger } from '../support/database.ts'
import { createLyingNode } from './lying-node.ts'
import { createBench } from './support.ts'

let skippedMs = 0
const realNow = performance.now.bind(performance)
const clock = spyOn(performance, 'now').mockImplementation(() => realNow() + skippedMs)
const spies = [spyOn(quietLogger, 'error'), spyOn(quietLogger, 'info')]
const bench = await createBench({ isLying: true })
const second = createLyingNode(bench.chain)
afterAll(async () => {
  await bench.stop()
  await second.stop()
  for (const each of [clock, ...spies]) each.mockRestore()
})

const logged = (): readonly unknown[] =>
  spies.flatMap(({ mock }) => mock.calls).filter(([, text]) => `${text}`.includes('tell'))

const reason = async () => (await bench.drex().health?.())?.reason

test('a node that does not tell receipts is named once it has held up an end for a minute', async () => {
  await bench.restart({ DREX_TESTNET_RPC_URLS: `${bench.node.url},${second.url}` })
  second.lie(({ method }) =>
    method === 'eth_getTransactionReceipt' ? { result: null } : undefined,
  )
  const [from, to] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(from, to)
  await bench.reaches(id, 'mined')
  await Bun.sleep(2_000)
  expect([await reason(), logged()]).toEqual([undefined, []])

  skippedMs += 60_000
  await bench.until(async () => (await reason()) !== undefined)
  await Bun.sleep(1_000)
  expect(await reason()).toBe('too few nodes of drex_testnet tell receipts: ends wait')
  const told = { network: 'drex_testnet', silent: [new URL(second.url).host], count: 1 }
  expect(logged()).toEqual([[told, 'ends wait: too few nodes tell a receipt']])

  second.lie(undefined)
  await bench.reaches(id, 'confirmed')
  await bench.until(async () => (await reason()) === undefined)
  expect(logged().at(-1)).toEqual([{ network: 'drex_testnet' }, 'enough nodes tell receipts again'])
}, 60_000)

test('a node that is steadily behind is named once, though one end after the other comes', () => {
  const logger = { ...quietLogger, error: mock(), info: mock() }
  const context = { network: { id: 'n' }, logger } as unknown as EngineContext
  const silence = createSilence()
  // One more waits each 10 s, and each for 120 s.
  for (let s = 0; s <= 600; s += 5) {
    skippedMs += 5_000
    const first = Math.max(0, Math.floor((s - 120) / 10) + 1)
    const ids = Array.from({ length: Math.floor(s / 10) + 1 - first }, (_, at) => `${first + at}`)
    silence.look(
      context,
      ids.map((id) => ({ id, silent: ['b'] })),
    )
  }
  expect([logger.error.mock.calls.length, logger.info.mock.calls.length]).toEqual([1, 0])
  expect(silence.isLong()).toBe(true)
  silence.look(context, [])
  expect(logger.info.mock.calls.length).toBe(1)
})
