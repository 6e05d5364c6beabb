export { createAlarm } from './alarm.ts'
export { readBounded } from './bounded-body.ts'
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
export { makeDurably, putOnDisk, renameDurably, writeDurably } from './durable.ts'
export { hasCode } from './error-code.ts'
export { inTime, inTimeOr } from './in-time.ts'
export { SendBuffer } from './send-buffer.ts'
export {
  changesDirection,
  firstCharacters,
  isBlank,
  nativeText,
  ownText,
  withoutSlashes,
} from './text.ts'
export { createThread, serveThread } from './thread.ts'
export { isGzip, readUnzipped, unzipped } from './unzipped.ts'
export { newUuid, uuidMoment } from './uuids.ts'
export { type Backoff, backoffMs, pause } from './waiting.ts'
export { zstdCompressed, zstdDecompressed } from './zstd.ts'
