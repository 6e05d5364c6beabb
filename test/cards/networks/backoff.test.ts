import { expect, test } from 'bun:test'
import { backoffDelayMs } from '../../../src/cards/networks/options.ts'

test('the bound doubles to its cap, and the delay is anywhere below it', () => {
  const limits = { baseMs: 100, maxMs: 1_000 }
  const bounds = [0, 1, 2, 3, 4, 5_000].map((attempt) => backoffDelayMs(attempt, limits, () => 1))
  expect(bounds).toEqual([100, 200, 400, 800, 1_000, 1_000])
  expect(backoffDelayMs(3, limits, () => 0)).toBe(0)
  expect(backoffDelayMs(3, limits, () => 0.25)).toBe(200)
})
