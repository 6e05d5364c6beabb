import type { EmitWithin } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import type { Network } from '../networks/index.ts'
import { advisedCode } from '../networks/messages.ts'
import {
  dropAdvices,
  type EndedReversal,
  insertReversals,
  type Reversal,
} from '../reversals/index.ts'
import type { AdvisedOperation } from '../reversals/schema.ts'
import { isAdviceOf, type ReversalOutcome } from '../reversals/types.ts'
import { attention, uncertain } from '../transactions/card-events.ts'
import { changed, type Fields } from '../transactions/changes.ts'
import {
  type CardEvent,
  type CardOperation,
  isAdvising,
  transition,
} from '../transactions/domain.ts'
import { type CardTransaction, lockTransaction, type NewCardEvent } from '../transactions/store.ts'
import { changeTransactions } from '../transactions/writes.ts'
import { capturedBy, refundedBy } from './amounts.ts'
import { stillNeedsAttention } from './attention.ts'
import { reversalOf } from './begun-reversals.ts'
import type { OperationName } from './context.ts'
import type { Verdict } from './exchange.ts'

/**
 * What goes on while a network is away: its rules say which operations are decided here, and it hears of them by
 * advices, which are stored.
 */

const advisable = {
  capture: 'capture',
  partial_capture: 'capture',
  refund: 'refund',
  void: 'void',
  partial_void: 'void',
  release: 'void',
} as const

/** Whether the network's rules let an operation go on that nothing was sent of. */
const mayGoOn = (
  { advices }: Network,
  operation: OperationName,
  { amountCents, currency }: CardTransaction,
  hasSecrets: boolean,
): boolean => {
  if (advices === undefined) return false
  if (operation === 'authorization') {
    // A PIN, a chip's data or the proof of the holder is in no table, so no advice could tell them.
    return !hasSecrets && advices.may(operation) && amountCents <= advices.floorCents(currency)
  }
  return operation in advisable && advices.may(advisable[operation as keyof typeof advisable])
}

/** What may be stored behind an advice that the network has yet to hear of: a void takes back whatever it says. */
const followers: Readonly<Partial<Record<CardOperation, ReadonlySet<OperationName>>>> = {
  advising_authorization: new Set(['capture', 'partial_capture', 'void', 'partial_void']),
  advising_capture: new Set(['void']),
  advising_partial_capture: new Set(['void']),
}

/** Whether the operation may be told behind an advice that the network has yet to hear of, even if it is back. */
export const followsAdvice = (
  network: Network | undefined,
  operation: OperationName,
  transaction: CardTransaction,
): boolean =>
  network !== undefined &&
  transaction.operation !== undefined &&
  followers[transaction.operation]?.has(operation) === true &&
  mayGoOn(network, operation, transaction, false)

/** The transaction before what follows its advice: to a void, a capture that waits is one that was made. */
export const beforeFollowing = (
  before: CardTransaction,
  operation: OperationName,
  at: Date,
): CardTransaction =>
  operation === 'void' && before.operation !== 'advising_authorization'
    ? { ...before, ...capturedBy(before, at) }
    : before

/** The verdict, or, where a network that is away lets it go on, that it does. */
export const orGoingOn = (
  network: Network,
  operation: OperationName,
  transaction: CardTransaction,
  verdict: Verdict,
  hasSecrets: boolean,
): Verdict => {
  // No other reason proves that the network is away: this process may be too busy, or only one connection gone.
  if (verdict.kind !== 'not_sent' || verdict.why !== 'no_connection') return verdict
  if (!network.isAway()) return verdict
  return mayGoOn(network, operation, transaction, hasSecrets) ? { kind: 'advised' } : verdict
}

/** The fields of an authorization that is approved in place of the network. */
export const standInFields = ({ stan }: CardTransaction): Fields => ({
  // The holder's receipt needs a code, and this one is of this payment only.
  responseCode: advisedCode,
  authCode: stan,
  standIn: true,
})

/** Nothing of it was sent, so its reversal has no numbers yet. */
export const unsentVoid = (): Fields => ({
  operationStan: undefined,
  operationTransmission: undefined,
  voidError: undefined,
})

const refusalOf = ({ operation }: CardTransaction, responseCode: string): Fields => {
  const outcome = `declined_${responseCode}`
  return operation === 'advising_refund' ? { refundError: outcome } : { captureError: outcome }
}

const confirmationOf = (before: CardTransaction, at: Date): Fields => {
  if (before.operation === 'advising_authorization') return {}
  if (before.operation === 'advising_refund') return refundedBy(before)
  return capturedBy(before, at)
}

type Step = { readonly event: CardEvent; readonly fields: Fields }

