export { type SpiRole, type SpiSettings, spiRoles, spiSettings } from './config.ts'
export { iso20022Inspector } from './inspect/index.ts'
export { type SigningSettings, signingSettings } from './signing/index.ts'
export { createTransform } from './transform/index.ts'
