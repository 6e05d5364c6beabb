import type { EmitWithin } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  type AuditEntry,
  actorOf,
  type Caller,
  runOnce,
} from '#src/platform/http/index.ts'
import { cardErrors } from '../errors.ts'
import type { Network } from '../networks/index.ts'
import { advisedCode, originalMtiOf } from '../networks/messages.ts'
import {
  dropAdvices,
  type EndedReversal,
  insertReversals,
  isAdviceTaken,
  isUnresolved,
  type Reversal,
  resolveReversals,
} from '../reversals/index.ts'
import { isAdviceOf, type ReversalOutcome } from '../reversals/types.ts'
import { isKnownApproved } from '../transactions/card-events.ts'
import { changed, type Fields } from '../transactions/changes.ts'
import { isAdvising, transition } from '../transactions/domain.ts'
import { isEndedAs, isHeld, type Resolution, resolvingEvent } from '../transactions/resolutions.ts'
import { type CardChange, type CardTransaction, lockTransaction } from '../transactions/store.ts'
import { changeTransactions } from '../transactions/writes.ts'
import { capturedBy, capturesOf, incrementedBy, partiallyVoidedBy, refundedBy } from './amounts.ts'
import { answerOf } from './answers.ts'
import { isGoingOn, stillNeedsAttention } from './attention.ts'
import { followsAuthorization, isOfOperation, reversalsBegun } from './begun-reversals.ts'
import { isSale } from './booking.ts'
import type { CardContext } from './context.ts'
import { endAdvice } from './going-on.ts'
import { underClaim } from './operations.ts'
import { requireOwn } from './rights.ts'

export type ResolutionRequest = { readonly outcome: Resolution; readonly reason: string }

/**
 * Ends a reversal that no network confirmed, with the outcome that a person learnt from the network. The event records
 * who it was, and why. Only the first resolution of a transaction counts.
 *
 * @throws ApiError `transaction_not_found`, `invalid_state`, `outcome_not_possible`
 */
export const resolve = async (
  { sql, now, emission }: CardContext,
  id: string,
  request: ResolutionRequest,
  caller: Caller,
): Promise<Answered> =>
  runOnce(sql, caller.idempotencyKey, async (tx) => {
    const found = requireOwn(await lockTransaction(tx, id), caller)
    const before = underClaim(found, caller)
    if (await isUndecided(tx, before, request.outcome)) throw notWaiting()
    const after = resolved(before, request.outcome, now())
    const data = { ...request, operation: before.operation ?? null, api_key: caller.keyId }
    // A late answer to a refund or increment that stands is not to be taken back.
    const { operationStan: stan = null, operationCents = 0n } = before
    const { outcome } = request
    const counted = { type: outcome, data: { stan, amount: Number(operationCents) } }
    const standing = outcome === 'refunded' || outcome === 'incremented' ? [counted] : []
    const audit: AuditEntry = {
      actor: actorOf(caller),
      object: before.id,
      outcome: request.outcome,
      action: 'cards.resolve',
    }
    const [isOurs] = await changeTransactions(
      tx,
      [{ before, after, events: [{ type: 'resolved', data }, ...standing], audit }],
      emission,
    )
    if (isOurs !== true) throw notWaiting()
    await resolveReversals(tx, id)
    // Another advice of it may still wait behind the one that was given up.
    if (isAdvising(before.operation)) await dropAdvices(tx, id)
    await insertReversals(tx, reversalsBegun(before, after))
    return answerOf(200, after)
  })

/**
 * Whether the network is still asked about what the outcome would end otherwise. An advice that waits behind one that
 * was given up ends with that.
 */
const isUndecided = async (
  tx: Queryable,
  before: CardTransaction,
  outcome: Resolution,
): Promise<boolean> => {
  if (resolvingEvent(before, outcome) === 'reversal_confirmed') return false
  if (!(await isGoingOn(tx, before))) return false
  return !(isAdvising(before.operation) && (await isUnresolved(tx, before.id)))
}

