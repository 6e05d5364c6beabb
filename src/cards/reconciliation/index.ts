export { settlementDay, shiftOf } from './days.ts'
export { createReconciliation, type ReconciliationDeps } from './engine.ts'
export { feesIn, type MovementFees } from './fees.ts'
export {
  insertMovements,
  type Movement,
  movementsOf,
} from './movements.ts'
export { listReconciliations, resolveReconciliation } from './store.ts'
export { createTotals } from './told.ts'
