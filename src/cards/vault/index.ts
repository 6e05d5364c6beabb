export { type Card, CardTokenNotFoundError, type Vault, VaultUnavailableError } from './types.ts'
export { createVault, type VaultSettings, vaultSettings } from './vault.ts'
