/**
 * Repairs that a healthy run never needs: it asks for receipts by hash, sends again, replaces with a higher fee, fills
 * missing nonces, and takes up everything after a crash.
 */
import type { Queryable } from '#src/platform/database/index.ts'
import type { AttemptFees } from '../domain.ts'
import { type Hex, quantity } from '../evm/hex.ts'
import type { UnsignedTransaction } from '../evm/transaction.ts'
import type { RpcFailure } from '../rpc/errors.ts'
import { endSagas } from '../sagas.ts'
import * as attemptStore from './attempt-store.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import { currentFees, feesFor, nextFees } from './fees.ts'
import { collectReceipts } from './follow.ts'
import * as lanes from './lane-store.ts'
import * as store from './store.ts'
import { type Sendable, send } from './submit.ts'
import type { OpenTransaction } from './transaction.ts'

const sweepMax = 500
const cancelGas = 21_000n
/** Missing nonces filled per sender and look. */
const gapFillMax = 32

/** Takes up every transaction in flight, before anything new is signed. */
export const recover = async (context: EngineContext): Promise<number> => {
  let count = 0
  let afterId = ''
  for (;;) {
    const page = await store.dueInFlight(context.sql, context.network.id, sweepMax, { afterId })
    const last = page.at(-1)
    if (last === undefined) return count
    await handle(context, page)
    afterId = last.id
    count += page.length
  }
}

/** Looks at transactions without a receipt for too long. @returns how many were looked at */
export const sweepOnce = async (context: EngineContext): Promise<number> => {
  const { sql, network } = context
  const due = await store.dueInFlight(sql, network.id, sweepMax, undefined)
  if (due.length > 0) await handle(context, due)
  return due.length
}

const handle = async (
  context: EngineContext,
  transactions: readonly OpenTransaction[],
): Promise<void> => {
  const { sql } = context
  const attempts = await attemptStore.attemptsOf(
    sql,
    transactions.map((each) => each.id),
  )
  const open = await collectReceipts(context, transactions, attempts)
  if (open.length === 0) return
  const sendables = await resendables(context, open, attempts)
  await store.defer(
    sql,
    open.map((each) => each.id),
    context.settings.resendMs,
  )
  const refused = await send(context, sendables)
  await endLost(context, open, refused)
}

/** The newest bytes of each, with a higher fee if the network has fees. */
const resendables = async (
  context: EngineContext,
  open: readonly OpenTransaction[],
  attempts: readonly attemptStore.Attempt[],
): Promise<readonly Sendable[]> => {
  const { network, rpc, settings } = context
  const newest = new Map(attempts.map((each) => [each.transactionId, each]))
  const current = await currentFees(network.gasPolicy, rpc)
  const sendables: Sendable[] = []
  for (const transaction of open) {
    const attempt = newest.get(transaction.id)
    const previous = attempt ?? {
      maxFee: transaction.maxFee ?? 0n,
      tip: transaction.tip ?? 0n,
    }
    const wasSent = transaction.status === 'broadcast'
    const fees = wasSent
      ? nextFees(network.gasPolicy, previous, current, settings.feeMaxWei)
      : undefined
    const replacement =
      fees === undefined
        ? undefined
        : await replace(context, transaction, attempt?.kind ?? 'bump', fees)
    const raw = replacement?.raw ?? attempt?.raw ?? transaction.raw
    if (raw !== undefined) sendables.push({ id: transaction.id, raw })
  }
  return sendables
}

/**
 * Signs another transaction for the same nonce, and commits it before it is sent: the same call for a higher fee, or
 * zero to the sender itself.
 * @param alongside written in the same transaction
 */
export const replace = async (
  context: EngineContext,
  transaction: OpenTransaction,
  kind: attemptStore.Attempt['kind'],
  fees: AttemptFees,
  alongside?: (tx: Queryable) => Promise<void>,
): Promise<attemptStore.Attempt | undefined> => {
  if (transaction.nonce === undefined) return undefined
  const isCancel = kind === 'cancel'
  const unsigned: UnsignedTransaction = {
    chainId: context.network.chainId,
    nonce: transaction.nonce,
    gasLimit: isCancel ? cancelGas : (transaction.gasLimit ?? cancelGas),
    fees: feesFor(context.network.gasPolicy, fees),
    to: isCancel ? transaction.sender : transaction.recipient,
    value: 0n,
    data: isCancel ? '0x' : transaction.data,
  }
  const signer = await context.signerFor(transaction.sender)
  const signed = await signer.signTransaction(unsigned)
  const attempt = { transactionId: transaction.id, kind, ...signed, ...fees }
  await context.sql.begin(async (tx) => {
    await attemptStore.insertAttempt(tx, context.network.id, attempt)
    await alongside?.(tx)
  })
  return attempt
}

