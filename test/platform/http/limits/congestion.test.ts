import { expect, test } from 'bun:test'
import {
  createCongestion,
  ownMsMax,
  requestsMin,
  windowMs,
} from '../../../../src/platform/http/limits/congestion.ts'

const requestsMax = 1_000

/** A stage that serves so many a millisecond, in the order in which they came, on a clock of its own. */
const stage = () => {
  let nowMs = 0
  const congestion = createCongestion({ requestsMax, nowMs: () => nowMs })
  const inside: number[] = []
  const waitedMs: number[] = []
  const asked = { taken: 0, refused: 0 }
  /** So many come each millisecond, and so many are served. */
  const run = (forMs: number, come: number, serve: number): void => {
    for (let end = nowMs + forMs; nowMs < end; nowMs++) {
      for (let at = 0; at < come; at++) {
        if (congestion.enter()) {
          inside.push(nowMs)
          asked.taken++
        } else asked.refused++
      }
      for (const sinceMs of inside.splice(0, serve)) {
        congestion.leave()
        waitedMs.push(nowMs - sinceMs)
      }
    }
  }
  const forget = (): void => {
    waitedMs.length = 0
    asked.taken = 0
    asked.refused = 0
  }
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { congestion, run, forget, waitedMs, asked, pass }
}

test('at twice what a stage can do all of it is used, the rest is refused, and nobody waits long', () => {
  const { run, forget, waitedMs, asked } = stage()
  // Twice as many as are served.
  run(2_000, 2, 1)
  forget()
  run(10_000, 2, 1)
  expect(asked.taken).toBeGreaterThan(9_900)
  expect(asked.refused).toBeGreaterThan(9_900)
  expect(waitedMs.length).toBe(10_000)
  expect(Math.max(...waitedMs)).toBeLessThan(1.5 * ownMsMax)
})

test('nor does anybody while such a load begins, though nothing has told of it yet', () => {
  const { run, waitedMs } = stage()
  run(2_000, 4, 2)
  expect(Math.max(...waitedMs)).toBeLessThan(1.5 * ownMsMax)
})

test('a burst is let in whole, and so is what comes once the load is over', () => {
  const { run, forget, asked, congestion } = stage()
  run(1, requestsMax, 0)
  expect(asked).toEqual({ taken: requestsMax, refused: 0 })
  expect(congestion.enter()).toBe(false)
  run(50, 0, 20)
  forget()
  // Long enough for the bound to have become small, and then to grow.
  run(3_000, 3, 1)
  run(6_000, 1, 20)
  forget()
  run(1, requestsMax, 0)
  expect(asked).toEqual({ taken: requestsMax, refused: 0 })
})

test('so is what comes after a silence', () => {
  const { run, forget, asked, pass, congestion } = stage()
  run(3_000, 3, 1)
  run(2_000, 0, 1)
  pass(60_000)
  // One that comes in between.
  expect(congestion.enter()).toBe(true)
  congestion.leave()
  forget()
  run(1, requestsMax, 0)
  expect(asked).toEqual({ taken: requestsMax, refused: 0 })
})

test('however slow a stage is, so many are always let in, and one more is not', () => {
  const { run, congestion } = stage()
  run(1, requestsMax, 0)
  run(20 * windowMs, 1, 0)
  for (let at = 0; at < requestsMax; at++) congestion.leave()
  for (let at = 0; at < requestsMin; at++) expect(congestion.enter()).toBe(true)
  expect(congestion.enter()).toBe(false)
  congestion.leave()
  expect(congestion.enter()).toBe(true)
})

test('who waits for a counterparty is not in our hands, however long, and however it ends', async () => {
  const { congestion, pass } = stage()
  for (let round = 0; round < 30; round++) {
    const gates = Array.from({ length: 500 }, () => Promise.withResolvers<string>())
    const all = gates.map(async ({ promise }) => {
      expect(congestion.enter()).toBe(true)
      const ended = await congestion.away(promise).catch(() => 'lost')
      congestion.leave()
      return ended
    })
    pass(5_000)
    gates.forEach(({ resolve, reject }, at) => {
      if (at % 2 === 0) resolve('answered')
      else reject(new Error('lost'))
    })
    const ended = await Promise.all(all)
    expect(ended.filter((each) => each === 'lost')).toHaveLength(gates.length / 2)
  }
  for (let at = 0; at < requestsMax; at++) expect(congestion.enter()).toBe(true)
  expect(congestion.enter()).toBe(false)
})
