/** Operations with the network's own contracts: planned, simulated, and written as a saga that the engine sends. */
import { inSnapshot } from '#src/platform/database/index.ts'
import { ApiError, type Caller, httpErrors } from '#src/platform/http/index.ts'
import type { NetworkId } from '../config.ts'
import { tryFirst } from '../contracts/rights.ts'
import { begun, type Creation, madeBy, type ServiceDeps, termsOf } from '../creation.ts'
import { receiptIn } from '../engine/receipt.ts'
import { insertTransactions } from '../engine/store.ts'
import { drexErrors } from '../errors.ts'
import type { Hex } from '../evm/hex.ts'
import { newId } from '../ids.ts'
import { sagaOf } from '../sagas.ts'
import { correctionsOf, stepsOf } from '../transfers/store.ts'
import type { UnsentDeps } from '../transfers/unsent.ts'
import { requireUnlimited, requireWallet, scopeOf, visibleTo } from '../wallets/rights.ts'
import type { OperationDefinition, OperationResult } from './definition.ts'
import { type OperationName, operations } from './index.ts'
import * as store from './store.ts'

type OperationRequest = {
  readonly operation: OperationName
  readonly params: unknown
  readonly signerWallet: Hex
  readonly network: NetworkId | undefined
  readonly reference: string | undefined
}

type Deps = ServiceDeps & {
  readonly contextOf: UnsentDeps['contextOf']
}

export const createOperations = (deps: Deps) => ({
  create: (request: OperationRequest, caller: Caller) => create(deps, request, caller),
  /** The result is undefined if there is nothing to tell, or not yet. @throws ApiError `operation_not_found` */
  async get(id: string, caller: Caller) {
    const { operation, ...parts } = await inSnapshot(deps.sql, async (tx) => ({
      operation: await store.operationById(tx, id, scopeOf(caller)),
      steps: await stepsOf(tx, id),
      corrections: await correctionsOf(tx, id),
    }))
    if (operation === undefined) {
      throw new ApiError(drexErrors.operation_not_found, 'No such operation.')
    }
    requireWallet(caller, operation.signer)
    return { operation, ...parts, result: await resultOf(deps, operation) }
  },
  list: (beforeId: string | undefined, limit: number, caller: Caller) =>
    store.listOperations(deps.sql, { beforeId, limit }, visibleTo(caller)),
})

export type Operations = ReturnType<typeof createOperations>

/**
 * Rights follow the effect: what moves money needs the right to transfer beside the right to call contracts.
 * @throws ApiError `forbidden`, or `restricted` if the key is for other wallets
 */
export const allowOperation = (
  caller: Caller,
  request: { readonly operation: OperationName; readonly signer_wallet: Hex },
): void => {
  requireWallet(caller, request.signer_wallet)
  const { movesMoney } = operations[request.operation]
  if (!movesMoney || caller.scopes.has('drex:transfer')) return
  throw new ApiError(
    httpErrors.forbidden,
    `The API key lacks the scope drex:transfer: ${request.operation} moves money.`,
  )
}

const resultOf = async (
  { contextOf }: Deps,
  { kind, status, network, hash, blockHash, call }: store.Operation,
): Promise<OperationResult | undefined> => {
  const definition: OperationDefinition = operations[kind]
  const context = contextOf(network as NetworkId)
  const isOver = status === 'confirmed' && hash !== undefined && blockHash !== undefined
  if (!isOver || definition.resultOf === undefined || context === undefined) return undefined
  const receipt = await receiptIn(context, blockHash, hash)
  return receipt && definition.resultOf(receipt, call)
}

const create = async (
  deps: Deps,
  request: OperationRequest,
  caller: Caller,
): Promise<Creation<store.Operation>> => {
  const { chains, wallets } = deps
  const chain = chains.require(request.network, caller.environment)
  const wallet = await wallets.requireSigning(request.signerWallet, 'signer_wallet', caller)
  const definition = operations[request.operation]
  if (definition.movesMoney) requireUnlimited(wallet)
  const planned = await definition.stepsOf(request.params, {
    chain,
    signer: wallet.address,
    async signerOf(address, field) {
      const other = await wallets.requireSigning(address, `params.${field}`, caller)
      requireUnlimited(other)
      return other.address
    },
    unitsOf: (token, amount, field) => deps.tokens.unitsOf(chain, token, amount, `params/${field}`),
  })
  await tryFirst(chain, planned)
  const id = newId('opr')
  const steps = sagaOf(planned, termsOf(deps, caller, id, chain.network.id))
  const row: store.NewOperation = {
    ...madeBy(caller),
    id,
    kind: request.operation,
    transactionId: steps.at(-1)!.id,
    network: chain.network.id,
    signer: wallet.address,
    params: request.params,
    reference: request.reference,
  }
  return begun(chain, async (tx) => {
    await insertTransactions(tx, steps)
    await store.insertOperation(tx, row)
    return (await store.operationById(tx, id, visibleTo(caller)))!
  })
}
