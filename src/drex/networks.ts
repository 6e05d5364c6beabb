/** The networks, from known facts, the networks file and the environment. */

import { z } from 'zod'
import { jsonOnce, RepeatedMemberError } from '#src/platform/http/index.ts'
import {
  type DrexSettings,
  followedMax,
  type GasPolicy,
  gasPolicies,
  type NetworkId,
  networkIds,
  validatorsMax,
} from './config.ts'
import { parseAddress } from './evm/address.ts'
import type { Hex } from './evm/hex.ts'

export type Network = {
  readonly id: NetworkId
  readonly environment: 'sandbox' | 'production'
  readonly chainId: number
  readonly rpcUrls: readonly string[]
  readonly gasPolicy: GasPolicy
  readonly confirmations: number
  readonly blockTimeMs: number
  /** Only receipts that the block's hash proves are believed. */
  readonly proofs: boolean
  /** Validators of QBFT or IBFT 2.0: two thirds of them must have sealed a block. Empty: depth alone counts. */
  readonly validators: readonly Hex[]
  readonly token: Hex
  /** Further currencies whose movements are followed. */
  readonly tokens: readonly Hex[]
  /** The first block whose movements are followed. */
  readonly startBlock: number
  /** Whether the token knows authorised accounts and frozen balances. */
  readonly isRealDigital: boolean
  readonly permissioning: Hex | undefined
  readonly swap: Hex | undefined
  /** Knows the network's further contracts by their names. */
  readonly directory: Hex | undefined
  /** On a sandbox network: the wallet that admits accounts and issues currency for trials. */
  readonly issuer: Hex | undefined
  /** On a sandbox network: the wallet that sends others the coin for their gas. */
  readonly fundingWallet: Hex | undefined
  /** The chain's state ends with its process: another genesis is expected, not an error. */
  readonly isEphemeral: boolean
}

/** Facts about a network, configured or not. */
export type NetworkInfo = {
  readonly id: NetworkId
  readonly environment: 'sandbox' | 'production'
  readonly chainId: number | undefined
  readonly gasPolicy: GasPolicy
  readonly confirmations: number
  readonly blockTimeMs: number
  readonly isRealDigital: boolean
  readonly isDeprecated: boolean
  readonly replacedBy: NetworkId | undefined
}

type Known = Omit<NetworkInfo, 'id' | 'isDeprecated' | 'replacedBy'> & {
  readonly replacedBy?: NetworkId
}

/**
 * Chain ids, block times and confirmations: the pilot's published genesis; the chains' own
 * documentation for the rest. The production network was never given a chain id. Amoy has real
 * reorganisations, so money waits longer there. Mumbai was shut down in April 2024.
 */
const knownNetworks: Readonly<Record<NetworkId, Known>> = {
  drex_testnet: {
    environment: 'sandbox',
    chainId: 381_660_001,
    gasPolicy: 'zero',
    confirmations: 1,
    blockTimeMs: 5_000,
    isRealDigital: true,
  },
  drex_mainnet: {
    environment: 'production',
    chainId: undefined,
    gasPolicy: 'zero',
    confirmations: 1,
    blockTimeMs: 5_000,
    isRealDigital: true,
  },
  eth_sepolia: {
    environment: 'sandbox',
    chainId: 11_155_111,
    gasPolicy: 'eip1559',
    confirmations: 6,
    blockTimeMs: 12_000,
    isRealDigital: false,
  },
  polygon_amoy: {
    environment: 'sandbox',
    chainId: 80_002,
    gasPolicy: 'eip1559',
    confirmations: 32,
    blockTimeMs: 2_000,
    isRealDigital: false,
  },
  polygon_mumbai: {
    environment: 'sandbox',
    chainId: 80_001,
    gasPolicy: 'eip1559',
    confirmations: 32,
    blockTimeMs: 2_000,
    isRealDigital: false,
    replacedBy: 'polygon_amoy',
  },
}

