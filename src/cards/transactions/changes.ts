import { type CardEvent, type CardState, transition } from './domain.ts'
import type { CardTransaction } from './store.ts'

type Fields = Partial<Omit<CardTransaction, 'id' | 'status' | 'operation'>>

/**
 * The transaction after the event, with the fields that the event brings.
 *
 * @throws Error where the event is not possible: whoever calls has looked at the state before
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

/** The message of an operation is kept for as long as there is one. */
const operationOf = ({ operation }: CardState, before: CardTransaction) => ({
  operationStan: operation === undefined ? undefined : before.operationStan,
  operationTransmission: operation === undefined ? undefined : before.operationTransmission,
  operationCents: operation === undefined ? undefined : before.operationCents,
})
