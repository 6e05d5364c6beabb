export { masterKey } from './master-key.ts'
export { createSealer, SealError, type Sealer } from './sealer.ts'
