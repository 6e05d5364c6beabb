export { masterKey } from './master-key.ts'
export { type ResealCounts, reseal, type SealedRecord } from './reseal.ts'
export { createSealer, SealError, type Sealer } from './sealer.ts'
