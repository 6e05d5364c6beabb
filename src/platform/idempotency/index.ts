export { idempotencyKeyOf } from './key.ts'