/** What the end of an advice does to its transaction; undefined: nothing, as it is about an earlier step. */
const stepOf = (
  before: CardTransaction,
  { reverses, responseCode = '' }: Reversal,
  outcome: 'confirmed' | 'refused',
  at: Date,
): Step | undefined => {
  const isFirst = reverses === 'authorization_advice'
  if (isFirst && outcome === 'refused') {
    // The goods may be with the holder: somebody has to know.
    const fields = { responseCode, reason: 'advice_refused', needsAttention: true }
    return { event: 'stand_in_refused', fields }
  }
  if (isFirst && before.operation !== 'advising_authorization') return undefined
  return outcome === 'confirmed'
    ? { event: 'advice_confirmed', fields: confirmationOf(before, at) }
    : { event: 'advice_refused', fields: refusalOf(before, responseCode) }
}

/**
 * Updates the card transaction when its advice ends, in the same database transaction. Without an answer in time it
 * stays as it is, and needs attention.
 */
export const endAdvice = async (
  tx: Queryable,
  advice: EndedReversal,
  outcome: ReversalOutcome,
  at: Date,
  emission: EmitWithin | undefined,
): Promise<void> => {
  const { transactionId, responseCode = '', messages } = advice
  const before = await lockTransaction(tx, transactionId)
  // A void may have followed what the network has heard of now.
  const isVoided = before?.operation === 'reversing_void'
  const isVoidedInPart =
    before?.operation === 'reversing_partial_void' && advice.reverses === 'authorization_advice'
  if (before === undefined) return
  if (!(isVoided || isVoidedInPart || isAdvising(before.operation))) return
  const advises = advice.reverses.replace('_advice', '')
  const data = { advises, response_code: responseCode }
  const ended = { type: `advice_${outcome}`, data, messages }
  const change = (after: CardTransaction, events: readonly NewCardEvent[]) =>
    changeTransactions(tx, [{ before, after, events }], emission)
  if (isVoided || (isVoidedInPart && outcome === 'confirmed')) {
    await change({ ...before, updatedAt: at }, [ended])
    return
  }
  if (outcome === 'expired') {
    await change({ ...before, needsAttention: true, updatedAt: at }, [ended])
    return
  }
  const step = stepOf(before, advice, outcome, at)
  if (step === undefined) {
    await change({ ...before, updatedAt: at }, [ended])
    return
  }
  if (transition(before, step.event) === undefined) return
  const needsAttention = await stillNeedsAttention(tx, before)
  if (step.event === 'stand_in_refused') await dropAdvices(tx, transactionId)
  const after = changed(before, step.event, { needsAttention, ...step.fields }, at)
  const asks = step.fields.needsAttention === true ? attention : {}
  await change(after, [...countedBy(before, outcome), { ...ended, data: { ...data, ...asks } }])
  // The network may have done the first sending, and refuse the repeat because nothing more is left to take.
  if (outcome === 'refused' && advice.attempts > 0) await takeBackFirst(tx, after, advice, emission)
}

/** It tells a late answer, and a booking of the network, that the refund counts. */
const countedBy = (
  { operation, operationStan: stan = '', operationCents = 0n }: CardTransaction,
  outcome: ReversalOutcome,
): readonly NewCardEvent[] =>
  operation === 'advising_refund' && outcome === 'confirmed'
    ? [{ type: 'refunded', data: { stan, amount: Number(operationCents) } }]
    : []

const doubts: Readonly<Record<AdvisedOperation, 'authorization' | 'capture' | 'refund'>> = {
  authorization_advice: 'authorization',
  capture_advice: 'capture',
  partial_capture_advice: 'capture',
  refund_advice: 'refund',
}

/** Has what an earlier sending of a refused advice may have done reversed; a network that knows nothing of it says so. */
const takeBackFirst = async (
  tx: Queryable,
  before: CardTransaction,
  { reverses, stan, transmission, amountCents }: EndedReversal,
  emission: EmitWithin | undefined,
): Promise<void> => {
  if (!isAdviceOf(reverses)) return
  const doubt = doubts[reverses]
  const event = `late_${doubt}` as const
  if (transition(before, event) === undefined) return
  const isFirst = doubt === 'authorization'
  const numbers = {
    operationStan: stan,
    operationTransmission: transmission,
    operationCents: amountCents,
  }
  const after = changed(before, event, isFirst ? {} : numbers, before.updatedAt)
  const events = [{ type: event, data: { stan: stan ?? null, ...uncertain } }]
  await changeTransactions(tx, [{ before, after, events }], emission)
  const reversal = reversalOf(after, doubt)
  await insertReversals(tx, [isFirst ? reversal : { ...reversal, originalMti: '0220' }])
}
