import { expect, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import { readUnzipped } from '../../../src/platform/runtime/index.ts'

const bytesMax = 100
const bodyOf = (bytes: Uint8Array) => new Response(new Uint8Array(bytes)).body
const plain = (size: number) => new Uint8Array(size).fill(7)

test.each([
  ['plain', plain(bytesMax), true],
  ['plain, and longer', plain(bytesMax + 1), false],
  ['gzip', gzipSync(plain(bytesMax)), true],
  ['gzip of more', gzipSync(plain(bytesMax + 1)), false],
  ['gzip that is longer itself', gzipSync(plain(bytesMax), { level: 0 }), false],
])('%s', async (_, bytes, isWhole) => {
  const read = await readUnzipped(bodyOf(bytes), bytesMax)
  expect(read.isWhole).toBe(isWhole)
  expect(read.bytes.length).toBe(bytesMax)
})

test('no body is an empty one', async () => {
  expect((await readUnzipped(null, bytesMax)).bytes.length).toBe(0)
})

test('gzip that is cut, or has bytes behind it, is told of', async () => {
  const whole = gzipSync(plain(50))
  for (const bytes of [whole.subarray(0, -9), Buffer.concat([whole, Buffer.from('behind')])]) {
    await expect(readUnzipped(bodyOf(bytes), bytesMax)).rejects.toThrow()
  }
})

test('it is inflated no further than the limit: what stands for much more takes no time', async () => {
  const bomb = gzipSync(new Uint8Array(1 << 28))
  const startedMs = performance.now()
  expect((await readUnzipped(bodyOf(bomb), 1 << 20)).isWhole).toBe(false)
  const boundedMs = performance.now() - startedMs
  expect((await readUnzipped(bodyOf(bomb), 1 << 28)).isWhole).toBe(true)
  expect(performance.now() - startedMs).toBeGreaterThan(4 * boundedMs)
})
