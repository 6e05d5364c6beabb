/**
 * Nonces, signatures and hashes, committed together before anything is sent. A key of our own signs within the database
 * transaction that gives the nonce. Another program signs outside of any: its signature is kept only if the nonce is
 * still free afterwards, and thrown away unsent if it is not.
 */
import type { Queryable, Transaction } from '#src/platform/database/index.ts'
import type { AttemptFees } from '../domain.ts'
import type { Hex } from '../evm/hex.ts'
import { createdAddress, type UnsignedTransaction } from '../evm/transaction.ts'
import type { EngineContext } from './context.ts'
import { feesFor } from './fees.ts'
import * as lanes from './lane-store.ts'
import { inParts } from './parts.ts'
import * as sagaStore from './saga-store.ts'
import type { Passed } from './simulate.ts'
import * as store from './store.ts'
import type { OpenTransaction, TransactionError, TransactionKind } from './transaction.ts'

const signaturesPerTurn = 32
/** Signatures that one wallet's remote signer is asked for at once. */
const remoteMax = 16
export const signerRestMs = 5_000

const signerFailed: TransactionError = {
  code: 'SIGNER_FAILED',
  message: 'The wallet’s signer did not sign; it is asked again until the time runs out.',
}

export type Signed = store.SignedRow & { readonly kind: TransactionKind; readonly sender: Hex }

export type Offer = Passed & { readonly fees: AttemptFees }

/** Signs with our own keys, many wallets at once. One whose signatures the database refuses holds up no other. */
export const signLocally = async (
  context: EngineContext,
  offers: readonly Offer[],
): Promise<readonly Signed[]> => {
  const signed: Signed[] = []
  const refused: Offer[] = []
  await inParts(
    [...Map.groupBy(offers, ({ transaction }) => transaction.sender).values()],
    async (part) => void signed.push(...(await signTogether(context, part.flat()))),
    (own, err) => {
      const { network, logger } = context
      logger.error({ network: network.id, sender: sendersOf(own)[0], err }, 'signatures not stored')
      refused.push(...own)
    },
  )
  if (refused.length > 0) {
    await lanes.passTaken(context.sql, context.network.id, sendersOf(refused))
    await compareFirst(context, refused)
  }
  return signed
}

const signTogether = async (
  context: EngineContext,
  offers: readonly Offer[],
): Promise<readonly Signed[]> => {
  const { network, knownNonces, sql, settings, signers, logger } = context
  const senders = sendersOf(offers)
  const keys = new Map(
    await Promise.all(senders.map(async (each) => [each, await signers.local(each)] as const)),
  )
  const unsignedIds: string[] = []
  const waitingIds: string[] = []
  const doubted: Offer[] = []
  const signed = await sql.begin(async (tx) => {
    const nonces = await lanes.lockLanes(tx, network.id, senders, knownNonces)
    const pending = await store.lockPending(tx, idsOf(offers))
    const mayApprove = await approvalLanes(tx, network.id, offers)
    const signed: Signed[] = []
    for (const offer of offers) {
      const { id, sender } = offer.transaction
      const nonce = nonces.get(sender)
      if (!pending.has(id)) continue
      if (nonce === undefined) {
        doubted.push(offer)
        continue
      }
      if (!mayApprove(offer.transaction)) {
        waitingIds.push(id)
        continue
      }
      try {
        const bytes = await keys.get(sender)!.signTransaction(unsignedOf(context, offer, nonce))
        signed.push(signedRow(offer, nonce, bytes))
        nonces.set(sender, nonce + 1)
        // Requests must not wait for a whole batch of signatures.
        if (signed.length % signaturesPerTurn === 0) await Bun.sleep(0)
      } catch (error) {
        // The nonce stays free: the sender's next transaction takes it, and this one is tried again.
        logger.warn({ transaction: id, err: error }, 'signing failed')
        unsignedIds.push(id)
      }
    }
    await lanes.saveLanes(tx, network.id, nonces)
    await save(tx, signed, settings.resendMs)
    return signed
  })
  await store.defer(sql, unsignedIds, signerRestMs, signerFailed)
  await store.defer(sql, waitingIds, store.retryMs)
  if (doubted.length > 0) await compareFirst(context, doubted)
  return signed
}

/** Their senders' nonces may be used already: nothing is signed before they were compared again. */
const compareFirst = async (
  { knownNonces, sql }: EngineContext,
  offers: readonly Offer[],
): Promise<void> => {
  for (const sender of sendersOf(offers)) knownNonces.delete(sender)
  await store.defer(sql, idsOf(offers), store.retryMs)
}

/** Whether an approval has its lane to itself; asked in the order of signing. Only under the lock of the senders' nonces it stays so. */
const approvalLanes = async (
  sql: Queryable,
  network: string,
  offers: readonly Offer[],
): Promise<(transaction: OpenTransaction) => boolean> => {
  const approvals = offers.filter(({ transaction }) => transaction.kind === 'approve')
  const held = await sagaStore.heldLanes(sql, network, idsOf(approvals))
  const taken = new Set<string>()
  return ({ id, kind, sender, recipient }) => {
    if (kind !== 'approve') return true
    const lane = `${sender}${recipient}`
    if (held.has(id) || taken.has(lane)) return false
    taken.add(lane)
    return true
  }
}

