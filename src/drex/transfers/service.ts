/** Accepts, shows and cancels transfers. The engine sends them. */

import { type Client, inSnapshot, type Queryable, textArray } from '#src/platform/database/index.ts'
import {
  type ActivityRows,
  type Actor,
  ApiError,
  type AuditEntry,
  actorOf,
  type Caller,
  orReplay,
  readActivity,
  refusedValue,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Chain } from '../chains.ts'
import type { NetworkId } from '../config.ts'
import { madeBy, type ServiceDeps, termsOf } from '../creation.ts'
import { institutionWallet } from '../directory.ts'
import { formatUnits, isFinal } from '../domain.ts'
import { cancelInFlight } from '../engine/cancel.ts'
import type { EngineContext } from '../engine/context.ts'
import { drexErrors } from '../errors.ts'
import type { AddressForm } from '../evm/address.ts'
import type { Hex } from '../evm/hex.ts'
import { idSince, newId } from '../ids.ts'
import { revokeAllowances, type SwapRequest, sagaOf, transferSteps } from '../sagas.ts'
import type { Tokens } from '../tokens/service.ts'
import { limitsMoney } from '../wallets/policy.ts'
import { requireWallet, scopeOf, type Visible, visibleTo } from '../wallets/rights.ts'
import { createAcceptor } from './accept.ts'
import { acceptGuarded } from './guarded.ts'
import { retryTransfer } from './retry.ts'
import * as store from './store.ts'
import { visible } from './store.ts'
import { isCertainlyUnsent, type UnsentDeps } from './unsent.ts'

/** An address, or the institution whose wallet the network's directory tells. */
export type Receiver = Hex | { readonly cnpj8: string }

type TransferRequest = {
  readonly fromWallet: Hex
  readonly toWallet: Receiver
  /** A decimal of the currency. */
  readonly amount: string
  readonly network: NetworkId | undefined
  readonly reference: string | undefined
  readonly metadata: Readonly<Record<string, unknown>>
  /** Between two institutions: three steps and two signers. */
  readonly swap: SwapRequest | undefined
}

type Deps = ServiceDeps & {
  readonly watchBlocks: number
  readonly contextOf: UnsentDeps['contextOf']
  readonly onEnded: EngineContext['onEnded']
}

export const createTransfers = (deps: Deps) => {
  const { sql, chains, wallets } = deps
  const kick = () => {
    for (const chain of chains.all.values()) chain.engine?.kick()
  }
  const accept = createAcceptor(sql, kick)

  const { get, getAsSender } = createFinder(sql)

  const take = async (request: TransferRequest, caller: Caller, form: AddressForm) => {
    const chain = chains.require(request.network, caller.environment)
    const signers = [await wallets.requireSigning(request.fromWallet, 'from_wallet', caller)]
    if (request.swap !== undefined) {
      const { reserveWallet } = request.swap
      signers.push(await wallets.requireSigning(reserveWallet, 'swap.reserve_wallet', caller))
    }
    const toWallet = await receiverOf(chain, request)
    const { transfer, steps } = await build(deps, chain, { ...request, toWallet }, caller)
    if (!signers.some(({ policy }) => limitsMoney(policy))) {
      return accept({ transfer, steps, caller, body: creationBody(transfer, form) })
    }
    const addresses = signers.map(({ address }) => address)
    const answered = await acceptGuarded(sql, { transfer, steps, caller }, addresses, (approval) =>
      creationBody({ ...transfer, approval }, form),
    )
    kick()
    return answered
  }

  return {
    /** @param form how the answer shows addresses */
    async create(request: TransferRequest, caller: Caller, form: AddressForm) {
      const { fromWallet, swap } = request
      for (const each of [fromWallet, ...(swap === undefined ? [] : [swap.reserveWallet])]) {
        requireWallet(caller, each)
      }
      return orReplay(sql, caller.idempotencyKey, () => take(request, caller, form))
    },
    /** @throws ApiError if the caller's account has no such transfer on networks of its key's environment */
    get: (id: string, caller: Caller) =>
      inSnapshot(sql, async (tx) => ({
        transfer: await get(id, caller, tx),
        steps: await store.stepsOf(tx, id),
        corrections: await store.correctionsOf(tx, id),
      })),
    activity: (minutes: number, caller: Caller) =>
      readActivity(sql, minutes, transferActivity(sql, visibleTo(caller))),
    list: (filter: store.TransferFilter, caller: Caller) =>
      store.listTransfers(sql, filter, visibleTo(caller)),
    /** Lets a transfer go that its wallet's policy holds. @throws ApiError if it is not held, or the caller made it */
    async approve(id: string, caller: Caller) {
      await getAsSender(id, caller)
      const isReleased = await approveHeld(sql, [id], caller, deps.expirySeconds)
      if (isReleased) kick()
      const transfer = await get(id, caller)
      // A caller that repeats an approval because the answer was lost gets the answer again.
      if (isReleased || transfer.approvedBy === caller.keyId) return transfer
      throw new ApiError(
        drexErrors.approval_not_possible,
        'The transfer waits for no approval, or this key made it.',
      )
    },
    /** Tries a failed transfer again. @throws ApiError if it has not failed, or nothing proves that it moved nothing */
    async retry(id: string, caller: Caller, form: AddressForm) {
      const transfer = await getAsSender(id, caller)
      const answered = await orReplay(sql, caller.idempotencyKey, () =>
        retryTransfer(deps, transfer, caller, (taken) => creationBody(taken, form)),
      )
      kick()
      return answered
    },
    async cancel(id: string, caller: Caller) {
      await cancel(deps, await getAsSender(id, caller), actorOf(caller))
      return get(id, caller)
    },
  }
}