const resolved = (before: CardTransaction, outcome: Resolution, at: Date): CardTransaction => {
  if (!before.needsAttention) throw notWaiting()
  const { status, operation } = before
  if (isEndedAs(before, outcome)) {
    return { ...before, needsAttention: false, updatedAt: at }
  }
  const event = resolvingEvent(before, outcome)
  if (event === undefined) {
    throw new ApiError(
      cardErrors.outcome_not_possible,
      `A transaction that is ${status}${operation === undefined ? '' : ` with ${operation}`} cannot end ${outcome}.`,
      { details: { field: 'outcome', value: outcome, status, operation: operation ?? null } },
    )
  }
  const fields = { ...fieldsOf(before, outcome, at), ...heldFields(before, outcome, at) }
  return changed(before, event, { ...fields, needsAttention: false }, at)
}

/** What was held in a restored copy ends as the network has it, or its reversal begins. */
const heldFields = (before: CardTransaction, outcome: Resolution, at: Date): Fields => {
  if (!isHeld(before)) return {}
  const { operation, amountCents } = before
  if (operation !== undefined) {
    const isCapture = outcome === 'captured' && operation === 'capture'
    return { reason: undefined, ...(isCapture ? capturedBy(before, at) : {}) }
  }
  switch (outcome) {
    case 'voided':
      return { reason: 'abandoned', voidedAt: undefined }
    case 'declined':
      return { reason: undefined }
    case 'captured':
      return {
        reason: undefined,
        responseCode: advisedCode,
        ...capturedBy({ ...before, operationCents: amountCents }, at),
      }
    default:
      return { reason: undefined, responseCode: advisedCode }
  }
}

const fieldsOf = (
  before: CardTransaction,
  outcome: Resolution,
  at: Date,
): ReturnType<typeof capturedBy> => {
  if (outcome === 'voided') return { voidedAt: at }
  if (outcome === 'refunded') return refundedBy(before)
  if (outcome === 'partially_voided') return partiallyVoidedBy(before)
  if (outcome === 'incremented') return incrementedBy(before)
  if (outcome === 'partially_captured') return capturedBy(before, at)
  // Its own code said approved; nobody has told the network's.
  if (outcome === 'declined') return { reason: 'advice_refused', responseCode: undefined }
  if (outcome !== 'captured') return {}
  if (before.operation === 'advising_refund') return {}
  if (before.operation === 'reversing_release') return partiallyVoidedBy(before)
  // If the void was not done, the capture stays as it was.
  const isOfCapture =
    before.operation === 'reversing_capture' || before.operation === 'advising_capture'
  return isOfCapture ? capturedBy(before, at) : {}
}

const unconfirmed = (before: CardTransaction, reversal: Ended, at: Date): CardChange => {
  const { reverses } = reversal
  const event = followsAuthorization(reverses)
    ? (`late_${reverses}` as const)
    : 'late_authorization'
  const fields = followsAuthorization(reverses) ? numbersOf(reversal) : {}
  const open = transition(before, event) === undefined ? before : changed(before, event, fields, at)
  return {
    before,
    after: { ...open, needsAttention: true, updatedAt: at },
    events: [{ type: 'reversal_expired', data: { reverses } }],
  }
}

const notWaiting = (): ApiError =>
  new ApiError(
    cardErrors.invalid_state,
    'The transaction does not wait for an answer of this kind.',
    {
      details: { field: 'needs_attention', value: null },
    },
  )

type Ended = Pick<
  EndedReversal,
  | 'transactionId'
  | 'reverses'
  | 'originalStan'
  | 'originalTransmission'
  | 'amountCents'
  | 'messages'
>

const numbersOf = ({ originalStan, originalTransmission, amountCents }: Ended) => ({
  operationStan: originalStan,
  operationTransmission: originalTransmission,
  operationCents: amountCents,
})

/**
 * Updates the card transaction when its reversal ends, in the same database transaction. A confirmed reversal of an
 * authorization or void leaves it voided, one of a capture leaves it authorized. If the reversal expired, it stays as
 * it is, and needs attention.
 */
