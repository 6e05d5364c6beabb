import { z } from 'zod'
import { ApiError, type Route, type RouteContract, route } from '#src/platform/http/index.ts'
import { type Chain, type Chains, reaching } from '../chains.ts'
import { networkIds } from '../config.ts'
import { formatUnits } from '../domain.ts'
import { drexErrors, networkErrors } from '../errors.ts'
import { checksumAddress } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import {
  encodeAuthorizedAccounts,
  encodeBalanceOf,
  encodeFrozenBalanceOf,
} from '../evm/token-call.ts'
import { networkInfo } from '../networks.ts'
import type { Tokens } from '../tokens/service.ts'
import { requireWallet } from '../wallets/rights.ts'
import { addressSchema, networkQuery, networkSchema } from './shared.ts'

const walletParams = z.object({ wallet: addressSchema })
const decimal = z.string().meta({ example: '1500.00' })

const balanceSchema = z.object({
  wallet: z.string(),
  balance: decimal,
  currency: z.literal('DREX'),
  updated_at: z.iso.datetime(),
  network: networkSchema,
  total: decimal,
  frozen: decimal,
  available: decimal.meta({ description: 'Nothing where more is frozen than there is' }),
  authorised: z
    .boolean()
    .nullable()
    .meta({ description: 'Null where the currency has no such rule' }),
})

const networksSchema = z.object({
  networks: z.array(
    z.object({
      id: networkSchema,
      environment: z.enum(['sandbox', 'production']),
      configured: z.boolean(),
      deprecated: z.boolean(),
      replaced_by: networkSchema.nullable(),
      chain_id: z.int().nullable(),
      block_time_ms: z.int(),
      confirmations: z.int(),
      gas_policy: z.string(),
      token: z.string().nullable(),
      permissioned: z.boolean(),
      ephemeral: z.boolean(),
      state: z.string().nullable(),
    }),
  ),
})

const documents = {
  getBalance: {
    at: 'GET /v1/drex/balance/{wallet}',
    asksOthers: true,
    scope: 'drex:read',
    operation: 'getBalance',
    summary: 'Balance of a wallet',
    description: '`balance` is all of it; `available` is what can be moved now.',
    params: walletParams,
    exampleFrom: { wallet: 'listWallets#/wallets/0/address' },
    query: networkQuery,
    responses: { 200: { description: 'The balance', schema: balanceSchema } },
    errors: [...networkErrors, drexErrors.token_unusable],
  },
  listNetworks: {
    at: 'GET /v1/drex/networks',
    scope: 'drex:read',
    operation: 'listNetworks',
    summary: 'The networks, configured or not',
    responses: { 200: { description: 'All networks', schema: networksSchema } },
  },
} as const satisfies Readonly<Record<string, RouteContract>>

export const networkRoutes = (chains: Chains, tokens: Tokens): readonly Route[] => [
  route(documents.getBalance, async ({ params, query: { network }, caller }) => {
    const wallet = params.wallet
    requireWallet(caller, wallet)
    const chain = chains.require(network, caller.environment)
    return Response.json(await reaching(chain, () => balanceOf(chain, tokens, wallet)))
  }),
  route(documents.listNetworks, () =>
    Response.json({ networks: networkIds.map((id) => showNetwork(chains, id)) }),
  ),
]

const balanceOf = async (chain: Chain, tokens: Tokens, wallet: Hex) => {
  const { network, rpc } = chain
  const view = (data: Hex) => ({
    method: 'eth_call' as const,
    params: [{ to: network.token, data }, 'latest'],
  })
  const rules = network.isRealDigital
    ? [view(encodeFrozenBalanceOf(wallet)), view(encodeAuthorizedAccounts(wallet))]
    : []
  const decimals = await tokens.decimalsOf(chain, network.token)
  const outcomes = await rpc.batch<'eth_getBlockByNumber' | 'eth_call'>([
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
    view(encodeBalanceOf(wallet)),
    ...rules,
  ])
  const [block, held, withheld, authorised] = outcomes.map((outcome) => {
    if ('failure' in outcome) throw outcome.failure
    return outcome.result
  })
  const total = word(network.id, held)
  const frozen = withheld === undefined ? 0n : word(network.id, withheld)
  const seconds = Number((block as { readonly timestamp: string }).timestamp)
  return {
    wallet: checksumAddress(wallet),
    balance: formatUnits(total, decimals),
    currency: 'DREX',
    updated_at: new Date(seconds * 1000).toISOString(),
    network: network.id,
    total: formatUnits(total, decimals),
    frozen: formatUnits(frozen, decimals),
    available: formatUnits(total > frozen ? total - frozen : 0n, decimals),
    authorised: authorised === undefined ? null : word(network.id, authorised) !== 0n,
  }
}

/** A call to an address without code succeeds with nothing. */
const word = (network: string, result: unknown): bigint => {
  if (typeof result === 'string' && result.length === 66) return BigInt(result)
  throw new ApiError(
    drexErrors.network_not_configured,
    `The currency address of ${network} holds no such contract.`,
  )
}

const showNetwork = (chains: Chains, id: (typeof networkIds)[number]) => {
  const info = networkInfo(id)
  const chain = chains.all.get(id)
  const network = chain?.network
  return {
    id,
    environment: info.environment,
    configured: network !== undefined,
    deprecated: info.isDeprecated,
    replaced_by: info.replacedBy ?? null,
    chain_id: network?.chainId ?? info.chainId ?? null,
    block_time_ms: network?.blockTimeMs ?? info.blockTimeMs,
    confirmations: network?.confirmations ?? info.confirmations,
    gas_policy: network?.gasPolicy ?? info.gasPolicy,
    token: network === undefined ? null : checksumAddress(network.token),
    permissioned: network?.permissioning !== undefined,
    ephemeral: network?.isEphemeral ?? false,
    state: chain?.engine?.state().status ?? null,
  }
}
