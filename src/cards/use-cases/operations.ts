import type { Queryable } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  type AuditEntry,
  actorOf,
  type Caller,
  claimKey,
  orReplay,
} from '#src/platform/http/index.ts'
import { currentTraceparent } from '#src/platform/observe/index.ts'
import { cardErrors } from '../errors.ts'
import type { Network } from '../networks/index.ts'
import { insertReversals } from '../reversals/index.ts'
import {
  amountCentsMax,
  capturesMax,
  type StartedOperation,
  transition,
} from '../transactions/domain.ts'
import { type CardTransaction, lockTransaction, transactionById } from '../transactions/store.ts'
import { changeTransactions } from '../transactions/writes.ts'
import { answerOf } from './answers.ts'
import { isGoingOn } from './attention.ts'
import { reversalsBegun } from './begun-reversals.ts'
import { type CardContext, fresh } from './context.ts'
import { beforeFollowing, followsAdvice } from './going-on.ts'
import { notTaken, perform, prepare, type Ready } from './operation.ts'
import { stepOf } from './outcomes.ts'
import { type CardRights, requireOwn } from './rights.ts'

export type CaptureRequest = {
  /** Undefined: all that is left. */
  readonly amountCents: bigint | undefined
  readonly isFinal: boolean
}

/** @throws ApiError `transaction_not_found`, `restricted` */
export const find = async (
  { sql }: { readonly sql: Queryable },
  id: string,
  by: CardRights,
): Promise<CardTransaction> => requireOwn(await transactionById(sql, id), by)

/**
 * Captures the amount, or all that is left of the authorization.
 *
 * @param isFinal false: others may follow, unless it takes all that is left
 * @throws ApiError `transaction_not_found`, `invalid_state`, `amount_exceeds_authorized`, …
 */
export const capture = (
  context: CardContext,
  id: string,
  { amountCents, isFinal }: CaptureRequest,
  caller: Caller,
): Promise<Answered> =>
  operate(context, isFinal ? 'capture' : 'partial_capture', id, amountCents, caller)

/**
 * Raises the authorized amount by the given one.
 *
 * @throws ApiError `transaction_not_found`, `invalid_state`, `invalid_amount`, …
 */
export const increment = (
  context: CardContext,
  id: string,
  amountCents: bigint,
  caller: Caller,
): Promise<Answered> => operate(context, 'increment', id, amountCents, caller)

/**
 * Voids the amount of an authorization, or the whole of anything.
 *
 * @throws ApiError `transaction_not_found`, `invalid_state`, `amount_exceeds_authorized`, …
 */
export const voidTransaction = (
  context: CardContext,
  id: string,
  amountCents: bigint | undefined,
  caller: Caller,
): Promise<Answered> =>
  operate(context, amountCents === undefined ? 'void' : 'partial_void', id, amountCents, caller)

/**
 * Gives back the amount, or all that is captured and not yet given back.
 *
 * @throws ApiError `transaction_not_found`, `invalid_state`, `amount_exceeds_captured`, …
 */
export const refund = (
  context: CardContext,
  id: string,
  amountCents: bigint | undefined,
  caller: Caller,
): Promise<Answered> => operate(context, 'refund', id, amountCents, caller)

/** Only one begins of several concurrent operations on one transaction. */
const operate = async (
  context: CardContext,
  asked: Ready['operation'],
  id: string,
  amountCents: bigint | undefined,
  caller: Caller,
): Promise<Answered> => {
  // Another key of the account may have done it under this Idempotency-Key.
  if (caller.restrictions.merchantIds !== undefined) await find(context, id, caller)
  const begun = await orReplay(context.sql, caller.idempotencyKey, () =>
    start(context, asked, id, amountCents, caller),
  )
  if ('isReplay' in begun) return begun
  return fresh(await perform(context, begun.network, begun.ready, false))
}

type Begun = { readonly network: Network; readonly ready: Ready }

