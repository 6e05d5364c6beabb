export { type CardSettings, cardSettings, networkASettings, networkBSettings } from './config.ts'
export { iso8583Inspector } from './inspect.ts'
export { type CardNetworks, createCardNetworks } from './networks/index.ts'
export { type VaultSettings, vaultSettings } from './vault/index.ts'
