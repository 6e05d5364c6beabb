export {
  BEHAVIOURS,
  type Behaviour,
  type BehaviourName,
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
export { createTestVault, TEST_VAULT_KEY, type TestVault, type TestVaultOptions } from './vault.ts'
