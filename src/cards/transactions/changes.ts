import { type CardEvent, type CardState, transition } from './domain.ts'
import type { CardTransaction } from './store.ts'

export type Fields = Partial<Omit<CardTransaction, 'id' | 'status' | 'operation'>>

/**
 * The transaction after the event, with the fields that the event brings.
 *
 * @throws Error if the event is not possible, which the caller must have checked
 */
export const changed = (
  before: CardTransaction,
  event: CardEvent,
  fields: Fields,
  at: Date,
): CardTransaction => {
  const next = transition(before, event)
  if (next === undefined) {
    throw new Error(`${event} is not possible in ${before.status} ${before.operation ?? ''}`)
  }
  return { ...before, ...next, ...operationOf(next, before), ...fields, updatedAt: at }
}

/** Keeps the operation's message as long as there is an operation. */
const operationOf = ({ operation }: CardState, before: CardTransaction) => ({
  operationStan: operation === undefined ? undefined : before.operationStan,
  operationTransmission: operation === undefined ? undefined : before.operationTransmission,
  operationCents: operation === undefined ? undefined : before.operationCents,
})