/** @returns the answer, if it is told behind an advice, or its key is answered already */
const start = async (
  context: CardContext,
  asked: Ready['operation'],
  id: string,
  amountCents: bigint | undefined,
  caller: Caller,
): Promise<Begun | Answered> => {
  const before = underClaim(await find(context, id, caller), caller)
  const operation = operationOf(before, asked, amountCents)
  const mayFollow = followsAdvice(context.networks.byName(before.network), operation, before)
  const isPossible = mayFollow || transition(before, `${operation}_started`) !== undefined
  // It would give back again what was given back already.
  const isGivenBack = operation === 'void' && before.refundedCents !== undefined
  if (!isPossible || isGivenBack) throw wrongState(before, operation)
  demandRoom(before, operation)
  const amount =
    operation === 'void' ? before.amountCents : (amountCents ?? wholeOf(before, operation))
  checkAmount(before, operation, amount)
  const network = networkOf(context, before)
  const message = messages[operation]
  // A capture that follows is told by an advice.
  const isToldSo = mayFollow && message === 'capture'
  if (!isToldSo && !network.content.has(message)) throw notTaken(operation)
  if (mayFollow) return follow(context, network, operation, before, amount, caller)
  const ready = await prepare(context, network, operation, before, amount)
  return (await begin(context, before, ready, caller)) ?? { network, ready }
}

/** The transaction, set up so that its next change answers this caller's key and belongs to the caller's trace. */
export const underClaim = (
  transaction: CardTransaction,
  { idempotencyKey }: Caller,
): CardTransaction => ({
  ...transaction,
  claimKey: idempotencyKey?.key,
  traceparent: currentTraceparent(),
})

const networkOf = ({ networks }: CardContext, { id, network }: CardTransaction): Network => {
  const found = networks.byName(network)
  if (found !== undefined) return found
  throw new ApiError(cardErrors.network_unavailable, 'Its card network is not configured here.', {
    details: { field: null, value: null, sent: false, transaction_id: id },
  })
}

const wholes: Readonly<Partial<Record<StartedOperation, StartedOperation>>> = {
  partial_capture: 'capture',
}

/** The part that is all of what is left is the whole. */
const operationOf = (
  before: CardTransaction,
  asked: StartedOperation,
  amountCents: bigint | undefined,
): StartedOperation => {
  if (asked === 'increment') return asked
  if (amountCents !== undefined && amountCents !== leftOf(before)) return asked
  if (asked !== 'partial_void') return wholes[asked] ?? asked
  return before.capturedCents === undefined ? 'void' : 'release'
}

/** The last capture that there can be must be the final one. */
const demandRoom = (before: CardTransaction, operation: StartedOperation): void => {
  const { captures = [], captureStan } = before
  if (operation !== 'partial_capture' || captureStan === undefined) return
  if (captures.length + 2 < capturesMax) return
  throw new ApiError(
    cardErrors.invalid_state,
    `An authorization is captured ${capturesMax} times at most, and the last one is final.`,
    { details: { field: 'final', value: false } },
  )
}

const messages = {
  increment: 'increment',
  capture: 'capture',
  partial_capture: 'capture',
  refund: 'refund',
  void: 'reversal',
  partial_void: 'partial_reversal',
  release: 'partial_reversal',
} as const

/** What captures and partial voids have left of the authorization. */
export const leftOf = ({
  amountCents,
  reversedCents = 0n,
  capturedCents = 0n,
}: CardTransaction): bigint => amountCents - reversedCents - capturedCents

/** What is captured, and not given back. */
const refundableOf = ({ capturedCents = 0n, refundedCents = 0n }: CardTransaction): bigint =>
  capturedCents - refundedCents

const wholeOf = (before: CardTransaction, operation: Ready['operation']): bigint =>
  operation === 'refund' ? refundableOf(before) : leftOf(before)

const checkAmount = (
  before: CardTransaction,
  operation: Ready['operation'],
  amount: bigint,
): void => {
  if (operation === 'void') return
  if (operation === 'increment') {
    if (before.amountCents + amount <= amountCentsMax) return
    throw new ApiError(
      cardErrors.invalid_amount,
      `The amount is together more than ${amountCentsMax}.`,
      { details: { field: 'amount', value: Number(amount) } },
    )
  }
  const whole = wholeOf(before, operation)
  if (whole === 0n) throw wrongState(before, operation)
  if (amount <= whole) return
  const details = { field: 'amount', value: Number(amount) }
  throw operation === 'refund'
    ? new ApiError(
        cardErrors.amount_exceeds_captured,
        'The amount is larger than what is captured and not yet given back.',
        { details },
      )
    : new ApiError(
        cardErrors.amount_exceeds_authorized,
        'The amount is larger than what is left of the authorization.',
        { details },
      )
}

