/** The money of refund requests: a pacs.004 that goes back by one that is asked of us, or comes by one of ours. */
import type { Emit } from '#src/events/index.ts'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import {
  type Actor,
  ApiError,
  httpErrors,
  invalid,
  refusedValue,
} from '#src/platform/http/index.ts'
import type { Readiness } from '../disputes/advance.ts'
import { changeDispute, lockDispute, touchDispute } from '../disputes/store.ts'
import { dictErrors } from '../errors.ts'
import { type Analysis, type Refund, type RefundWanted, returnReasons } from './domain.ts'
import { returnedEvent } from './view.ts'

/** A return of a payment. */
export type PaymentReturn = {
  /** RtrId. */
  readonly id: string
  readonly amountCents: bigint
  readonly outcome: 'pending' | 'settled' | 'rejected' | 'failed' | 'unknown'
  readonly refusal: string | null
}

/** Whoever sends payments. */
export type Returns = {
  /** @returns RtrId. @throws ApiError if what is left of the payment does not allow it */
  readonly refundWithin: (
    tx: Queryable,
    endToEndId: string,
    request: {
      readonly amountCents: number
      readonly reason: string
      readonly additionalInformation: string | undefined
      readonly remittanceInformation: string | undefined
    },
    actor: Actor,
  ) => Promise<string>
  /** All of a payment, made by whom it was paid to. */
  readonly returnsOf: (sql: Queryable, endToEndId: string) => Promise<readonly PaymentReturn[]>
}

/**
 * Has the money go back, in the transaction that stores the analysis. A return that was made for the request before
 * and is not rejected is the one that answers it: no second one is made.
 *
 * @throws ApiError
 */
export const giveBack = async (
  tx: Queryable,
  refund: Refund,
  analysis: Analysis,
  actor: Actor,
  returns: Returns,
): Promise<Refund> => {
  const cents = checkedCents(refund, analysis)
  if (refund.returnId !== null) return sameReturn(tx, refund, cents, returns)
  if (cents === undefined) return refund
  const reason = returnReasons[refund.reason]
  if (reason === undefined) {
    const message = `is asked for as ${refund.reason}, which no return of the payment answers`
    throw refusedValue([{ pointer: '/result', rule: 'reason', message }])
  }
  const returnId = await returns
    .refundWithin(
      tx,
      refund.transactionId,
      {
        amountCents: Number(cents),
        reason,
        additionalInformation: undefined,
        remittanceInformation: undefined,
      },
      actor,
    )
    .catch((error: unknown) => {
      throw notReturned(error)
    })
  return { ...refund, returnId }
}

/** Cents to give back; undefined: nothing. @throws ApiError */
const checkedCents = (
  { content }: Refund,
  { result, amountCents }: Analysis,
): bigint | undefined => {
  const asked = BigInt(content.amountCents)
  if (result === 'REJECTED') return undefined
  if (result === 'TOTALLY_ACCEPTED') return asked
  const part = BigInt(amountCents ?? '0')
  if (part > 0n && part < asked) return part
  const message = 'must be less than what is asked for'
  throw invalid([{ pointer: '/amount', rule: 'maximum', message }])
}

/** Money that went back went back: another result cannot take it. @throws ApiError */
const sameReturn = async (
  tx: Queryable,
  refund: Refund,
  cents: bigint | undefined,
  { returnsOf }: Returns,
): Promise<Refund> => {
  const made = await returnOf(tx, refund, { returnsOf })
  if (made === undefined || made.amountCents === cents) return refund
  throw new ApiError(
    dictErrors.dict_return_impossible,
    `The return ${refund.returnId} was made for this request, and is ${made.outcome}.`,
    { details: { reason: 'return_made' } },
  )
}

/** Demands that what is answered again gives back what the first answer gave. @throws ApiError */
export const demandReturn = async (
  tx: Queryable,
  refund: Refund,
  analysis: Analysis,
  returns: Returns,
): Promise<void> => {
  if (refund.returnId === null) return
  await sameReturn(tx, refund, checkedCents(refund, analysis), returns)
}

/** The return that answers it, as far as we know of one. */
export const returnOf = async (
  sql: Queryable,
  { transactionId, returnId }: Refund,
  { returnsOf }: Pick<Returns, 'returnsOf'>,
): Promise<PaymentReturn | undefined> =>
  returnId === null
    ? undefined
    : (await returnsOf(sql, transactionId)).find(({ id }) => id === returnId)

/** What the sender of payments refuses is not the request's own fault. */
const notReturned = (error: unknown): unknown => {
  if (!(error instanceof ApiError) || error.definition.status >= 500) return error
  const isUnknown = error.definition.code === httpErrors.not_found.code
  return new ApiError(
    dictErrors.dict_return_impossible,
    isUnknown ? 'This institution has received no such payment.' : error.message,
    { details: { ...error.details, reason: isUnknown ? 'no_payment' : error.definition.code } },
  )
}

/** Why there is no return, where nobody says more. */
const rejected = 'RJCT'

/** The directory is told that it is accepted once the return is settled, not before, and never without one. */
export const readinessOn =
  (sql: Client, returns: Returns) =>
  async (refund: Refund, wanted: RefundWanted): Promise<Readiness> => {
    if (wanted.act !== 'close') return 'ready'
    if (refund.returnId === null) {
      return wanted.analysis.result === 'REJECTED' ? 'ready' : { refusal: rejected }
    }
    const made = await returnOf(sql, refund, returns)
    if (made?.outcome === 'settled') return 'ready'
    if (made?.outcome !== 'rejected') return 'later'
    // Its sum is free again, and somebody decides again.
    return { refusal: made.refusal ?? rejected, returnId: null }
  }

/** Looks whether the return that answers a request of ours has come, and tells of it once. */
export const matchReturn = async (
  sql: Client,
  id: string,
  returns: Returns,
  { emit, now }: { readonly emit: Emit; readonly now: () => Date },
): Promise<void> => {
  await sql.begin(async (tx) => {
    const refund = await lockDispute<Refund>(tx, 'refund', id)
    if (refund === undefined || refund.returnedAt !== null || refund.role !== 'asking') return
    const come = await returnOf(tx, refund, returns)
    if (come?.outcome !== 'settled') return touchDispute(tx, id)
    const after: Refund = { ...refund, returnedAt: now() }
    await changeDispute(tx, after)
    await emit(tx, [returnedEvent(after)])
  })
}
