export { createIdempotencySweep } from './feature.ts'
export { idempotencyKeyOf } from './key.ts'
export {
  type ClaimOutcome,
  claimKey,
  claimOf,
  completeClaim,
  completeProvisionally,
  findReplay,
  type IdempotencyClaim,
  runOnce,
  type StoredResponse,
  settleClaim,
  toResponse,
} from './store.ts'
