import { expect, test } from 'bun:test'
import { createLooks } from '../../src/drex/engine/looks.ts'

const timed = async (wait: Promise<void>): Promise<number> => {
  const beganMs = performance.now()
  await wait
  return performance.now() - beganMs
}

test('a network at rest is looked at seldom, one where something is under way often', async () => {
  const looks = createLooks(5, 60)
  expect(looks.pauseMs()).toBe(60)
  expect(await timed(looks.pause())).toBeGreaterThan(50)
  looks.often()
  expect(looks.pauseMs()).toBe(5)
  // Forty looks later there has been no further sign.
  await Bun.sleep(5 * 40 + 20)
  expect(looks.pauseMs()).toBe(60)
})

test('who rests looks at once when something begins, and when told to end', async () => {
  const looks = createLooks(5, 60_000)
  const resting = [looks.pause(), looks.pause()]
  looks.often()
  await Promise.all(resting)
  const ending = new AbortController()
  const pause = createLooks(5, 60_000).pause(ending.signal)
  ending.abort()
  await pause
})

test('a look that costs much is not made more often than it says', async () => {
  const looks = createLooks(5, 5)
  expect(await timed(looks.pause(undefined, 40))).toBeGreaterThan(30)
})

test('by itself, a network rests half a second, but never less than between two looks', () => {
  expect([createLooks(50).pauseMs(), createLooks(1_250).pauseMs()]).toEqual([500, 1_250])
})