/** Asks another program to sign for one wallet. */
export const signRemotely = async (
  context: EngineContext,
  sender: Hex,
  offered: readonly Offer[],
): Promise<readonly Signed[]> => {
  const { network, knownNonces, sql, signers } = context
  // A transaction that waits for another of its wallet must not get a nonce before that one.
  const mayApprove = await approvalLanes(sql, network.id, offered)
  const allowed = offered.filter(({ transaction }) => mayApprove(transaction))
  const waiting = idsOf(offered.filter((each) => !allowed.includes(each)))
  await store.defer(sql, waiting, store.retryMs)
  const offers = allowed.slice(0, remoteMax)
  await store.defer(sql, idsOf(allowed.slice(remoteMax)), 0)
  if (offers.length === 0) return []
  const lane = (await lanes.lanesOf(sql, network.id, [sender])).get(sender)
  const first = lane?.next
  const isKnown = lane?.doubt === undefined && lane?.server === knownNonces.get(sender)
  if (first === undefined || !isKnown) {
    await compareFirst(context, offers)
    return []
  }
  const answers = await Promise.allSettled(
    offers.map(async (offer, i) =>
      signedRow(
        offer,
        first + i,
        await signers.sign(sender, unsignedOf(context, offer, first + i)),
      ),
    ),
  )
  // Nonces must follow each other: after the first that is missing, none is of use.
  const missing = answers.findIndex(({ status }) => status === 'rejected')
  const rows = answers
    .slice(0, missing === -1 ? answers.length : missing)
    .flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const kept = await keep(context, sender, first, offers, rows).catch(async (error: unknown) => {
    await lanes.passTaken(sql, network.id, [sender])
    throw error
  })
  const keptIds = new Set(idsOfRows(kept))
  const unsigned = idsOf(offers).filter((id) => !keptIds.has(id))
  if (missing === -1) await store.defer(sql, unsigned, store.retryMs)
  else await store.defer(sql, unsigned, signerRestMs, signerFailed)
  return kept
}

/** @returns those whose nonce is still free and that are still pending, up to the first that is not */
const keep = (
  { network, knownNonces, sql, settings }: EngineContext,
  sender: Hex,
  first: number,
  offers: readonly Offer[],
  rows: readonly Signed[],
): Promise<readonly Signed[]> =>
  sql.begin(async (tx) => {
    const free = (await lanes.lockLanes(tx, network.id, [sender], knownNonces)).get(sender)
    if (free !== first) return []
    const pending = await store.lockPending(tx, idsOfRows(rows))
    const mayApprove = await approvalLanes(tx, network.id, offers)
    const transactions = new Map(offers.map(({ transaction }) => [transaction.id, transaction]))
    const gone = rows.findIndex(({ id }) => !pending.has(id) || !mayApprove(transactions.get(id)!))
    const kept = gone === -1 ? rows : rows.slice(0, gone)
    await lanes.saveLanes(tx, network.id, new Map([[sender, first + kept.length]]))
    await save(tx, kept, settings.resendMs)
    return kept
  })

/** Gives transactions their signatures; the caller has locked them. */
export const save = async (
  tx: Transaction,
  signed: readonly Signed[],
  resendMs: number,
): Promise<void> => {
  await store.saveSigned(tx, signed, resendMs)
  const addresses = new Map(
    signed
      .filter((each) => each.kind === 'deploy')
      .map((each) => [each.id, createdAddress(each.sender, each.nonce)]),
  )
  if (addresses.size > 0) await store.savePredictedAddresses(tx, addresses)
}

const signedRow = (
  { transaction, gasLimit, fees }: Offer,
  nonce: number,
  { raw, hash }: { readonly raw: Hex; readonly hash: Hex },
): Signed => {
  const { id, kind, sender } = transaction
  return { id, kind, sender, nonce, hash, raw, gasLimit, ...fees }
}

export const unsignedOf = (
  { network }: EngineContext,
  {
    transaction,
    gasLimit,
    fees,
  }: Pick<Offer, 'gasLimit' | 'fees'> & {
    readonly transaction: Pick<OpenTransaction, 'recipient' | 'value' | 'data'>
  },
  nonce: number,
): UnsignedTransaction => ({
  chainId: network.chainId,
  nonce,
  gasLimit,
  fees: feesFor(network.gasPolicy, fees),
  to: transaction.recipient,
  value: transaction.value,
  data: transaction.data,
})

/** In one order, so that two processes lock lanes alike. */
export const sendersOf = (
  all: readonly { readonly transaction: OpenTransaction }[],
): readonly Hex[] => [...new Set(all.map(({ transaction }) => transaction.sender))].sort()

export const idsOf = (
  all: readonly { readonly transaction: Pick<OpenTransaction, 'id'> }[],
): readonly string[] => all.map(({ transaction }) => transaction.id)

const idsOfRows = (rows: readonly { readonly id: string }[]): readonly string[] =>
  rows.map(({ id }) => id)
