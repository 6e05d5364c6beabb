import { expect, test } from 'bun:test'
import { createPatience } from '../../../src/drex/rpc/patience.ts'

test('nobody has answered: half a second', () => {
  expect(createPatience<string>(100).forCallsMs(1)).toBe(500)
})

test('four times what the quickest is used to take, a tenth of a second at least, and five milliseconds a call', () => {
  const patience = createPatience<string>(100)
  patience.took('a', 2)
  expect(patience.forCallsMs(1)).toBe(105)
  expect(patience.forCallsMs(100)).toBe(600)
  expect(patience.forCallsMs(1_000)).toBe(600)
  patience.took('a', 80)
  expect(patience.forCallsMs(1)).toBe(325)
  // A short exchange says little about a long one.
  patience.took('a', 1)
  expect(patience.forCallsMs(1)).toBe(4 * 72 + 5)
})

test('a node that is late makes it no longer', () => {
  const patience = createPatience<string>(100)
  patience.took('late', 5_000)
  patience.took('quick', 10)
  expect(patience.forCallsMs(1)).toBe(105)
})
