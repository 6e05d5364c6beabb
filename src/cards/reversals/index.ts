export {
  createReversals,
  type ReversalSettings,
  type Reversals,
  type ReversalsDeps,
  reversalSettings,
} from './engine.ts'
export {
  dropAdvices,
  insertReversals,
  isAdviceTaken,
  isSent,
  isUnresolved,
  renewReversal,
  resolveReversals,
} from './store.ts'
export type { EndedReversal, NewReversal, Reversal } from './types.ts'