export const endReversal = async (
  tx: Queryable,
  reversal: Ended,
  outcome: ReversalOutcome,
  at: Date,
  emission: EmitWithin | undefined,
): Promise<void> => {
  const { reverses, messages } = reversal
  // Once it is locked, what others have written about its reversals is committed.
  const before = await lockTransaction(tx, reversal.transactionId)
  if (before === undefined) return
  const isConfirmed = outcome === 'confirmed'
  if (!isOfOperation(before, reversal)) {
    // The transaction has moved on by other means. What is not confirmed is somebody's business all the same.
    if (!isConfirmed) await changeTransactions(tx, [unconfirmed(before, reversal, at)], emission)
    return
  }
  const next = transition(before, 'reversal_confirmed')
  if (isConfirmed && next === undefined) return
  const voided = next?.status === 'voided' && before.status !== 'voided' ? { voidedAt: at } : {}
  const isPart = reverses === 'partial_void' || reverses === 'release'
  const partly = isPart ? partiallyVoidedBy(before) : {}
  const needsAttention = await stillNeedsAttention(tx, before)
  const after = isConfirmed
    ? changed(before, 'reversal_confirmed', { needsAttention, ...voided, ...partly }, at)
    : { ...before, needsAttention: true, updatedAt: at }
  const type = isConfirmed ? 'reversal_confirmed' : 'reversal_expired'
  const events = [{ type, data: { reverses }, messages }]
  await changeTransactions(tx, [{ before, after, events }], emission)
  await insertReversals(tx, reversalsBegun(before, after))
}

/**
 * Locks the transaction of a reversal. Returns whether its network has approved what is taken back, other than a hold
 * beneath it.
 */
export const lockOriginal = async (
  tx: Queryable,
  reversal: Reversal,
  network: Pick<Network, 'content'> | undefined,
): Promise<boolean> => {
  const transaction = await lockTransaction(tx, reversal.transactionId)
  if (transaction === undefined || network === undefined) return false
  const { reverses, originalStan } = reversal
  const isKnown = await isKnownApproved(tx, transaction.id, `late_${reverses}`, originalStan)
  if (isKnown && movesMoney(network, reversal)) return true
  if (!isTaken(transaction, reversal, network)) return false
  const isAdvised = reversal.originalMti === '0120' || reversal.originalMti === '0220'
  return !isAdvised || (await isAdviceTaken(tx, reversal))
}

/** Whether the original moves money by itself: an authorization and its increments do where that is a 0200. */
const movesMoney = (network: Pick<Network, 'content'>, reversal: Reversal): boolean =>
  reversal.reverses === 'capture' ||
  reversal.reverses === 'refund' ||
  (reversal.reverses === 'increment' && isSale(network)) ||
  originalMtiOf(network.content, reversal).startsWith('02')

/** Whether the transaction has the original for approved. */
const isTaken = (
  transaction: CardTransaction,
  { reverses, originalStan, originalTransmission }: Reversal,
  network: Pick<Network, 'content'>,
): boolean => {
  switch (reverses) {
    case 'void':
    case 'partial_void':
    case 'release':
      return true
    case 'capture':
      return (capturesOf(transaction) ?? []).some(
        (one) => one.stan === originalStan && one.transmission === originalTransmission,
      )
    case 'authorization': {
      // The caller was given the approval only if it was not declined, and has a code.
      const { status, responseCode } = transaction
      const wasGiven = status === 'voided' && responseCode !== undefined
      return wasGiven && isSale(network)
    }
    default:
      return false
  }
}

/** Updates the card transaction when one of its reversals or advices ends. */
export const endStored = (
  tx: Queryable,
  stored: EndedReversal,
  outcome: ReversalOutcome,
  at: Date,
  emission: EmitWithin | undefined,
): Promise<void> =>
  isAdviceOf(stored.reverses)
    ? endAdvice(tx, stored, outcome, at, emission)
    : endReversal(tx, stored, outcome, at, emission)
