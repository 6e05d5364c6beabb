/** The configured networks, each with its nodes and its engine. */
import { ApiError, httpErrors } from '#src/platform/http/index.ts'
import type { KeyEnvironment } from '#src/platform/security/index.ts'
import { type NetworkId, networkIds } from './config.ts'
import type { Engine } from './engine/engine.ts'
import type { Prover } from './engine/prover.ts'
import { drexErrors } from './errors.ts'
import { type Network, networkInfo } from './networks.ts'
import type { Permission } from './permission.ts'
import type { RpcClient } from './rpc/client.ts'
import { RpcFailure } from './rpc/errors.ts'

export type Chain = {
  readonly network: Network
  readonly rpc: RpcClient
  readonly prover: Prover
  readonly permission: Permission
  /** How many nodes must say the same. */
  readonly nodesNeeded: number
  /** Undefined if this process only takes requests. */
  readonly engine: Engine | undefined
}

export type Chains = {
  readonly all: ReadonlyMap<NetworkId, Chain>
  /** @throws ApiError if the network is not configured, or not for this environment of keys */
  readonly require: (id: NetworkId | undefined, by: KeyEnvironment) => Chain
}

export const createChains = (all: ReadonlyMap<NetworkId, Chain>): Chains => ({
  all,
  require(id, by) {
    const fit = [...all.values()].filter(({ network }) => isFor(network.id, by))
    // If there is one network, requests need not name it. If there are several, they must: money does not guess.
    const chain = id === undefined ? (fit.length === 1 ? fit[0] : undefined) : all.get(id)
    if (chain !== undefined && fit.includes(chain)) return chain
    if (chain !== undefined || (id === undefined && fit.length === 0 && all.size > 0)) {
      throw new ApiError(
        httpErrors.forbidden,
        `A ${by} key has no right to ${id ?? 'any of the configured networks'}: trl_test_ keys are for sandbox networks, trl_live_ keys for production.`,
      )
    }
    if (id === undefined && fit.length > 1) {
      const networks = fit.map(({ network }) => network.id)
      throw new ApiError(
        drexErrors.network_not_configured,
        `Say which network: ${networks.join(', ')}.`,
        { details: { field: 'network', networks } },
      )
    }
    throw notConfigured(id ?? networkIds[0])
  },
})

/** The networks that keys of an environment may use. */
export const networksFor = (by: KeyEnvironment): readonly NetworkId[] =>
  networkIds.filter((id) => isFor(id, by))

const isFor = (id: NetworkId, by: KeyEnvironment): boolean =>
  (networkInfo(id).environment === 'production') === (by === 'live')

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
