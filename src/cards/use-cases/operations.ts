import type { Queryable } from '#src/platform/database/index.ts'
import {
  ApiError,
  type AuditEntry,
  actorOf,
  type Caller,
  claimKey,
} from '#src/platform/http/index.ts'
import { currentTraceparent } from '#src/platform/observe/index.ts'
import { cardErrors } from '../errors.ts'
import type { Network } from '../networks/index.ts'
import { changed } from '../transactions/changes.ts'
import { transition } from '../transactions/domain.ts'
import {
  type CardTransaction,
  changeTransactions,
  type NewCardEvent,
  transactionById,
} from '../transactions/store.ts'
import { type Answer, answerOf, refusalOf } from './answers.ts'
import { captureFrom, readyCapture } from './capture.ts'
import {
  type Answered,
  type CardContext,
  fresh,
  notSentAnswer,
  replayOf,
  resolveCard,
  reversalOf,
  unknownAnswer,
  unwritten,
} from './context.ts'
import { exchange, type Verdict } from './exchange.ts'
import { voidMessage } from './messages.ts'

/** @throws ApiError `transaction_not_found` */
export const find = async ({ sql }: { readonly sql: Queryable }, id: string) => {
  const transaction = await transactionById(sql, id)
  if (transaction !== undefined) return transaction
  throw new ApiError(cardErrors.transaction_not_found, 'No such transaction.', {
    details: { field: 'id', value: null },
  })
}

/**
 * Captures the amount, or the whole authorized one. Of any number that are asked for at the same time one begins.
 *
 * @throws ApiError `transaction_not_found`, `invalid_state`, `amount_exceeds_authorized`, …
 */
export const capture = async (
  context: CardContext,
  id: string,
  amountCents: bigint | undefined,
  caller: Caller,
): Promise<Answered> => {
  const replay = await replayOf(context.sql, caller.idempotencyKey)
  if (replay !== undefined) return replay
  const before = underClaim(await find(context, id), caller)
  if (transition(before, 'capture_started') === undefined) throw wrongState(before, 'captured')
  const amount = amountCents ?? before.amountCents
  if (amount > before.amountCents) {
    throw new ApiError(
      cardErrors.amount_exceeds_authorized,
      'The amount is larger than the authorized one.',
      { details: { field: 'amount', value: Number(amount) } },
    )
  }
  const network = networkOf(context, before)
  const ready = await readyCapture(context, network, before, amount)
  const begun = await begin(context, before, ready, caller, 'capture')
  return begun ?? captureFrom(context, network, ready, 200)
}

/**
 * Takes the full amount back.
 *
 * @throws ApiError `transaction_not_found`, `invalid_state`, …
 */
export const voidTransaction = async (
  context: CardContext,
  id: string,
  caller: Caller,
): Promise<Answered> => {
  const { vault, stans, now } = context
  const replay = await replayOf(context.sql, caller.idempotencyKey)
  if (replay !== undefined) return replay
  const before = underClaim(await find(context, id), caller)
  if (transition(before, 'void_started') === undefined) throw wrongState(before, 'voided')
  const network = networkOf(context, before)
  const pan = await resolveCard(vault, before.cardToken)
  try {
    const numbers = await stans.next(network)
    const fields = {
      operationStan: numbers.stan,
      operationTransmission: numbers.transmission,
      operationCents: before.amountCents,
    }
    const after = changed(before, 'void_started', fields, now())
    const events = [{ type: 'void_sent', data: { stan: numbers.stan } }]
    const begun = await begin(context, before, { after, events, pan }, caller, 'void')
    if (begun !== undefined) return begun
    let verdict: Verdict
    try {
      verdict = await exchange(network, voidMessage(pan, after, numbers))
    } catch (err) {
      context.logger.error({ err, transaction_id: id }, 'a void cannot be written')
      verdict = { kind: 'not_sent', why: 'message_invalid' }
    }
    context.count('void', network.name, verdict.kind)
    try {
      return fresh(await settleVoid(context, after, verdict))
    } catch (cause) {
      throw unwritten(id, cause)
    }
  } finally {
    pan.fill(0)
  }
}

