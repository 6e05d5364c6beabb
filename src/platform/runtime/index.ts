export { readBounded } from './bounded-body.ts'
export { firstCharacters } from './characters.ts'
export { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
export {
  addDays,
  type Day,
  dayAt,
  dayMs,
  daysBetween,
  isDay,
  momentAt,
  startOfDay,
  weekdayOf,
} from './days.ts'
export { inTime, inTimeOr } from './in-time.ts'
export { nativeText } from './native-text.ts'
export { ownText } from './own-text.ts'
export { SendBuffer } from './send-buffer.ts'
export { changesDirection, isBlank } from './shown-text.ts'
export { createThread, serveThread } from './thread.ts'
export { uuidMoment } from './uuid-moment.ts'
export { withoutSlashes } from './without-slashes.ts'
export { zstdCompressed, zstdDecompressed } from './zstd.ts'
