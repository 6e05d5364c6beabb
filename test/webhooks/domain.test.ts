import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { eventTypes } from '#src/events/index.ts'
import {
  afterAttempt,
  attemptsMax,
  patternsOf,
  retryAfterMaxMs,
  retryAfterMs,
  retryDelaysMs,
  subscriptions,
} from '../../src/webhooks/domain.ts'

const failed = (retryAfter?: number) => ({ kind: 'failed', retryAfterMs: retryAfter }) as const

describe('what follows an attempt', () => {
  test('the schedule of Standard Webhooks: ten attempts over 75 hours and 35 minutes', () => {
    const waits = [0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    expect(retryDelaysMs).toEqual(waits.map((seconds) => seconds * 1000))
    for (let attempt = 1; attempt < attemptsMax; attempt++) {
      const nextInMs = (waits[attempt] ?? 0) * 1000
      expect(afterAttempt(attempt, failed(), 0.5)).toEqual({ state: 'pending', nextInMs })
    }
    expect(afterAttempt(attemptsMax, failed(), 0.5).state).toBe('exhausted')
  })

  test('jitter stays within a fifth', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: attemptsMax - 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const step = afterAttempt(attempt, failed(), random)
          if (step.state !== 'pending') throw new Error('not pending')
          const delayMs = retryDelaysMs[attempt] ?? 0
          expect(step.nextInMs).toBeGreaterThanOrEqual(Math.floor(delayMs * 0.8))
          expect(step.nextInMs).toBeLessThanOrEqual(Math.ceil(delayMs * 1.2))
        },
      ),
    )
  })

  test('Retry-After delays, up to a day, and never hastens', () => {
    const next = (asked: number) => afterAttempt(1, failed(asked), 0.5)
    expect(next(60_000)).toEqual({ state: 'pending', nextInMs: 60_000 })
    expect(next(1)).toEqual({ state: 'pending', nextInMs: 5_000 })
    expect(next(retryAfterMaxMs)).toEqual({ state: 'pending', nextInMs: retryAfterMaxMs })
    expect(next(retryAfterMaxMs + 1)).toEqual({ state: 'pending', nextInMs: retryAfterMaxMs })
  })

  test('success and 410 end it', () => {
    expect(afterAttempt(1, { kind: 'delivered' }, 0)).toEqual({ state: 'delivered' })
    expect(afterAttempt(1, { kind: 'gone' }, 0)).toEqual({ state: 'exhausted', disable: 'gone' })
  })

  test('Retry-After is seconds or a date', () => {
    const nowMs = Date.parse('2026-01-01T00:00:00Z')
    expect(retryAfterMs('120', nowMs)).toBe(120_000)
    expect(retryAfterMs('Thu, 01 Jan 2026 00:01:00 GMT', nowMs)).toBe(60_000)
    expect(retryAfterMs('Wed, 31 Dec 2025 00:01:00 GMT', nowMs)).toBe(0)
    expect(retryAfterMs('soon', nowMs)).toBeUndefined()
    expect(retryAfterMs(null, nowMs)).toBeUndefined()
  })
})

describe('subscriptions', () => {
  test('a type is taken by itself, its families and *', () => {
    expect(patternsOf('card.transaction.voided')).toEqual([
      '*',
      'card.*',
      'card.transaction.*',
      'card.transaction.voided',
    ])
    for (const type of eventTypes) {
      for (const pattern of patternsOf(type)) expect(subscriptions()).toContain(pattern)
    }
  })

  test.each(['', 'pacs', 'pacs.999', 'pacs.008.*', 'PACS.008', '**', 'webhook.test'])(
    '%p is none',
    (text) => {
      expect(subscriptions()).not.toContain(text)
    },
  )
})
