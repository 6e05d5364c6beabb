import { type AuthorizationRequest, authorize } from './authorize.ts'
import type { Answered, Caller, CardContext } from './context.ts'
import { capture, find, voidTransaction } from './operations.ts'
import {
  type CardEventRow,
  type CardTransaction,
  eventsOf,
  listTransactions,
  type TransactionFilter,
} from './store.ts'

/** Of one transaction; a dozen is many. */
const EVENTS_MAX = 1_000

export type CardService = {
  readonly authorize: (request: AuthorizationRequest, caller: Caller) => Promise<Answered>
  readonly capture: (
    id: string,
    amountCents: bigint | undefined,
    caller: Caller,
  ) => Promise<Answered>
  readonly void: (id: string, caller: Caller) => Promise<Answered>
  readonly find: (id: string) => Promise<CardTransaction>
  readonly list: (filter: TransactionFilter) => Promise<readonly CardTransaction[]>
  readonly events: (id: string) => Promise<readonly CardEventRow[]>
}

export const createCardService = (context: CardContext): CardService => ({
  authorize: (request, caller) => authorize(context, request, caller),
  capture: (id, amountCents, caller) => capture(context, id, amountCents, caller),
  void: (id, caller) => voidTransaction(context, id, caller),
  find: (id) => find(context, id),
  list: (filter) => listTransactions(context.sql, filter),
  events: async (id) => eventsOf(context.sql, (await find(context, id)).id, EVENTS_MAX),
})
