export { type ReversalSettings, reversalSettings } from './config.ts'
export type { InsertReversals, NewReversal, Reversal, ReversalOutcome } from './types.ts'
