/** The configured networks, each with its nodes and its engine. */
import { ApiError } from '#src/platform/http/index.ts'
import { type NetworkId, networkIds } from './config.ts'
import type { Engine } from './engine/engine.ts'
import { drexErrors } from './errors.ts'
import type { Network } from './networks.ts'
import type { Permission } from './permission.ts'
import type { RpcClient } from './rpc/client.ts'
import { RpcFailure } from './rpc/errors.ts'

export type Chain = {
  readonly network: Network
  readonly rpc: RpcClient
  readonly permission: Permission
  /** Undefined if this process only takes requests. */
  readonly engine: Engine | undefined
}

export type Chains = {
  readonly all: ReadonlyMap<NetworkId, Chain>
  /** @throws ApiError if the network is not configured */
  readonly require: (id: NetworkId | undefined) => Chain
}

export const createChains = (all: ReadonlyMap<NetworkId, Chain>): Chains => ({
  all,
  require(id) {
    const chain = id === undefined ? only(all) : all.get(id)
    if (chain !== undefined) return chain
    if (id === undefined && all.size > 1) {
      throw new ApiError(
        drexErrors.network_not_configured,
        `Say which network: ${[...all.keys()].join(', ')}.`,
        { details: { field: 'network', networks: [...all.keys()] } },
      )
    }
    throw notConfigured(id ?? networkIds[0])
  },
})

/** If there is one network, requests need not name it. If there are several, they must: money does not guess. */
const only = (all: ReadonlyMap<NetworkId, Chain>): Chain | undefined =>
  all.size === 1 ? [...all.values()][0] : undefined

const notConfigured = (id: NetworkId): ApiError => {
  const prefix = `DREX_${id.toUpperCase().replace(/^DREX_/, '')}`
  const settings = [`${prefix}_RPC_URLS`, `${prefix}_TOKEN`]
  return new ApiError(
    drexErrors.network_not_configured,
    `The network ${id} is not configured: set ${settings.join(' and ')}.`,
    { details: { field: 'network', value: id, settings } },
  )
}

/** Runs a call that a caller waits for, and turns an unreachable network into 503. */
export const reaching = async <T>(chain: Chain, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error
    throw new ApiError(
      drexErrors.network_unreachable,
      `The network ${chain.network.id} does not answer: ${error.message}.`,
      { cause: error, details: { network: chain.network.id } },
    )
  }
}
