import { expect, test } from 'bun:test'
import { readBounded } from '../../../src/platform/runtime/index.ts'

const bytesMax = 10

/** A body in chunks of these sizes, and what became of it. */
const bodyOf = (sizes: readonly number[]) => {
  const state = { isCancelled: false, pulls: 0 }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const size = sizes[state.pulls++]
        if (size === undefined) controller.close()
        else controller.enqueue(new Uint8Array(size).fill(state.pulls))
      },
      cancel: () => {
        state.isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, state }
}

test.each([
  [[], true, 0],
  [[10], true, 10],
  [[4, 6], true, 10],
  [[11], false, 10],
  [[4, 6, 1], false, 10],
  [[10, 1], false, 10],
])('a body in chunks of %j: whole %p, %d bytes', async (sizes, isWhole, length) => {
  const { body, state } = bodyOf(sizes)
  const read = await readBounded(body, bytesMax)
  expect([read.isWhole, read.bytes.length, state.isCancelled]).toEqual([isWhole, length, !isWhole])
})

test('what is over the limit is read no further, and the first bytes are kept in order', async () => {
  const { body, state } = bodyOf([8, 8, 8, 8])
  const { bytes } = await readBounded(body, bytesMax)
  expect([...bytes]).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 2])
  expect(state.pulls).toBe(2)
})

test('no body is an empty one, and a broken one is told of', async () => {
  expect(await readBounded(null, bytesMax)).toEqual({ bytes: Buffer.alloc(0), isWhole: true })
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('broken')) })
  await expect(readBounded(broken, bytesMax)).rejects.toThrow('broken')
})

test('others have their turn while a long body is read that is there already', async () => {
  const mebibyte = 1024 * 1024
  const { body } = bodyOf(Array.from({ length: 64 }, () => mebibyte))
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  const read = readBounded(body, 63 * mebibyte).finally(() => clearInterval(timer))
  expect((await read).isWhole).toBe(false)
  expect(turns).toBeGreaterThan(3)
})
