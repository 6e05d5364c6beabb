/** What nodes say of their pools: nothing is taken for nothing, and nobody holds a wallet up for ever. */
import { afterAll, afterEach, expect, spyOn, test } from 'bun:test'
import { quietLogger } from '../support/database.ts'
import { createLyingNode, type Lie, type LyingNode } from './lying-node.ts'
import { type Bench, createBench } from './support.ts'

let bench: Bench
let second: LyingNode | undefined
let skippedMs = 0
const realNow = performance.now.bind(performance)
const clock = spyOn(performance, 'now').mockImplementation(() => realNow() + skippedMs)
afterAll(() => clock.mockRestore())

const errors = spyOn(quietLogger, 'error')
afterAll(() => errors.mockRestore())

/** What the log says of what is held. */
const toldOfHeld = (): readonly unknown[] =>
  errors.mock.calls.flatMap(([, text]) => (`${text}`.endsWith('is held') ? [text] : []))

afterEach(async () => {
  errors.mockClear()
  await bench.stop()
  await second?.stop()
  second = undefined
})

const cancel = async (id: string): Promise<number> =>
  (await bench.call('POST', `/v1/drex/transfers/${id}/cancel`)).status

/** How often a node was asked what its pool has, and lied. */
let asks = 0

/** Lies about pools, and about nothing else. */
const ofPools =
  (outcome: Awaited<ReturnType<Lie>>): Lie =>
  ({ method, params }) => {
    if (method !== 'eth_getTransactionCount' || params[1] !== 'pending') return undefined
    asks++
    return outcome
  }

const ahead = ofPools({ result: '0x63' })

/** The engine looks at the wallet: it asks once more only when it has judged what it was told. */
const looked = (): Promise<void> => {
  const enough = asks + 2
  return bench.until(async () => asks >= enough)
}

const skip = (ms: number): void => {
  skippedMs += ms
}

test('a pool that is not told is not empty: its wallet waits until it is', async () => {
  bench = await createBench({ isLying: true })
  bench.node.lie(ofPools({ error: { code: -32_005, message: 'too many requests' } }))
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const [id, unwanted] = [await bench.pay(ana, bia, '1.00'), await bench.pay(ana, bia, '2.00')]
  await looked()
  expect((await bench.read(id)).status).toBe('pending')
  expect(await cancel(unwanted)).toBe(503)
  bench.node.lie(undefined)
  await bench.reaches(id, 'confirmed')
}, 60_000)

test('a node that has no such answer holds nothing up', async () => {
  bench = await createBench({ isLying: true })
  bench.node.lie(ofPools({ error: { code: -32_602, message: 'unknown block tag' } }))
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  await bench.reaches(await bench.pay(ana, bia, '1.00'), 'confirmed')
}, 60_000)

type Held = { readonly held: readonly { readonly subject: string; readonly reason: string }[] }

const heldNow = async (): Promise<readonly (readonly [string, string])[]> => {
  const { held } = (await bench.call('GET', '/v1/drex/held')).json as Held
  return held.map(({ subject, reason }) => [subject, reason])
}

test('one node of several holds a wallet up for a minute, and nothing is told as unsent', async () => {
  bench = await createBench({ isLying: true })
  second = createLyingNode(bench.chain)
  second.lie(ahead)
  await bench.restart({ DREX_TESTNET_RPC_URLS: `${bench.node.url},${second.url}` })
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia, '1.00')
  await looked()
  expect((await bench.read(id)).status).toBe('pending')
  expect(await cancel(id)).toBe(409)
  skip(61_000)
  await bench.until(async () => (await bench.read(id)).error?.code === 'MAY_BE_SENT')
  expect(await heldNow()).toEqual([[id, 'not_told']])
  expect(toldOfHeld()).toEqual(['the pool of one node alone stays ahead: what waits is held'])
  await bench.reaches(await bench.pay(ana, bia, '1.00'), 'confirmed')
  // Any node may be asked for the wallet's other nonces.
  const before = asks
  await bench.reaches(await bench.pay(ana, bia, '1.00'), 'confirmed')
  expect(asks).toBe(before)
}, 60_000)

test('where no node ever tells, what waits is held after a while, and the wallet goes on', async () => {
  bench = await createBench({ isLying: true })
  bench.node.lie(ofPools({ error: { code: -32_603, message: 'internal error' } }))
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia, '1.00')
  await looked()
  for (let i = 0; i < 2; i++) {
    skip(250_000)
    await looked()
  }
  expect((await bench.read(id)).error).toBeNull()
  skip(100_000)
  await bench.until(async () => (await bench.read(id)).error?.code === 'MAY_BE_SENT')
  expect(await heldNow()).toEqual([[id, 'not_told']])
  expect(toldOfHeld()).toEqual(['no node tells what its pool has: what waits is held'])
  await bench.reaches(await bench.pay(ana, bia, '2.00'), 'confirmed')
}, 60_000)

test('where a pool stays ahead, what waits is held after a while, and the wallet goes on', async () => {
  bench = await createBench({ isLying: true })
  bench.node.lie(ahead)
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia, '1.00')
  await looked()
  for (let i = 0; i < 2; i++) {
    skip(250_000)
    await looked()
    expect((await bench.read(id)).error).toBeNull()
  }
  skip(100_000)
  await bench.until(async () => (await bench.read(id)).error?.code === 'MAY_BE_SENT')
  expect(await heldNow()).toEqual([[id, 'not_told']])
  expect(toldOfHeld()).toEqual(['a pool stays ahead: what waits is held'])
  expect(bench.events.filter(({ type }) => type === 'drex.transaction.held')).toHaveLength(1)
  await bench.reaches(await bench.pay(ana, bia, '2.00'), 'confirmed')
  expect(await cancel(id)).toBe(200)
  expect(await bench.balance(bia)).toBe(200n)
}, 60_000)

test('what a pool was ahead with long ago is not what it is ahead with now', async () => {
  bench = await createBench({ isLying: true })
  bench.node.lie(ahead)
  const [ana, bia] = [await bench.wallet(), await bench.wallet(0n)]
  const id = await bench.pay(ana, bia, '1.00')
  await looked()
  skip(3_600_000)
  await looked()
  expect(await bench.read(id)).toMatchObject({ status: 'pending', error: null })
}, 60_000)
