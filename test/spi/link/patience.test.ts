import { expect, test } from 'bun:test'
import { createPatience, fullReadEvery, usualReadMs } from '../../../src/spi/link/patience.ts'

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
