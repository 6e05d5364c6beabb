export {
  type Card,
  CardTokenNotFoundError,
  cardOr,
  type Vault,
  VaultUnavailableError,
} from './types.ts'
export { createVault, type VaultSettings, vaultSettings } from './vault.ts'
