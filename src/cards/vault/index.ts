export { type VaultSettings, vaultSettings } from './config.ts'
export { CardTokenNotFoundError, type VaultFault, VaultUnavailableError } from './errors.ts'
export type { Vault } from './types.ts'
export { type ConfiguredVault, createVault } from './vault.ts'
