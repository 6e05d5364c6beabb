/**
 * Repairs that a healthy run never needs: it asks for receipts by hash, sends again, replaces with a higher fee, fills
 * missing nonces, and takes up everything after a crash.
 */
import type { Queryable } from '#src/platform/database/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import type { GasPolicy } from '../config.ts'
import type { Hex } from '../evm/hex.ts'
import type { RpcFailureKind } from '../rpc/errors.ts'
import * as attemptStore from './attempt-store.ts'
import type { EngineContext } from './context.ts'
import { type AskedFees, currentFees, nextFees, offerOf } from './fees.ts'
import { collectReceipts } from './follow.ts'
import * as lanes from './lane-store.ts'
import { createLostNonces } from './lost-nonces.ts'
import { unsignedOf } from './sign.ts'
import * as store from './store.ts'
import { isTaken, noteAccepted, type Sendable, send } from './submit.ts'
import type { OpenTransaction, TransactionError } from './transaction.ts'

const sweepMax = 500
const cancelGas = 21_000n
/** Missing nonces filled per sender and look. */
const gapFillMax = 32

export const createSweeper = (context: EngineContext) => {
  const { network, settings, sql } = context
  const lostNonces = createLostNonces(context)

  const handle = async (transactions: readonly OpenTransaction[]): Promise<void> => {
    const ids = transactions.map((each) => each.id)
    const attempts = await attemptStore.attemptsOf(sql, ids)
    const open = await collectReceipts(context, transactions, attempts)
    const sendables = open.length === 0 ? [] : await resendables(context, open, attempts)
    // Also those whose receipts cannot be read or stored: a page of them would keep all others out.
    await store.defer(sql, ids, settings.resendMs)
    if (open.length === 0) return
    const refused = await send(context, sendables)
    const refusedAs = (kind: RpcFailureKind) =>
      open.filter((each) => refused.get(each.id)?.kind === kind)
    await raise(
      context,
      // A transaction that a node has taken is raised as blocks pass.
      refusedAs('underpriced').filter(({ status }) => status !== 'broadcast'),
      sendables,
    )
    await lostNonces(refusedAs('nonce_too_low'), attempts)
  }

  return {
    /** Takes up every transaction in flight, before anything new is signed. @returns how many there were */
    async recover(): Promise<number> {
      let count = 0
      let afterId = ''
      for (;;) {
        const page = await store.dueInFlight(sql, network.id, sweepMax, { afterId })
        const last = page.at(-1)
        if (last === undefined) return count
        await handle(page)
        afterId = last.id
        count += page.length
      }
    },
    /** Looks at transactions without a receipt for too long. @returns how many were looked at */
    async sweepOnce(): Promise<number> {
      const due = await store.dueInFlight(sql, network.id, sweepMax, undefined)
      if (due.length > 0) await handle(due)
      return due.length
    },
  }
}

/** The newest bytes of each, with a higher fee if the network has fees and made blocks without it. */
const resendables = async (
  context: EngineContext,
  open: readonly OpenTransaction[],
  attempts: readonly attemptStore.Attempt[],
): Promise<readonly Sendable[]> => {
  const { heads, network } = context
  const isDue = ({ id, status }: OpenTransaction) =>
    status === 'broadcast' && network.gasPolicy !== 'zero' && heads.hasMovedSince(id)
  const raised = await bumped(context, open.filter(isDue), attempts)
  const newest = attemptStore.newestOf(attempts)
  return open.flatMap(({ id, raw }) => {
    const bytes = raised.get(id)?.raw ?? newest.get(id)?.raw ?? raw
    return bytes === undefined ? [] : [{ id, raw: bytes }]
  })
}

const underpriced = (policy: GasPolicy): TransactionError => ({
  code: 'FEE_TOO_HIGH',
  message:
    policy === 'zero'
      ? 'It is signed, but no node takes it without a fee, and the network’s gas policy has none.'
      : 'It is signed, but no node takes it at a fee that the settings allow.',
})

/** If no node takes a transaction for its fee, it holds up all others of its wallet: offer more at once. */
const raise = async (
  context: EngineContext,
  transactions: readonly OpenTransaction[],
  sendables: readonly Sendable[],
): Promise<void> => {
  const { network, settings, sql } = context
  const refused = new Set(transactions.map(({ id }) => id))
  const cheap = await refusedByAll(
    context,
    sendables.filter(({ id }) => refused.has(id)),
  )
  if (cheap.size === 0) return
  const ids = [...cheap]
  const open = transactions.filter(({ id }) => cheap.has(id))
  const raised = await bumped(context, open, await attemptStore.attemptsOf(sql, ids))
  const left = ids.filter((id) => !raised.has(id))
  await store.defer(sql, left, settings.resendMs, underpriced(network.gasPolicy))
  await send(
    context,
    [...raised].map(([id, { raw }]) => ({ id, raw })),
  )
}

/** A price is not what is wrong with bytes that are taken, or whose nonce is. */
const isNoPrice = (kind: RpcFailureKind | undefined): boolean =>
  kind === undefined || kind === 'known_transaction' || kind === 'nonce_too_low'

/**
 * Offers the same bytes to every node: one that asks for more than the others raises no fee.
 * @returns those that a node finds underpriced, and none has taken
 */
