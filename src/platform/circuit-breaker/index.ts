export { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
