export {
  type Behaviour,
  type BehaviourName,
  behaviours,
  type TestBrand,
  testPan,
  testTokens,
} from './behaviour.ts'
export type { BookEntry } from './book.ts'
export { findDialect, findFraming } from './names.ts'
export {
  type CardNetwork,
  type CardNetworkOptions,
  type CardNetworkStatistics,
  createCardNetwork,
  type FaultRates,
} from './network.ts'
export { createTestVault, type TestVault, type TestVaultOptions, testVaultKey } from './vault.ts'