export const networkInfo = (id: NetworkId): NetworkInfo => {
  const { replacedBy, ...known } = knownNetworks[id]
  return { id, ...known, isDeprecated: replacedBy !== undefined, replacedBy }
}

const address = z.string().transform((value, context): Hex => {
  const parsed = parseAddress(value)
  if (typeof parsed !== 'string') return parsed.address
  context.addIssue({ code: 'custom', message: `is not an address (${parsed})` })
  return z.NEVER
})

const fileEntry = z.strictObject({
  rpc_urls: z
    .array(z.url({ protocol: /^https?$/ }))
    .min(1)
    .max(8)
    .optional(),
  token: address.optional(),
  tokens: z.array(address).max(followedMax).optional(),
  start_block: z.int().min(0).optional(),
  chain_id: z.int().min(1).optional(),
  gas_policy: z.enum(gasPolicies).optional(),
  confirmations: z.int().min(1).max(1_000).optional(),
  block_time_ms: z.int().min(10).max(600_000).optional(),
  proofs: z.boolean().optional(),
  validators: z.array(address).max(validatorsMax).optional(),
  permissioning: address.optional(),
  swap: address.optional(),
  directory: address.optional(),
  issuer: address.optional(),
  funding_wallet: address.optional(),
  ephemeral: z.boolean().optional(),
})

const networksFile = z.partialRecord(z.enum(networkIds), fileEntry)

export type NetworksFile = z.infer<typeof networksFile>

/** @throws Error that names every problem of the file */
export const readNetworksFile = (json: string): NetworksFile => {
  let value: unknown
  try {
    value = jsonOnce(json)
  } catch (error) {
    const reason = error instanceof RepeatedMemberError ? error.message : 'the file is not JSON'
    throw new Error(`DREX_NETWORKS_FILE: ${reason}`)
  }
  const parsed = networksFile.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new Error(`DREX_NETWORKS_FILE: ${problems.join('; ')}`)
}

/** @returns the networks that have a node, a chain id and a currency, by id */
export const configuredNetworks = (
  settings: DrexSettings,
  file: NetworksFile,
): ReadonlyMap<NetworkId, Network> => {
  const networks = new Map<NetworkId, Network>()
  for (const id of networkIds) {
    const known = knownNetworks[id]
    const entry = file[id] ?? {}
    const rpcUrls = settings[`${id}.rpcUrls`] ?? entry.rpc_urls
    const chainId = settings[`${id}.chainId`] ?? entry.chain_id ?? known.chainId
    const token = settings[`${id}.token`] ?? entry.token
    if (rpcUrls === undefined || chainId === undefined || token === undefined) continue
    networks.set(id, {
      id,
      environment: known.environment,
      chainId,
      rpcUrls,
      gasPolicy: settings[`${id}.gasPolicy`] ?? entry.gas_policy ?? known.gasPolicy,
      confirmations: settings[`${id}.confirmations`] ?? entry.confirmations ?? known.confirmations,
      blockTimeMs: settings[`${id}.blockTimeMs`] ?? entry.block_time_ms ?? known.blockTimeMs,
      proofs: settings[`${id}.proofs`] ?? entry.proofs ?? true,
      validators: settings[`${id}.validators`] ?? entry.validators ?? [],
      token,
      tokens: (settings[`${id}.tokens`] ?? entry.tokens ?? []).filter((each) => each !== token),
      startBlock: settings[`${id}.startBlock`] ?? entry.start_block ?? 0,
      isRealDigital: known.isRealDigital,
      permissioning: settings[`${id}.permissioning`] ?? entry.permissioning,
      swap: settings[`${id}.swap`] ?? entry.swap,
      directory: settings[`${id}.directory`] ?? entry.directory,
      issuer: settings[`${id}.issuer`] ?? entry.issuer,
      fundingWallet: settings[`${id}.fundingWallet`] ?? entry.funding_wallet,
      isEphemeral: entry.ephemeral ?? false,
    })
  }
  return networks
}