export type Transfers = ReturnType<typeof createTransfers>

/** Transfers that the caller may see, and those that it may let go or take back. */
const createFinder = (sql: Client) => {
  const get = async (id: string, caller: Caller, on: Queryable = sql): Promise<store.Transfer> => {
    const transfer = await store.transferById(on, id, scopeOf(caller))
    if (transfer === undefined)
      throw new ApiError(drexErrors.transfer_not_found, 'No such transfer.')
    requireWallet(caller, transfer.fromWallet, transfer.toWallet)
    return transfer
  }
  const getAsSender: typeof get = async (id, caller) => {
    const transfer = await get(id, caller)
    requireWallet(caller, transfer.fromWallet)
    return transfer
  }
  return { get, getAsSender }
}

/** @throws ApiError `not_in_directory`, or `value_refused` if the institution's wallet is the sender */
const receiverOf = async (chain: Chain, request: TransferRequest): Promise<Hex> => {
  const { fromWallet, toWallet } = request
  if (typeof toWallet === 'string') return toWallet
  const { cnpj8: got } = toWallet
  const wallet = await institutionWallet(chain, got)
  if (wallet !== fromWallet) return wallet
  const message = 'is the institution whose wallet from_wallet is'
  throw refusedValue([{ pointer: '/to_wallet', rule: 'differs', message, got }])
}

type DirectedRequest = TransferRequest & { readonly toWallet: Hex }

const build = async (deps: ServiceDeps, chain: Chain, request: DirectedRequest, caller: Caller) => {
  const network = chain.network.id
  const { amount, token, decimals } = await inUnits(chain, deps.tokens, request)
  // No id is older than its row: what is read by time begins with the ids of that time.
  const made = madeBy(caller)
  const id = newId('trf')
  const terms = termsOf(deps, caller, id, network)
  const steps = sagaOf(transferSteps(chain.network, { ...request, amount }), terms)
  const { fromWallet, toWallet, reference, metadata } = request
  const transfer: store.NewTransfer = {
    ...made,
    id,
    transactionId: steps.at(-1)!.id,
    network,
    token,
    amount,
    decimals,
    fromWallet,
    toWallet,
    reference,
    metadata,
    approval: undefined,
  }
  return { transfer, steps }
}

/** A swap moves one amount in three tokens, which all have the same decimals. */
const inUnits = async (chain: Chain, tokens: Tokens, { amount, swap }: TransferRequest) => {
  const token = swap?.senderToken ?? chain.network.token
  const decimals = await tokens.decimalsOf(chain, token)
  if (swap !== undefined) {
    for (const other of [chain.network.token, swap.receiverToken]) {
      if ((await tokens.decimalsOf(chain, other)) === decimals) continue
      throw new ApiError(
        drexErrors.token_unusable,
        'The tokens of a swap must have the same decimals.',
        { details: { field: 'swap', tokens: [token, other] } },
      )
    }
  }
  return { amount: await tokens.unitsOf(chain, token, amount, 'amount'), token, decimals }
}

const creationBody = (...transfer: Parameters<typeof creationOf>): string =>
  JSON.stringify(creationOf(...transfer))

