import { isTransientDatabaseError } from '#src/platform/database/index.ts'
import {
  type Activity,
  type Answered,
  ApiError,
  type Caller,
  httpErrors,
  readActivity,
} from '#src/platform/http/index.ts'
import { listReconciliations, movementsOf } from '../reconciliation/index.ts'
import {
  type ReversalFilter,
  type WaitingReversal,
  waitingReversals,
} from '../reversals/waiting.ts'
import { type CardHistory, historyOf } from '../transactions/card-events.ts'
import {
  type CardTransaction,
  cardActivity,
  listTransactions,
  type TransactionFilter,
} from '../transactions/store.ts'
import { unmatchedAdvices } from '../transactions/unmatched.ts'
import {
  type AuthorizationRequest,
  authorize,
  type VerificationRequest,
  verify,
} from './authorize.ts'
import { resolveAdvice, resolveDay } from './by-hand.ts'
import type { CardContext } from './context.ts'
import {
  type CaptureRequest,
  capture,
  find,
  increment,
  refund,
  voidTransaction,
} from './operations.ts'
import { type ResolutionRequest, resolve } from './resolve.ts'
import { type CardRights, requireAllMerchants, requireMerchant } from './rights.ts'

/** Events of one transaction; few have a dozen. */
const eventsMax = 1_000

export type CardService = {
  readonly authorize: (request: AuthorizationRequest, caller: Caller) => Promise<Answered>
  readonly verify: (request: VerificationRequest, caller: Caller) => Promise<Answered>
  readonly increment: (id: string, amountCents: bigint, caller: Caller) => Promise<Answered>
  readonly capture: (id: string, request: CaptureRequest, caller: Caller) => Promise<Answered>
  readonly void: (id: string, amountCents: bigint | undefined, caller: Caller) => Promise<Answered>
  readonly refund: (
    id: string,
    amountCents: bigint | undefined,
    caller: Caller,
  ) => Promise<Answered>
  readonly resolve: (id: string, request: ResolutionRequest, caller: Caller) => Promise<Answered>
  readonly find: (id: string, by: CardRights) => Promise<CardTransaction>
  readonly list: (
    filter: Omit<TransactionFilter, 'account' | 'merchantIds'>,
    by: CardRights,
  ) => Promise<readonly CardTransaction[]>
  readonly reversals: (
    page: Pick<ReversalFilter, 'isAdvice' | 'afterId' | 'limit'>,
    by: CardRights,
  ) => Promise<readonly WaitingReversal[]>
  readonly unmatched: (
    afterId: string | undefined,
    limit: number,
    by: CardRights,
  ) => ReturnType<typeof unmatchedAdvices>
  readonly resolveAdvice: (id: string, reason: string, caller: Caller) => Promise<Answered>
  readonly reconciliations: (
    filter: Parameters<typeof listReconciliations>[1],
    by: CardRights,
  ) => ReturnType<typeof listReconciliations>
  readonly movements: (
    reconciliationId: string,
    afterId: string | undefined,
    limit: number,
    by: CardRights,
  ) => ReturnType<typeof movementsOf>
  readonly resolveDay: (id: string, reason: string, caller: Caller) => Promise<Answered>
  readonly activity: (minutes: number, by: CardRights) => Promise<Activity>
  readonly events: (id: string, by: CardRights) => Promise<CardHistory>
}

/** If the database fails while no message is out, the caller may repeat the request. */
const reached = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (cause) {
    if (!isTransientDatabaseError(cause)) throw cause
    throw new ApiError(httpErrors.unavailable, 'The database cannot be reached.', {
      details: { field: null, value: null, sent: false },
      cause,
    })
  }
}

/** Does what keys for some merchants may not. */
const ofAll = async <T>(by: CardRights, work: () => Promise<T>): Promise<T> => {
  requireAllMerchants(by)
  return reached(work())
}

/** The part of the transactions that a caller may see. */
const seenBy = ({ owner: account, restrictions: { merchantIds } }: CardRights) => ({
  account,
  merchantIds: merchantIds && [...merchantIds],
})

export const createCardService = (context: CardContext): CardService => ({
  authorize: (request, caller) => reached(authorize(context, request, caller)),
  verify: (request, caller) => reached(verify(context, request, caller)),
  increment: (id, amountCents, caller) => reached(increment(context, id, amountCents, caller)),
  capture: (id, request, caller) => reached(capture(context, id, request, caller)),
  void: (id, amountCents, caller) => reached(voidTransaction(context, id, amountCents, caller)),
  refund: (id, amountCents, caller) => reached(refund(context, id, amountCents, caller)),
  resolve: (id, request, caller) => reached(resolve(context, id, request, caller)),
  find: (id, by) => reached(find(context, id, by)),
  reversals: (page, by) => reached(waitingReversals(context.sql, { ...page, ...seenBy(by) })),
  unmatched: (afterId, limit, by) => ofAll(by, () => unmatchedAdvices(context.sql, afterId, limit)),
  resolveAdvice: (id, reason, caller) =>
    ofAll(caller, () => resolveAdvice(context, id, reason, caller)),
  reconciliations: (filter, by) => ofAll(by, () => listReconciliations(context.sql, filter)),
  movements: (id, afterId, limit, by) =>
    ofAll(by, () => movementsOf(context.sql, id, afterId, limit)),
  resolveDay: (id, reason, caller) => ofAll(caller, () => resolveDay(context, id, reason, caller)),
  activity: (minutes, by) =>
    reached(readActivity(context.sql, minutes, cardActivity(context.sql, seenBy(by)))),
  list: async (filter, by) => {
    if (filter.merchantId !== undefined) requireMerchant(by, filter.merchantId)
    return reached(listTransactions(context.sql, { ...filter, ...seenBy(by) }))
  },
  events: async (id, by) => {
    const { id: found } = await reached(find(context, id, by))
    return reached(historyOf(context.sql, found, eventsMax))
  },
})
