/**
 * From pending to sent. Simulation first, without a nonce; then nonce, signed bytes and hash in
 * one database transaction; only then the network. A crash at any point leaves either nothing or
 * everything that is needed to go on.
 */
import type { Transaction } from '#src/platform/database/index.ts'
import type { AttemptFees } from '../domain.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import { createdAddress, type UnsignedTransaction } from '../evm/transaction.ts'
import type { Verdict } from '../permission.ts'
import { isRetryable, type RpcFailure } from '../rpc/errors.ts'
import { endSagas, withPermitData } from '../sagas.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import { currentFees, feesFor } from './fees.ts'
import * as lanes from './lane-store.ts'
import * as store from './store.ts'
import type { OpenTransaction, TransactionError, TransactionKind } from './transaction.ts'

const batchMax = 250
const retryMs = 500
const signaturesPerTurn = 32
const signerRetryMs = 5_000
const signerFailed: TransactionError = {
  code: 'SIGNER_FAILED',
  message: 'The wallet’s signer did not sign; it is asked again until the time runs out.',
}

const notPermitted: TransactionError = {
  code: 'NOT_PERMITTED',
  message: 'The network’s account rules do not permit this account to send to this contract.',
}

/**
 * Gas for the fixed calls of a transfer on networks where gas is free: far above their need, so no estimate is needed.
 * Undefined asks the node.
 */
const fixedGas = (kind: TransactionKind): bigint | undefined => {
  switch (kind) {
    case 'transfer':
    case 'approve':
      return 150_000n
    case 'swap':
      return 500_000n
    case 'gap_fill':
      return 21_000n
    case 'deploy':
    case 'permit':
    case 'call':
      return undefined
  }
}

export type Submitter = {
  /** @returns how many were taken up; zero if there is nothing to do now */
  readonly submitOnce: () => Promise<number>
}

export const createSubmitter = (context: EngineContext): Submitter => {
  /** Senders whose lane has been compared with the chain since this process started. */
  const seeded = new Set<string>()
  return {
    async submitOnce() {
      const { sql, network } = context
      await failExpired(context)
      const inFlight = await store.countInFlight(sql, network.id)
      const room = Math.min(batchMax, context.settings.inFlightMax - inFlight)
      if (room <= 0) return 0
      const taken = (await store.takePending(sql, network.id, room)).map(withPermitData)
      if (taken.length === 0) return 0
      const passed = await simulate(context, await permitted(context, taken))
      if (passed.length > 0) {
        const ready = await seedNewLanes(context, seeded, passed)
        const fees = await currentFees(network.gasPolicy, context.rpc)
        await send(context, await signAll(context, ready, fees))
      }
      return taken.length
    },
  }
}

const failExpired = async (context: EngineContext): Promise<void> => {
  const ids = await endings.expired(context.sql, context.network.id)
  if (ids.length === 0) return
  await failPending(context, ids, {
    code: 'EXPIRED',
    message: 'The time to sign it ran out; nothing was sent.',
  })
}

const failPending = async (
  context: EngineContext,
  ids: readonly string[],
  error: TransactionError,
): Promise<void> => {
  await context.sql.begin(async (sql) => {
    const ended = await endings.fail(sql, ids, 'refused', error)
    await endSagas(context, sql, ended)
  })
}

/** Ends transactions that the network's account rules refuse, before any other question about them. */
const permitted = async (
  context: EngineContext,
  taken: readonly OpenTransaction[],
): Promise<readonly OpenTransaction[]> => {
  const verdicts = await context.permission.ask(
    taken.map(({ sender, recipient, data }) => ({ sender, target: recipient, payload: data })),
  )
  const idsOf = (wanted: Verdict) =>
    taken.filter((_, i) => verdicts[i] === wanted).map(({ id }) => id)
  const [refused, unknown] = [idsOf('refused'), idsOf('unknown')]
  if (refused.length > 0) await failPending(context, refused, notPermitted)
  if (unknown.length > 0) await store.defer(context.sql, unknown, retryMs)
  return taken.filter((_, i) => verdicts[i] === 'allowed')
}