/**
 * Ends transactions whose nonce is used although none of our hashes has a receipt. Once that is as deep as a
 * confirmation, somebody else used the wallet's key and ours can never be mined.
 */
const endLost = async (
  context: EngineContext,
  open: readonly OpenTransaction[],
  refused: ReadonlyMap<string, RpcFailure>,
): Promise<void> => {
  const { network, rpc, sql } = context
  const suspects = open.filter((each) => refused.get(each.id)?.kind === 'nonce_too_low')
  if (suspects.length === 0) return
  const head = await rpc.call('eth_blockNumber')
  const deep = quantity(Math.max(0, head - network.confirmations + 1))
  const counts = await rpc.batch(
    suspects.map((each) => ({ method: 'eth_getTransactionCount', params: [each.sender, deep] })),
  )
  const used = suspects.filter((each, i) => {
    const count = counts[i]!
    return 'result' in count && count.result > each.nonce!
  })
  if (used.length === 0) return
  // The block that used the nonce may hold our own transaction: ask once more, now that it is deep.
  const attempts = await attemptStore.attemptsOf(
    sql,
    used.map((each) => each.id),
  )
  const lost = await collectReceipts(context, used, attempts)
  if (lost.length === 0) return
  context.logger.error({ network: network.id, count: lost.length }, 'nonces used by others')
  await sql.begin(async (tx) => {
    const ids = lost.map((each) => each.id)
    const ended = await endings.fail(tx, ids, 'nonce_lost', {
      code: 'NONCE_TAKEN',
      message: 'The wallet’s nonce was used by a transaction that is not of this gateway.',
    })
    await endSagas(context, tx, ended)
  })
  await resyncLanes(context, [...new Set(lost.map((each) => each.sender))])
}

const resyncLanes = async (context: EngineContext, senders: readonly Hex[]): Promise<void> => {
  const counts = await context.rpc.batch(
    senders.map((sender) => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] })),
  )
  const nonces = new Map<string, number>()
  for (const [i, sender] of senders.entries()) {
    const count = counts[i]!
    if ('result' in count) nonces.set(sender, count.result)
  }
  await lanes.seedLanes(context.sql, context.network.id, nonces)
}

/**
 * Finds senders whose lowest nonce in flight is ahead of the chain: none of their transactions can be mined until the
 * missing nonces are used. If the gateway had sent something at a missing nonce, a reorganisation deeper than the
 * confirmations removed it, and the same bytes are sent again; other nonces are filled with transactions that do
 * nothing.
 * @returns how many were filled
 */
export const fillGaps = async (context: EngineContext): Promise<number> => {
  const { sql, network, rpc } = context
  const lowest = [...(await lanes.lowestInFlight(sql, network.id))]
  if (lowest.length === 0) return 0
  const counts = await rpc.batch(
    lowest.map(([sender]) => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] })),
  )
  let filled = 0
  for (const [i, [sender, nonce]] of lowest.entries()) {
    const count = counts[i]!
    if (!('result' in count)) continue
    const from = count.result
    if (from >= nonce || (await lanes.hasMinedFrom(sql, network.id, sender, from))) continue
    context.logger.error({ network: network.id, sender, from, to: nonce - 1 }, 'missing nonces')
    filled += await fill(context, sender, from, Math.min(nonce, from + gapFillMax))
  }
  return filled
}

const fill = async (
  context: EngineContext,
  sender: Hex,
  from: number,
  end: number,
): Promise<number> => {
  const { network, rpc, sql } = context
  const fees = await currentFees(network.gasPolicy, rpc)
  const signer = await context.signerFor(sender)
  const sendables: Sendable[] = []
  const sent = await lanes.sentBetween(sql, network.id, sender, from, end)
  for (let nonce = from; nonce < end; nonce++) {
    const before = sent.get(nonce)
    if (before !== undefined) {
      sendables.push(before)
      continue
    }
    const signed = await signer.signTransaction({
      chainId: network.chainId,
      nonce,
      gasLimit: cancelGas,
      fees: feesFor(network.gasPolicy, fees),
      to: sender,
      value: 0n,
      data: '0x',
    })
    const id = `gap_${Bun.randomUUIDv7('hex').replaceAll('-', '')}`
    const row = { id, nonce, ...signed, gasLimit: cancelGas, ...fees }
    // Another process may have filled it meanwhile: the unique nonce decides.
    if (await lanes.insertGapFill(sql, network.id, sender, row, context.settings.resendMs)) {
      sendables.push({ id, raw: signed.raw })
    }
  }
  await send(context, sendables)
  return sendables.length
}