const pastOf = {
  increment: 'incremented',
  capture: 'captured',
  partial_capture: 'captured',
  refund: 'refunded',
  void: 'voided',
  partial_void: 'voided in part',
  release: 'voided in part',
} as const

const wrongState = ({ status, operation }: CardTransaction, aim: Ready['operation']): ApiError =>
  new ApiError(
    cardErrors.invalid_state,
    operation === undefined
      ? `The transaction is ${status} and cannot be ${pastOf[aim]}.`
      : `The transaction is ${status}, with an operation under way, and cannot be ${pastOf[aim]} now.`,
    { details: { field: 'status', value: status, operation: operation ?? null } },
  )

/** What a caller asked for. */
const actions: Readonly<Record<StartedOperation, AuditEntry['action']>> = {
  capture: 'cards.capture',
  partial_capture: 'cards.capture',
  void: 'cards.void',
  partial_void: 'cards.void',
  release: 'cards.void',
  refund: 'cards.refund',
  increment: 'cards.increment',
}

/**
 * Stores the operation behind the advice that waits: the network hears of both in their order. If it then refuses an
 * authorization, a capture or partial void of that ends with it.
 *
 * @throws ApiError `invalid_state` if the authorization no longer waits
 */
const follow = async (
  { sql, stans, emission, now }: CardContext,
  network: Network,
  operation: StartedOperation,
  before: CardTransaction,
  amountCents: bigint,
  caller: Caller,
): Promise<Answered> => {
  // A reversal gets its numbers when it is sent.
  const numbers = messages[operation] === 'capture' ? await stans.next(network) : undefined
  const numbered = {
    operationStan: numbers?.stan,
    operationTransmission: numbers?.transmission,
    operationCents: operation === 'void' ? undefined : amountCents,
  }
  const at = now()
  const start = { ...beforeFollowing(before, operation, at), ...numbered }
  const { after, event } = stepOf(operation, start, { kind: 'advised' }, at)
  const sent = numbers && {
    type: `${operation}_sent`,
    data: { ...numbers, amount: Number(amountCents) },
  }
  const answer = answerOf(202, after)
  const audit = auditOf(before, operation, caller)
  const change = { before, after, events: [...(sent ? [sent] : []), event], answer, audit }
  return sql.begin(async (tx): Promise<Answered> => {
    const earlier = await claimKey(tx, caller.idempotencyKey)
    if (earlier !== undefined) return earlier
    // Its time may be over by now, which asks for a person.
    const held = (await lockTransaction(tx, before.id)) ?? before
    const mayFollow = followsAdvice(network, operation, held) && (await isGoingOn(tx, held))
    const [isOurs] = mayFollow ? await changeTransactions(tx, [change], emission) : []
    if (isOurs !== true) throw wrongState(held, operation)
    await insertReversals(tx, reversalsBegun(before, after, network.advices))
    return fresh(answer)
  })
}

export const auditOf = (
  { id }: CardTransaction,
  operation: StartedOperation,
  caller: Caller,
): AuditEntry => ({
  actor: actorOf(caller),
  object: id,
  outcome: 'started',
  action: actions[operation],
})

/** Commits the beginning, with the key. @returns an earlier answer of the key, or undefined if the operation began */
const begin = async (
  { sql, writer, emission }: CardContext,
  before: CardTransaction,
  { operation, after, events, pan }: Ready,
  caller: Caller,
): Promise<Answered | undefined> => {
  const key = caller.idempotencyKey
  const change = { before, after, events, audit: auditOf(before, operation, caller) }
  let hasBegun = false
  try {
    if (key === undefined) {
      if (!(await writer.change(change))) throw wrongState(await nowOf(sql, before), operation)
      hasBegun = true
      return undefined
    }
    const replay = await sql.begin(async (tx): Promise<Answered | undefined> => {
      const earlier = await claimKey(tx, key)
      if (earlier !== undefined) return earlier
      const [isOurs] = await changeTransactions(tx, [change], emission)
      if (isOurs !== true) throw wrongState(await nowOf(tx, before), operation)
      return undefined
    })
    hasBegun = replay === undefined
    return replay
  } finally {
    if (!hasBegun) pan.fill(0)
  }
}

const nowOf = async (
  sql: Parameters<typeof transactionById>[0],
  before: CardTransaction,
): Promise<CardTransaction> => (await transactionById(sql, before.id)) ?? before
