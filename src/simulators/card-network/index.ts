export {
  type BehaviourName,
  behaviours,
  type TestBrand,
  testPan,
  testTokens,
} from './behaviour.ts'

export { findDialect, findFraming } from './names.ts'
export {
  type CardNetwork,
  type CardNetworkOptions,
  createCardNetwork,
} from './network.ts'
export { createTestVault, type TestVault, testVaultKey } from './vault.ts'
