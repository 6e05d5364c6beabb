import { expect, test } from 'bun:test'
import { meaningOfSignal, sameWishMs } from '#src/platform/lifecycle/index.ts'

test('the first signal ends in order, those of the same second say nothing new, a later one hurries', () => {
  expect(meaningOfSignal(undefined, 5)).toBe('end')
  expect(meaningOfSignal(5, 5)).toBe('repeated')
  expect(meaningOfSignal(5, 5 + sameWishMs - 1)).toBe('repeated')
  expect(meaningOfSignal(5, 5 + sameWishMs)).toBe('atOnce')
})
