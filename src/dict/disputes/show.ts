import { randomUUID } from 'node:crypto'
import type { AppEvent, Emit } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { type Dispute, type Kind, type Seen, shownAs } from './domain.ts'
import { addDispute, changeDispute, lockShown } from './store.ts'

/** Tells of it. */
export type Telling<C> = {
  readonly emit: Emit
  /** @param isNew another institution has just asked */
  readonly eventOf: (dispute: Dispute<C>, isNew: boolean) => AppEvent
}

type ShowDeps<C> = Telling<C> & { readonly kind: Kind<C>; readonly logger: Logger }

/**
 * Stores what the directory shows, in the caller's transaction: each change once, whatever is shown again or late.
 *
 * @returns whether it is news, and stored
 */
export type Show<C> = (tx: Queryable, seen: Seen<C>) => Promise<boolean>

export const createShow =
  <C>({ kind, emit, eventOf, logger }: ShowDeps<C>): Show<C> =>
  async (tx, seen) => {
    const before = await lockShown<Dispute<C>>(tx, kind.kind, seen)
    if (before === undefined) {
      const made = found(seen)
      const isAdded = await addDispute(tx, kind.kind, made)
      if (isAdded) await emit(tx, [eventOf(made, made.role === 'asked')])
      else {
        const { directoryId } = seen
        logger.warn({ directoryId }, 'the directory shows a second dispute of one payment')
      }
      return isAdded
    }
    const after = shownAs(kind, before, seen)
    if (after === undefined) {
      const { id, status } = before
      logger.warn({ id, status, shown: seen.status }, 'what the directory shows cannot be true')
      return false
    }
    if (after === before) return false
    await changeDispute(tx, after)
    if (after.status !== before.status) await emit(tx, [eventOf(after, false)])
    return true
  }

const found = <C>(seen: Seen<C>): Dispute<C> => ({
  ...seen,
  id: randomUUID(),
  wanted: null,
  refusal: null,
  returnedAt: null,
  createdBy: null,
  returnId: seen.role === 'asking' ? seen.returnId : null,
})