type Passed = { readonly transaction: OpenTransaction; readonly gasLimit: bigint }

/** Asks the node what would happen. A transaction that would revert fails here and uses no nonce. */
const simulate = async (
  context: EngineContext,
  taken: readonly OpenTransaction[],
): Promise<readonly Passed[]> => {
  if (taken.length === 0) return []
  const isFree = context.network.gasPolicy === 'zero'
  const gas = taken.map((each) => (isFree ? fixedGas(each.kind) : undefined))
  const outcomes = await context.rpc.batch<'eth_estimateGas' | 'eth_call'>(
    taken.map((each, i) => {
      const call = {
        from: each.sender,
        ...(each.recipient === undefined ? {} : { to: each.recipient }),
        data: each.data,
        ...(isFree ? { gasPrice: '0x0' } : {}),
        ...(gas[i] === undefined ? {} : { gas: quantity(gas[i]) }),
      }
      return gas[i] === undefined
        ? { method: 'eth_estimateGas', params: [call] }
        : { method: 'eth_call', params: [call, 'latest'] }
    }),
  )
  const passed: Passed[] = []
  const later: string[] = []
  for (const [i, transaction] of taken.entries()) {
    const outcome = outcomes[i]!
    if ('result' in outcome) {
      passed.push({ transaction, gasLimit: gas[i] ?? withMargin(BigInt(outcome.result)) })
    } else if (isRetryable(outcome.failure.kind)) {
      later.push(transaction.id)
    } else {
      await failPending(context, [transaction.id], await refusal(context, outcome.failure))
    }
  }
  if (later.length > 0) await store.defer(context.sql, later, retryMs)
  return passed
}

/** Estimates are exact for the state they saw; a quarter more covers what changes until then. */
const withMargin = (gas: bigint): bigint => gas + gas / 4n

const refusal = async (context: EngineContext, failure: RpcFailure): Promise<TransactionError> => {
  switch (failure.kind) {
    case 'not_permitted':
      return { code: 'NOT_PERMITTED', message: 'The network does not permit this account.' }
    case 'insufficient_funds':
      return { code: 'INSUFFICIENT_FUNDS', message: 'The account cannot pay for gas or value.' }
    default: {
      const revert = await context.explainRevert(failure.data)
      return {
        code: 'SIMULATION_REVERTED',
        message: revert === undefined ? failure.message : `The contract refuses: ${revert.name}.`,
        ...(revert === undefined ? {} : { revert }),
      }
    }
  }
}

/** @returns those whose lane is known: a sender whose nonce no node tells holds up no other */
const seedNewLanes = async (
  context: EngineContext,
  seeded: Set<string>,
  passed: readonly Passed[],
): Promise<readonly Passed[]> => {
  const fresh = [...new Set(passed.map(({ transaction }) => transaction.sender))].filter(
    (sender) => !seeded.has(sender),
  )
  if (fresh.length === 0) return passed
  const counts = await context.rpc.batch(
    fresh.map((sender) => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] })),
  )
  const nonces = new Map<string, number>()
  for (const [i, sender] of fresh.entries()) {
    const count = counts[i]!
    if ('result' in count) nonces.set(sender, count.result)
  }
  await lanes.seedLanes(context.sql, context.network.id, nonces)
  for (const sender of nonces.keys()) seeded.add(sender)
  return passed.filter(({ transaction }) => seeded.has(transaction.sender))
}

type Signed = store.SignedRow & { readonly kind: TransactionKind; readonly sender: Hex }