const refusedByAll = async (
  context: EngineContext,
  sendables: readonly Sendable[],
): Promise<ReadonlySet<string>> => {
  if (sendables.length === 0) return new Set()
  const answers = await context.rpc.pollBatch(
    sendables.map(({ raw }) => ({ method: 'eth_sendRawTransaction', params: [raw] })),
    { enough: 1 },
  )
  const outcomesOf = (i: number) => answers.flatMap((node) => node[i] ?? [])
  noteAccepted(
    context,
    sendables.flatMap(({ id }, i) => (outcomesOf(i).some(isTaken) ? [id] : [])),
  )
  const cheap = sendables.filter((_, i) => {
    const kinds = outcomesOf(i).map((each) => ('failure' in each ? each.failure.kind : undefined))
    return kinds.includes('underpriced') && !kinds.some(isNoPrice)
  })
  return new Set(cheap.map(({ id }) => id))
}

/** @returns those that were replaced: of others there is nothing to raise, or their signer does not sign */
const bumped = async (
  context: EngineContext,
  transactions: readonly OpenTransaction[],
  attempts: readonly attemptStore.Attempt[],
): Promise<ReadonlyMap<string, attemptStore.Attempt>> => {
  const { network, logger, rpc, settings } = context
  const raised = new Map<string, attemptStore.Attempt>()
  if (network.gasPolicy === 'zero' || transactions.length === 0) return raised
  const newest = attemptStore.newestOf(attempts)
  const asked = await currentFees(network.gasPolicy, rpc, settings.fees)
  const bump = async (transaction: OpenTransaction): Promise<void> => {
    const { id } = transaction
    const over = newest.get(id)
    const kind = over?.kind === 'cancel' ? 'cancel' : 'bump'
    try {
      const attempt = await replace(context, transaction, { kind, asked, over })
      if (attempt !== undefined) raised.set(id, attempt)
    } catch (err) {
      logger.warn({ transaction: id, err }, 'not replaced')
    }
  }
  // A wallet's replacements come one after another; one wallet's signer does not hold up another's.
  const bySender = Map.groupBy(transactions, ({ sender }) => sender)
  await Promise.all(
    [...bySender.values()].map(async (own) => {
      for (const each of own) await bump(each)
    }),
  )
  return raised
}

type Replacement = {
  /** The same call, or zero to the sender itself. */
  readonly kind: 'bump' | 'cancel'
  readonly asked: AskedFees
  /** The newest bytes, as they were read; undefined: its first. */
  readonly over: attemptStore.Attempt | undefined
}

/**
 * Signs another transaction for the same nonce and a higher fee, and commits it before it is sent.
 * @param alongside written in the same transaction
 * @returns undefined if there is no fee to raise, or another has replaced it meanwhile
 */
export const replace = async (
  context: EngineContext,
  transaction: OpenTransaction,
  { kind, asked, over }: Replacement,
  alongside?: (tx: Queryable) => Promise<void>,
): Promise<attemptStore.Attempt | undefined> => {
  const { network, settings } = context
  const isCancel = kind === 'cancel'
  const gasLimit = isCancel ? cancelGas : (transaction.gasLimit ?? cancelGas)
  const { maxFee = 0n, tip = 0n } = over ?? transaction
  const fees = nextFees(network.gasPolicy, { maxFee, tip, gasLimit }, asked, settings.fees)
  if (fees === undefined && network.gasPolicy !== 'zero') context.onFeeLimit()
  if (transaction.nonce === undefined || fees === undefined) return undefined
  const call = isCancel ? nothingBy(transaction.sender) : transaction
  const unsigned = unsignedOf(context, { transaction: call, gasLimit, fees }, transaction.nonce)
  const signed = await context.signers.sign(transaction.sender, unsigned)
  const attempt = { transactionId: transaction.id, kind, ...signed, ...fees }
  return context.sql.begin(async (tx) => {
    if (!(await attemptStore.lockNewest(tx, transaction.id, over))) return undefined
    await attemptStore.insertAttempt(tx, network.id, attempt)
    await alongside?.(tx)
    return attempt
  })
}

/** Zero to the sender itself: all that it does is to use its nonce. */
const nothingBy = (sender: Hex) => ({ recipient: sender, value: 0n, data: '0x' }) as const

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
    // A wallet whose signer does not sign keeps its gap, and the others do not wait for it.
    filled += await fill(context, sender, from, Math.min(nonce, from + gapFillMax)).catch(() => 0)
  }
  return filled
}

const fill = async (
  context: EngineContext,
  sender: Hex,
  from: number,
  end: number,
): Promise<number> => {
  const { network, rpc, settings, signers, sql } = context
  const asked = await currentFees(network.gasPolicy, rpc, settings.fees)
  const fees = offerOf(asked, cancelGas, settings.fees)
  if (fees === undefined) return 0
  const sendables: Sendable[] = []
  const sent = await lanes.sentBetween(sql, network.id, sender, from, end)
  for (let nonce = from; nonce < end; nonce++) {
    const before = sent.get(nonce)
    if (before !== undefined) {
      sendables.push(before)
      continue
    }
    const empty = { transaction: nothingBy(sender), gasLimit: cancelGas, fees }
    const signed = await signers.sign(sender, unsignedOf(context, empty, nonce))
    const id = `gap_${newUuid().replaceAll('-', '')}`
    const row = { id, nonce, ...signed, gasLimit: cancelGas, ...fees }
    // Another process may have filled it meanwhile: the unique nonce decides.
    if (await lanes.insertGapFill(sql, network.id, sender, row, settings.resendMs)) {
      sendables.push({ id, raw: signed.raw })
    }
  }
  await send(context, sendables)
  return sendables.length
}
