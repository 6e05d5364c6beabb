import { expect, test } from 'bun:test'
import { loadConsole } from './load-console.ts'

const { percent } = await loadConsole<{
  readonly percent: (part: number, whole: number) => string
}>(['format.ts'])

test.each([
  [10_000, 10_000, '100%'],
  [9_996, 10_000, '99.9%'],
  [1_000_000, 1_000_001, '99.9%'],
  [29, 100, '29%'],
  [1_999, 2_000, '99.9%'],
  [2, 3, '66.6%'],
  [0, 5, '0%'],
])('%i of %i are %s', (part, whole, text) => {
  expect(percent(part, whole)).toBe(text)
})
