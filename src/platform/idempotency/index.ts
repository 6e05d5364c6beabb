export { createIdempotencySweep } from './feature.ts'
export { idempotencyKeyOf } from './key.ts'
export {
  type ClaimOutcome,
  claimKey,
  claimOf,
  completeClaim,
  findReplay,
  type IdempotencyClaim,
  runOnce,
  type StoredResponse,
  toResponse,
} from './store.ts'
