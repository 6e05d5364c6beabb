export { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
export { nativeText } from './native-text.ts'
export { SendBuffer } from './send-buffer.ts'
export { createThread, serveThread } from './thread.ts'
