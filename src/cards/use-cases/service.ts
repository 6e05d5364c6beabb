import { isTransientDatabaseError } from '#src/platform/database/index.ts'
import { ApiError, type Caller, httpErrors, readActivity } from '#src/platform/http/index.ts'
import { listReconciliations, movementsOf } from '../reconciliation/index.ts'
import { type ReversalFilter, waitingReversals } from '../reversals/waiting.ts'
import { historyOf } from '../transactions/card-events.ts'
import { cardActivity, listTransactions, type TransactionFilter } from '../transactions/store.ts'
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

export const createCardService = (context: CardContext) => ({
  authorize: (request: AuthorizationRequest, caller: Caller) =>
    reached(authorize(context, request, caller)),
  verify: (request: VerificationRequest, caller: Caller) =>
    reached(verify(context, request, caller)),
  increment: (id: string, amountCents: bigint, caller: Caller) =>
    reached(increment(context, id, amountCents, caller)),
  capture: (id: string, request: CaptureRequest, caller: Caller) =>
    reached(capture(context, id, request, caller)),
  void: (id: string, amountCents: bigint | undefined, caller: Caller) =>
    reached(voidTransaction(context, id, amountCents, caller)),
  refund: (id: string, amountCents: bigint | undefined, caller: Caller) =>
    reached(refund(context, id, amountCents, caller)),
  resolve: (id: string, request: ResolutionRequest, caller: Caller) =>
    reached(resolve(context, id, request, caller)),
  find: (id: string, by: CardRights) => reached(find(context, id, by)),
  reversals: (page: Pick<ReversalFilter, 'isAdvice' | 'afterId' | 'limit'>, by: CardRights) =>
    reached(waitingReversals(context.sql, { ...page, ...seenBy(by) })),
  unmatched: (afterId: string | undefined, limit: number, by: CardRights) =>
    ofAll(by, () => unmatchedAdvices(context.sql, afterId, limit)),
  resolveAdvice: (id: string, reason: string, caller: Caller) =>
    ofAll(caller, () => resolveAdvice(context, id, reason, caller)),
  reconciliations: (filter: Parameters<typeof listReconciliations>[1], by: CardRights) =>
    ofAll(by, () => listReconciliations(context.sql, filter)),
  movements: (id: string, afterId: string | undefined, limit: number, by: CardRights) =>
    ofAll(by, () => movementsOf(context.sql, id, afterId, limit)),
  resolveDay: (id: string, reason: string, caller: Caller) =>
    ofAll(caller, () => resolveDay(context, id, reason, caller)),
  activity: (minutes: number, by: CardRights) =>
    reached(readActivity(context.sql, minutes, cardActivity(context.sql, seenBy(by)))),
  list: async (filter: Omit<TransactionFilter, 'account' | 'merchantIds'>, by: CardRights) => {
    if (filter.merchantId !== undefined) requireMerchant(by, filter.merchantId)
    return reached(listTransactions(context.sql, { ...filter, ...seenBy(by) }))
  },
  events: async (id: string, afterId: string | undefined, limit: number, by: CardRights) => {
    const { id: found } = await reached(find(context, id, by))
    return reached(historyOf(context.sql, found, afterId, limit))
  },
})

export type CardService = ReturnType<typeof createCardService>