/** A transfer as the answer to its creation shows it. */
export const creationOf = (
  transfer: store.NewTransfer & { readonly attempt?: number },
  form: AddressForm,
) => ({
  transfer_id: transfer.id,
  status: 'pending',
  from_wallet: form(transfer.fromWallet),
  to_wallet: form(transfer.toWallet),
  amount: formatUnits(transfer.amount, transfer.decimals),
  currency: 'DREX',
  tx_hash: null,
  created_at: transfer.createdAt.toISOString(),
  network: transfer.network,
  reference: transfer.reference ?? null,
  approval: transfer.approval ?? null,
  attempt: transfer.attempt ?? 1,
})

/**
 * Lets go those of the held transfers that the caller's key may, all in one transaction.
 * @returns whether there were any
 */
export const approveHeld = (
  sql: Client,
  ids: readonly string[],
  caller: Caller,
  expirySeconds: number,
): Promise<boolean> =>
  sql.begin(async (tx) => {
    let isAny = false
    for (const id of ids) {
      if (!(await store.approveTransfer(tx, id, caller.keyId, expirySeconds))) continue
      isAny = true
      const entry = { action: 'drex.approve', object: id, outcome: 'approved' } as const
      await writeAudit(tx, { actor: actorOf(caller), ...entry })
    }
    return isAny
  })

const cancel = async (deps: Deps, transfer: store.Transfer, actor: Actor): Promise<void> => {
  const { id, network } = transfer
  await requireUnsent(deps, transfer)
  const taken = await deps.sql.begin(async (tx) => {
    // If the last step cannot be cancelled, the transfer cannot, and no other step is.
    if (!(await store.lockCancellable(tx, transfer.transactionId))) return false
    await store.cancelPending(tx, id)
    await revokeAllowances(tx, network, [id])
    await deps.onEnded(tx, network, endedBy(transfer))
    await writeAudit(tx, cancellation(transfer, actor, 'cancelled'))
    return true
  })
  if (!taken) await cancelSigned(deps.contextOf(network as NetworkId), transfer, actor)
}

const endedBy = (transfer: store.Transfer) =>
  [
    {
      id: transfer.transactionId,
      kind: 'transfer',
      subject: transfer.id,
      status: 'cancelled',
      hash: undefined,
    },
  ] as const

const cancellation = (transfer: store.Transfer, actor: Actor, outcome: string): AuditEntry => ({
  actor,
  action: 'drex.cancel',
  object: transfer.id,
  outcome,
})

const requireUnsent = async (deps: UnsentDeps, { id, network }: store.Transfer): Promise<void> => {
  if (await isCertainlyUnsent(deps, network as NetworkId, id)) return
  throw notCancellable('It may be on the chain already, and waits for a decision.')
}

const notCancellable = (message: string): ApiError =>
  new ApiError(drexErrors.transfer_not_cancellable, message)

const cancelSigned = async (
  context: EngineContext | undefined,
  transfer: store.Transfer,
  actor: Actor,
): Promise<void> => {
  if (isFinal(transfer.status) || context === undefined || transfer.status === 'mined') {
    throw notCancellable(`The transfer is ${transfer.status} and can no longer be cancelled.`)
  }
  if (context.network.gasPolicy === 'zero') {
    throw notCancellable(
      'The transfer is signed, and on a network without fees nothing can take its place.',
    )
  }
  const audit = cancellation(transfer, actor, 'requested')
  if (!(await cancelInFlight(context, transfer.transactionId, audit))) {
    throw notCancellable(
      'A replacement would cost more than the fee limit, or the transfer was mined meanwhile.',
    )
  }
}

/** Transfers of late of an account, by its index; the last step of each by its key. */
const transferActivity =
  (sql: Client, by: Visible): ActivityRows =>
  ({ from, limit }) =>
    sql`
    select f.created_at as at, t.status, t.error ->> 'code' as reason,
      extract(epoch from t.settled_at - f.created_at)::float8 * 1000 as ms
    from (
      select f.id, f.transaction_id, f.created_at from drex_transfers f
      where ${visible(sql, by)} and f.created_at >= ${from} and f.id >= ${idSince('trf', from)}
      ${
        by.wallets === undefined
          ? sql``
          : sql`and (f.from_wallet = any(${textArray(by.wallets)}::text[])
              or f.to_wallet = any(${textArray(by.wallets)}::text[]))`
      }
      order by f.id desc limit ${limit}
    ) f join drex_transactions t on t.id = f.transaction_id`
