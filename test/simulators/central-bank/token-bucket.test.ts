import { expect, test } from 'bun:test'
import {
  costOf,
  createTokenBuckets,
  windowOf,
} from '../../../src/simulators/central-bank/token-bucket.ts'

const ispb = '12345678'

test('windows: the secondary channel by the hour in Brasília', () => {
  const at = (time: string) => windowOf('secondary', Date.parse(`2026-03-02T${time}-03:00`)).size
  expect([at('07:59:59.999'), at('08:00:00.000'), at('23:59:59.999'), at('00:00:00.000')]).toEqual([
    5000, 350, 350, 5000,
  ])
  expect(windowOf('primary', 0)).toEqual({ size: 3750, perSecond: 750 })
})

test('costs: by operation, a fifth for reports, one for any other message', () => {
  expect(costOf('pacs.008', 10)).toBe(10)
  expect(costOf('trck.002', 500)).toBe(500)
  expect(costOf('pacs.002', 10)).toBe(2)
  expect(costOf('pacs.004', 10)).toBe(1)
})

test('a bucket lets through what it holds, may fall below zero, and fills at its rate', () => {
  let nowMs = Date.parse('2026-03-02T12:00:00-03:00')
  const buckets = createTokenBuckets(() => nowMs)
  const wait = () => buckets.waitSeconds(ispb, 'primary')
  buckets.debit(ispb, 'primary', 'pacs.008', 3749)
  expect(wait()).toBe(0)
  buckets.debit(ispb, 'primary', 'pacs.008', 1)
  expect(wait()).toBe(1)
  buckets.debit(ispb, 'primary', 'pacs.008', 1500)
  expect(wait()).toBe(2)
  nowMs += 2_000
  expect(wait()).toBe(1)
  nowMs += 2
  expect(wait()).toBe(0)
  expect(buckets.waitSeconds('87654321', 'primary')).toBe(0)
})

test('a clock that is set back takes nothing from a bucket, which goes on filling', () => {
  let nowMs = Date.parse('2026-03-02T12:00:00-03:00')
  const buckets = createTokenBuckets(() => nowMs)
  const wait = () => buckets.waitSeconds(ispb, 'primary')
  buckets.debit(ispb, 'primary', 'pacs.008', 3750 + 750)
  expect(wait()).toBe(1)
  nowMs -= 3_600_000
  expect(wait()).toBe(1)
  nowMs += 1_001
  expect(wait()).toBe(0)
})

test('trck.002 has a bucket of its own on the secondary channel', () => {
  const buckets = createTokenBuckets(() => Date.parse('2026-03-02T12:00:00-03:00'))
  buckets.debit(ispb, 'secondary', 'trck.002', 1499)
  expect(buckets.waitSeconds(ispb, 'secondary')).toBe(0)
  buckets.debit(ispb, 'secondary', 'trck.002', 501)
  expect(buckets.waitSeconds(ispb, 'secondary')).toBe(1)
  expect(buckets.waitSeconds(ispb, 'primary')).toBe(0)
})
