import { expect, test } from 'bun:test'
import { createIsLate } from '../../../../src/spi/out/stage/limits.ts'

const isLate = createIsLate({ settlementLimitMs: 60_000, scheduledLimitMs: 2_760_000 })
const madeAgo = (ms: number): string => Bun.randomUUIDv7('hex', Date.now() - ms)

test('a payment or return is late once its limit has passed, a scheduled one once its own has', () => {
  const paid = { type: 'pacs.008' }
  expect(isLate({ ...paid, id: madeAgo(50_000) })).toBe(false)
  expect(isLate({ ...paid, id: madeAgo(60_100) })).toBe(true)
  expect(isLate({ type: 'pacs.004', id: madeAgo(60_100) })).toBe(true)
  const scheduled = { ...paid, isScheduled: true }
  expect(isLate({ ...scheduled, id: madeAgo(2_750_000) })).toBe(false)
  expect(isLate({ ...scheduled, id: madeAgo(2_760_100) })).toBe(true)
})

test('what nobody answers over money is never late', () => {
  expect(isLate({ type: 'pacs.002', id: madeAgo(86_400_000) })).toBe(false)
})