/** The transaction, whose next change answers the key of this caller and belongs to the caller's trace. */
export const underClaim = (
  transaction: CardTransaction,
  { idempotencyKey }: Caller,
): CardTransaction => ({
  ...transaction,
  claimOwner: idempotencyKey?.owner,
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

const wrongState = ({ status, operation }: CardTransaction, aim: string): ApiError =>
  new ApiError(
    cardErrors.invalid_state,
    operation === undefined
      ? `The transaction is ${status} and cannot be ${aim}.`
      : `The transaction is ${status}, with an operation under way, and cannot be ${aim} now.`,
    { details: { field: 'status', value: status, operation: operation ?? null } },
  )

/** Commits the beginning, with the key. @returns an earlier answer of the key, or undefined when it has begun */
const begin = async (
  { sql, writer }: CardContext,
  before: CardTransaction,
  started: {
    readonly after: CardTransaction
    readonly events: readonly NewCardEvent[]
    readonly pan: Uint8Array
  },
  caller: Caller,
  operation: 'capture' | 'void',
): Promise<Answered | undefined> => {
  const { after, events, pan } = started
  const claim = caller.idempotencyKey
  const aim = operation === 'capture' ? 'captured' : 'voided'
  const audit: AuditEntry = {
    ...{ actor: actorOf(caller), object: before.id, outcome: 'started' },
    action: `cards.${operation}`,
  }
  const change = { before, after, events, audit }
  let hasBegun = false
  try {
    const replay = await (claim === undefined
      ? writer.change(change).then((isOurs) => {
          hasBegun = isOurs
          return undefined
        })
      : sql.begin(async (tx): Promise<Answered | undefined> => {
          const outcome = await claimKey(tx, claim)
          if (outcome.kind === 'replay') return { ...outcome.response, isReplay: true }
          const [isOurs] = await changeTransactions(tx, [change])
          if (isOurs !== true) throw wrongState(await nowOf(tx, before), aim)
          hasBegun = true
          return undefined
        }))
    if (replay === undefined && !hasBegun) throw wrongState(await nowOf(sql, before), aim)
    return replay
  } catch (error) {
    hasBegun = false
    throw error
  } finally {
    if (!hasBegun) pan.fill(0)
  }
}

const nowOf = async (
  sql: Parameters<typeof transactionById>[0],
  before: CardTransaction,
): Promise<CardTransaction> => (await transactionById(sql, before.id)) ?? before

const settleVoid = async (
  { writer, now }: CardContext,
  before: CardTransaction,
  verdict: Verdict,
): Promise<Answer> => {
  const at = now()
  const lost = unknownAnswer(before.id, { kind: 'unknown', why: 'timed_out' })
  switch (verdict.kind) {
    case 'approved': {
      const after = changed(before, 'void_approved', { voidedAt: at, voidError: undefined }, at)
      const answer = answerOf(200, after)
      const events = [{ type: 'voided', data: { response_code: verdict.responseCode } }]
      return (await writer.change({ before, after, events, answer })) ? answer : lost
    }
    case 'declined': {
      const { responseCode } = verdict
      const fields = { voidError: `declined_${responseCode}` }
      const after = changed(before, 'void_refused', fields, at)
      const answer = refusalOf(after, responseCode)
      const events = [{ type: 'void_declined', data: { response_code: responseCode } }]
      return (await writer.change({ before, after, events, answer })) ? answer : lost
    }
    case 'not_sent': {
      const after = changed(before, 'void_refused', { voidError: 'not_sent' }, at)
      const events = [{ type: 'void_not_sent', data: { reason: verdict.why } }]
      const isOurs = await writer.change({ before, after, events, answer: 'free' })
      return isOurs ? notSentAnswer(before.id, verdict.why) : lost
    }
    case 'unknown': {
      const after = changed(before, 'void_unknown', { voidError: verdict.why }, at)
      const answer = unknownAnswer(before.id, verdict)
      const data = { reason: verdict.why, field: verdict.field ?? null }
      const events = [{ type: 'void_unknown', data }]
      await writer.reverse({ before, after, events, answer, reversal: reversalOf(after, 'void') })
      return answer
    }
  }
}
