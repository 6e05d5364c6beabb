/** Stops calls to a service that is down, and lets one through from time to time as a test. */
export type CircuitBreaker = {
  /** False while the circuit is open; true lets this call through. */
  readonly admit: () => boolean
  readonly succeeded: () => void
  readonly failed: () => void
}

/**
 * @param failuresMax - failures in a row that open the circuit
 * @param openMs - how long it stays open before one call may try again
 */
export const createCircuitBreaker = (
  failuresMax: number,
  openMs: number,
  nowMs: () => number,
): CircuitBreaker => {
  let failures = 0
  let openUntilMs = 0
  return {
    admit: () => {
      if (failures < failuresMax) return true
      const now = nowMs()
      if (now < openUntilMs) return false
      // Half open: this call tests, the others wait until it has ended or the time is over again.
      openUntilMs = now + openMs
      return true
    },
    succeeded: () => {
      failures = 0
    },
    failed: () => {
      failures++
      if (failures >= failuresMax) openUntilMs = nowMs() + openMs
    },
  }
}
