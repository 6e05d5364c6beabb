import { expect, test } from 'bun:test'
import { backoffMs } from '#src/platform/runtime/index.ts'

test('the bound doubles to its cap, and the delay is anywhere below it', () => {
  const limits = { backoffFirstMs: 100, backoffMaxMs: 1_000 }
  const bounds = [1, 2, 3, 4, 5, 5_001].map((attempt) => backoffMs(attempt, limits, () => 1))
  expect(bounds).toEqual([100, 200, 400, 800, 1_000, 1_000])
  expect(backoffMs(4, limits, () => 0)).toBe(0)
  expect(backoffMs(4, limits, () => 0.25)).toBe(200)
})
