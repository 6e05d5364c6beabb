import { describe, expect, test } from 'bun:test'
import { createCircuitBreaker } from '#src/platform/runtime/index.ts'

describe('circuit breaker', () => {
  test('opens at the limit, lets one call through after the time, closes on success', () => {
    let nowMs = 0
    const breaker = createCircuitBreaker(3, 1000, () => nowMs)
    breaker.failed()
    breaker.failed()
    expect(breaker.admit()).toBe(true)
    breaker.failed()
    expect(breaker.admit()).toBe(false)
    nowMs = 999
    expect(breaker.admit()).toBe(false)
    nowMs = 1000
    expect([breaker.admit(), breaker.admit()]).toEqual([true, false])
    breaker.failed()
    nowMs = 1999
    expect(breaker.admit()).toBe(false)
    nowMs = 2000
    expect(breaker.admit()).toBe(true)
    breaker.succeeded()
    expect([breaker.admit(), breaker.admit()]).toEqual([true, true])
  })
})
