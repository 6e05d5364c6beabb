import { getJson, type Loaded, type Purpose, useLoaded } from './api.ts'

export type Network = {
  readonly id: string
  readonly environment: string
  readonly configured: boolean
  readonly chain_id: number | null
  readonly block_time_ms: number
  readonly confirmations: number
  readonly gas_policy: string
  readonly token: string | null
  readonly state: string | null
}

export type Networks = { readonly networks: readonly Network[] }

export const loadNetworks = (purpose?: Purpose): Promise<Networks> =>
  getJson('/v1/drex/networks', purpose)

export const useNetworks = (): Loaded<Networks> => useLoaded('networks', loadNetworks)

/** Whether a higher fee can replace a signed transaction; false if we know nothing of the network. */
export const hasFees = (told: Networks | undefined, network: string): boolean =>
  told?.networks.some(
    ({ id, configured, gas_policy: policy }) => id === network && configured && policy !== 'zero',
  ) === true
