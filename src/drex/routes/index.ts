/** The REST interface: HTTP on one side, the services on the other. */
import type { Client } from '#src/platform/database/index.ts'
import { type Lookups, portugueseOf, type Route, startLookups } from '#src/platform/http/index.ts'
import type { Deliveries } from '../agreements/deliveries.ts'
import type { Liens } from '../agreements/liens.ts'
import type { Chains } from '../chains.ts'
import type { Contracts } from '../contracts/service.ts'
import type { HeldTransactions } from '../held.ts'
import type { Statements } from '../ledger/statement.ts'
import type { Operations } from '../operations/service.ts'
import type { Sandbox } from '../sandbox.ts'
import type { Signatures } from '../signatures/service.ts'
import type { Streams } from '../streams/service.ts'
import type { Tokens } from '../tokens/service.ts'
import type { ChainTransactions } from '../transactions.ts'
import type { Batches } from '../transfers/batches.ts'
import type { Transfers } from '../transfers/service.ts'
import type { Wallets } from '../wallets/service.ts'
import { batchRoutes } from './batches.ts'
import { contractRoutes } from './contracts.ts'
import { deliveryRoutes } from './deliveries.ts'
import { heldRoutes } from './held.ts'
import { laneRoutes } from './lanes.ts'
import { lienRoutes } from './liens.ts'
import { networkRoutes } from './networks.ts'
import { operationRoutes } from './operations.ts'
import { sandboxRoutes } from './sandbox.ts'
import { signatureRoutes } from './signatures.ts'
import { statementRoute } from './statement.ts'
import { streamRoutes } from './streams.ts'
import { transactionRoute } from './transactions.ts'
import { transferRoutes } from './transfers.ts'
import { walletRoutes } from './wallets.ts'

export type RouteDeps = {
  readonly chains: Chains
  readonly transfers: Transfers
  readonly batches: Batches
  readonly wallets: Wallets
  readonly tokens: Tokens
  readonly contracts: Contracts
  readonly streams: Streams
  readonly operations: Operations
  readonly deliveries: Deliveries
  readonly liens: Liens
  readonly sandbox: Sandbox
  readonly signatures: Signatures
  readonly statements: Statements
  readonly held: HeldTransactions
  readonly transactions: ChainTransactions
  readonly sql: Client
}

/** Why a transfer or call waits or has failed, in Portuguese; what the chain itself says stays as it is. */
const inPortuguese = (answer: unknown, lookups = startLookups()): unknown => {
  if (Array.isArray(answer)) return answer.map((one) => inPortuguese(one, lookups))
  if (typeof answer !== 'object' || answer === null) return answer
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      name === 'error' ? errorInPortuguese(value, lookups) : inPortuguese(value, lookups),
    ]),
  )
}

const errorInPortuguese = (error: unknown, lookups: Lookups): unknown => {
  if (typeof error !== 'object' || error === null) return error
  const { message } = error as { readonly message?: unknown }
  if (typeof message !== 'string') return error
  return { ...error, message: portugueseOf(message, lookups) ?? message }
}

export const createRoutes = (deps: RouteDeps): readonly Route[] =>
  routesOf(deps).map((route) => ({ ...route, errorStyle: 'envelope', inPortuguese }))

const routesOf = (deps: RouteDeps): readonly Route[] => [
  ...transferRoutes(deps.transfers),
  ...batchRoutes(deps.batches),
  ...heldRoutes(deps.held, deps.sql),
  ...networkRoutes(deps.chains, deps.tokens),
  ...laneRoutes(deps.wallets, deps.sql),
  transactionRoute(deps.transactions),
  ...operationRoutes(deps.operations, deps.sql),
  ...deliveryRoutes(deps.deliveries, deps.sql),
  ...lienRoutes(deps.liens, deps.sql),
  ...contractRoutes(deps.contracts, deps.sql),
  ...streamRoutes(deps.streams, deps.sql),
  ...sandboxRoutes(deps.sandbox, deps.sql),
  ...walletRoutes(deps.wallets, deps.sql),
  statementRoute(deps),
  ...signatureRoutes(deps.signatures),
]