/** Nonces, signatures and hashes of a batch, committed together. */
const signAll = async (
  context: EngineContext,
  passed: readonly Passed[],
  fees: AttemptFees,
): Promise<readonly Signed[]> => {
  const { network, sql, settings } = context
  const senders = [...new Set(passed.map(({ transaction }) => transaction.sender))].sort()
  const signers = new Map(
    await Promise.all(senders.map(async (each) => [each, await signerOf(context, each)] as const)),
  )
  const unsignedIds: string[] = []
  const signed = await sql.begin(async (tx) => {
    const nonces = await lanes.lockLanes(tx, network.id, senders)
    const pending = await store.lockPending(
      tx,
      passed.map(({ transaction }) => transaction.id),
    )
    const signed: Signed[] = []
    for (const { transaction, gasLimit } of passed) {
      const nonce = nonces.get(transaction.sender)
      if (nonce === undefined || !pending.has(transaction.id)) continue
      const unsigned = unsignedOf(context, transaction, nonce, gasLimit, fees)
      try {
        const signer = signers.get(transaction.sender)
        if (signer === undefined) throw new Error('the wallet has no signer')
        const { raw, hash } = await signer.signTransaction(unsigned)
        const { id, kind, sender } = transaction
        signed.push({ id, kind, sender, nonce, hash, raw, gasLimit, ...fees })
        nonces.set(sender, nonce + 1)
        // Requests must not wait for a whole batch of signatures.
        if (signed.length % signaturesPerTurn === 0) await Bun.sleep(0)
      } catch (error) {
        // The nonce stays free: the sender's next transaction takes it, and this one is tried again.
        context.logger.warn({ transaction: transaction.id, err: error }, 'signing failed')
        unsignedIds.push(transaction.id)
      }
    }
    await lanes.saveLanes(tx, network.id, nonces)
    await store.saveSigned(tx, signed, settings.resendMs)
    await saveAddresses(tx, signed)
    return signed
  })
  if (unsignedIds.length > 0) await store.defer(sql, unsignedIds, signerRetryMs, signerFailed)
  return signed
}

const signerOf = async (context: EngineContext, sender: Hex) => {
  try {
    return await context.signerFor(sender)
  } catch (error) {
    context.logger.warn({ sender, err: error }, 'no signer')
    return undefined
  }
}

const unsignedOf = (
  context: EngineContext,
  transaction: OpenTransaction,
  nonce: number,
  gasLimit: bigint,
  fees: AttemptFees,
): UnsignedTransaction => {
  const { network } = context
  return {
    chainId: network.chainId,
    nonce,
    gasLimit,
    fees: feesFor(network.gasPolicy, fees),
    to: transaction.recipient,
    value: 0n,
    data: transaction.data,
  }
}

const saveAddresses = async (tx: Transaction, signed: readonly Signed[]): Promise<void> => {
  const addresses = new Map(
    signed
      .filter((each) => each.kind === 'deploy')
      .map((each) => [each.id, createdAddress(each.sender, each.nonce)]),
  )
  if (addresses.size > 0) await store.savePredictedAddresses(tx, addresses)
}

export type Sendable = { readonly id: string; readonly raw: Hex }

/**
 * Sends signed transactions, and records which of them a node took. All others stay as they are: the follower asks for
 * their receipts and sends them again.
 */
export const send = async (
  context: EngineContext,
  sendables: readonly Sendable[],
): Promise<ReadonlyMap<string, RpcFailure>> => {
  if (sendables.length === 0) return new Map()
  const { sql, rpc, logger } = context
  const refused = new Map<string, RpcFailure>()
  const outcomes = await rpc.batch(
    sendables.map(({ raw }) => ({ method: 'eth_sendRawTransaction', params: [raw] })),
  )
  const accepted: string[] = []
  for (const [i, { id }] of sendables.entries()) {
    const outcome = outcomes[i]!
    if ('result' in outcome || outcome.failure.kind === 'known_transaction') accepted.push(id)
    else refused.set(id, outcome.failure)
  }
  if (accepted.length > 0) await store.markBroadcast(sql, accepted)
  if (refused.size > 0) {
    const kinds = [...new Set([...refused.values()].map((failure) => failure.kind))]
    logger.warn(
      { network: context.network.id, count: refused.size, kinds },
      'not taken by the node',
    )
  }
  return refused
}
