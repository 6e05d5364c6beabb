import { expect, test } from 'bun:test'
import {
  createPatience,
  fullReadEvery,
  type Patience,
  readAgainMaxMs,
  readAgainMs,
  usualReadMs,
} from '../../../src/spi/link/patience.ts'

const fullMs = 45_000

test('a read that is not answered in the usual time is asked again, and one of three in a row waits in full', () => {
  const patience = createPatience(fullMs)
  const limits = Array.from({ length: 2 * fullReadEvery }, () => {
    const limitMs = patience.limitMs()
    patience.late()
    return limitMs
  })
  const round = [usualReadMs, usualReadMs, fullMs]
  expect(limits).toEqual([...round, ...round])
  patience.answered(10)
  expect(patience.limitMs()).toBe(usualReadMs)
})

test('an interface that holds reads longer is waited for, until it does so no more', () => {
  const patience = createPatience(fullMs)
  patience.answered(usualReadMs)
  expect(patience.limitMs()).toBe(usualReadMs)
  patience.answered(usualReadMs + 1)
  expect(patience.limitMs()).toBe(fullMs)
  patience.answered(20)
  expect(patience.limitMs()).toBe(usualReadMs)
})

test('nothing waits longer than the setting says', () => {
  expect(createPatience(5_000).limitMs()).toBe(5_000)
})

test('a hanging read is asked again soon, and later where the interface is known to hold reads', () => {
  const patience = createPatience(fullMs)
  expect(patience.againMs()).toBe(readAgainMs)
  patience.answered(20)
  expect(patience.againMs()).toBe(readAgainMs)
  patience.answered(4_500)
  patience.answered(20)
  expect(patience.againMs()).toBe(4_750)
  patience.answered(5_000)
  expect(patience.againMs()).toBe(readAgainMaxMs)
  patience.answered(30_000)
  expect(patience.againMs()).toBe(5_250)
})

test.each([
  ['a read that was late', ({ late }: Patience) => late()],
  ['one that failed', ({ failed }: Patience) => failed()],
  ['one that only its repetition answered', ({ answered }: Patience) => answered(20, true)],
])('after %s a hanging read is asked again soon', (_, wrong) => {
  const patience = createPatience(fullMs)
  patience.answered(5_000)
  wrong(patience)
  expect(patience.againMs()).toBe(readAgainMs)
})
