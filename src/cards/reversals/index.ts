export type { OnEnded } from './attempt.ts'
export {
  createReversals,
  type ReversalSettings,
  type Reversals,
  type ReversalsDeps,
  reversalSettings,
} from './engine.ts'
export { insertReversals } from './store.ts'
export type { InsertReversals, NewReversal, Reversal, ReversalOutcome } from './types.ts'
