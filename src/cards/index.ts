export { type CardSettings, cardSettings, networkASettings, networkBSettings } from './config.ts'
export { iso8583Inspector } from './inspect.ts'
export { type CardNetworks, createCardNetworks } from './networks/index.ts'
