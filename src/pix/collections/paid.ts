import type { Emit } from '#src/events/index.ts'
import type { Queryable } from '#src/platform/database/index.ts'
import type { EndedPix } from '../received/store.ts'
import { endedStatuses } from '../recurrences/domain.ts'
import { findRecurrences } from '../recurrences/store.ts'
import { type Collection, openStatuses, paidCollection, paymentsOf } from './domain.ts'
import { endOpen } from './ending.ts'
import { collectionEvents } from './events.ts'
import { changeCollection, isReplaced } from './store.ts'

/**
 * Payments have ended. What settled concludes the charge of its attempt, if it is what that asked for; what did not
 * leaves a charge to the end of its recurrence, or to that of its own days, which waited for it.
 *
 * @param locked the charges that the attempts are of: whoever locks payments locks these before, as all do
 */
export const hearOfPayments = async (
  tx: Queryable,
  ended: readonly EndedPix[],
  locked: readonly Collection[],
  { emit, at }: { readonly emit: Emit; readonly at: Date },
): Promise<void> => {
  const ends = new Map(
    ended.flatMap((one) => (one.chargeId === null ? [[one.endToEndId, one] as const] : [])),
  )
  const heard = locked.filter(({ attempts }) =>
    attempts.some(({ endToEndId }) => ends.has(endToEndId)),
  )
  if (heard.length === 0) return
  const paid: Collection[] = []
  const unpaid: Collection[] = []
  for (const one of heard) {
    const settled = paymentsOf(one, ends)
      .filter(({ isSettled }) => isSettled)
      .map(({ endToEndId }) => endToEndId)
    if (settled.length === 0) {
      unpaid.push(one)
      continue
    }
    const after = paidCollection(one, settled, await isReplaced(tx, one), at)
    await changeCollection(tx, after)
    paid.push(after)
  }
  await emit(tx, await collectionEvents(tx, paid))
  const open = unpaid.filter(({ status }) => openStatuses.has(status))
  const recurrences = await findRecurrences(
    tx,
    open.map(({ recurrenceId }) => recurrenceId),
  )
  const over = recurrences.filter(({ status }) => endedStatuses.has(status))
  const isLeft = ({ recurrenceId }: Collection) => over.some(({ id }) => id === recurrenceId)
  const left = open.filter(isLeft)
  for (const one of open) if (!isLeft(one)) await changeCollection(tx, { ...one, nextAt: at })
  await endOpen(tx, left, over, { emit, at })
}
