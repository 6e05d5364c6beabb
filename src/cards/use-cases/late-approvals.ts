import type { EmitWithin } from '#src/events/index.ts'
import type { Client, Transaction } from '#src/platform/database/index.ts'
import { insertReversals, type NewReversal, renewReversal } from '../reversals/index.ts'
import {
  attention,
  isCounted,
  isKnownApproved,
  refusedVoidUnder,
  sentUnder,
  uncertain,
} from '../transactions/card-events.ts'
import { changed } from '../transactions/changes.ts'
import { type CardEvent, isAdvising, isStarted, transition } from '../transactions/domain.ts'
import { type CardTransaction, lockTransaction } from '../transactions/store.ts'
import { changeTransactions } from '../transactions/writes.ts'
import { reversalOf } from './begun-reversals.ts'

/** An answer that may mean money on hold, to a request that no longer waits. */
export type LateApproval = {
  /** The id of the transaction. */
  readonly id: string
  /** A payment is the authorization, which networks have as 0100 or 0200, or what follows it: its STAN tells which. */
  readonly answers: 'payment' | 'void'
  readonly stan: string
  /** True: it is not certain that anything was approved, or that it was this. */
  readonly isUncertain?: boolean | undefined
}

/** `undecided`: what became of the request itself is not written yet. */
export type Result = 'reversed' | 'taken' | 'undecided'

type Deps = {
  readonly emission: EmitWithin | undefined
  readonly now: () => Date
}

/**
 * Has a late approval reversed, unless its transaction has taken it for one. The status stays as callers were told;
 * the operation shows the reversal.
 */
export const takeBack = (deps: Deps & { readonly sql: Client }, approval: LateApproval) =>
  deps.sql.begin(async (tx): Promise<Result> => {
    const row = await lockTransaction(tx, approval.id)
    return row === undefined ? 'taken' : takeBackWithin(deps, tx, row, approval)
  })

/** The same of a transaction that `tx` has locked. */
export const takeBackWithin = async (
  deps: Deps,
  tx: Transaction,
  row: CardTransaction,
  approval: Omit<LateApproval, 'id'>,
): Promise<Result> => {
  if (approval.answers === 'void') return goOnWithVoid(deps, tx, row, approval.stan)
  const found = await (row.stan === approval.stan
    ? ofAuthorization(row)
    : ofFollowing(tx, row, approval))
  if (typeof found === 'string') return found
  const { event, reversal, fields } = found
  const { stan, isUncertain = false } = approval
  const isOpened = transition(row, event) !== undefined
  // Its reversal may be under way already: what the network says to that is judged by what it has approved.
  if (isOpened || !(isUncertain || (await isKnownApproved(tx, row.id, event, stan)))) {
    const after = isOpened ? changed(row, event, fields, deps.now()) : row
    const data = isUncertain ? { stan, ...uncertain } : { stan }
    await changeTransactions(
      tx,
      [{ before: row, after, events: [{ type: event, data }] }],
      deps.emission,
    )
  }
  await renewReversal(tx, reversal)
  return 'reversed'
}

/** A void that was refused and then done goes on as one whose answer was lost. */
const goOnWithVoid = async (
  { emission, now }: Deps,
  tx: Transaction,
  row: CardTransaction,
  stan: string,
): Promise<Result> => {
  const refused = row.status === 'voided' ? undefined : await refusedVoidUnder(tx, row.id, stan)
  if (refused === undefined) {
    return isStarted(row.operation) && row.operationStan === stan ? 'undecided' : 'taken'
  }
  // A void that is repeated takes back all by itself, or asks for a person.
  if (isStarted(row.operation) || row.operation === 'reversing_void') return 'undecided'
  const { operation, transmission, amountCents, isOvertaken } = refused
  const event = `late_${operation}` as const
  const events = [{ type: event, data: { stan } }]
  if (isOvertaken || transition(row, event) === undefined) {
    // It was captured, raised or taken back in part meanwhile, or is just now, which may last for longer than late
    // answers are looked at: a person has to ask the network.
    const after = { ...row, needsAttention: true, updatedAt: now() }
    const asking = [{ type: event, data: { stan, ...attention } }]
    await changeTransactions(tx, [{ before: row, after, events: asking }], emission)
    return 'taken'
  }
  const fields = {
    operationStan: stan,
    operationTransmission: transmission,
    operationCents: amountCents ?? undefined,
  }
  const after = changed(row, event, fields, now())
  await changeTransactions(tx, [{ before: row, after, events }], emission)
  await insertReversals(tx, [reversalOf(after, operation)])
  return 'reversed'
}

type Found = {
  readonly event: Extract<CardEvent, `late_${string}`>
  readonly reversal: NewReversal
  readonly fields: Partial<
    Pick<CardTransaction, 'operationStan' | 'operationTransmission' | 'operationCents'>
  >
}

const ofAuthorization = (row: CardTransaction): Found | Result => {
  if (row.status === 'pending' && row.operation === undefined) return 'undecided'
  // No money is on hold.
  if (row.amountCents === 0n) return 'taken'
  // The status tells whether its code was taken for an approval: what a code means may depend on what was asked for.
  if (row.status !== 'declined' && row.responseCode !== undefined) return 'taken'
  const reversal = reversalOf(row, 'authorization')
  return { event: 'late_authorization', reversal, fields: {} }
}

/** A capture, refund or increment: the STAN tells which. One that was never sent is another transaction's. */
const ofFollowing = async (
  tx: Transaction,
  row: CardTransaction,
  { stan }: Pick<LateApproval, 'stan'>,
): Promise<Found | Result> => {
  const isTaken = row.captures?.some((one) => one.stan === stan) ?? false
  if (isTaken || row.captureStan === stan) return 'taken'
  if (isStarted(row.operation) && row.operationStan === stan) return 'undecided'
  // The repeat of the advice gets the same answer.
  if (isAdvising(row.operation) && row.operationStan === stan) return 'taken'
  const sent = await sentUnder(tx, row.id, stan)
  if (sent === undefined || (await isCounted(tx, row.id, stan))) return 'taken'
  const fields = {
    operationStan: stan,
    operationTransmission: sent.transmission,
    operationCents: sent.amountCents,
  }
  const operation = sent.operation === 'partial_capture' ? 'capture' : sent.operation
  const reversal = reversalOf({ ...row, ...fields }, operation)
  const named = sent.isAdvised ? ({ ...reversal, originalMti: '0220' } as const) : reversal
  return { event: `late_${operation}`, reversal: named, fields }
}
