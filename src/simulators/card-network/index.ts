export {
  BEHAVIOURS,
  type Behaviour,
  type BehaviourName,
  type TestBrand,
  testPan,
  testTokens,
} from './behaviour.ts'
export type { BookEntry } from './book.ts'
export {
  type CardNetwork,
  type CardNetworkOptions,
  type CardNetworkStatistics,
  createCardNetwork,
  type FaultRates,
} from './network.ts'
export { createTestVault, type TestVault, type TestVaultOptions } from './vault.ts'
