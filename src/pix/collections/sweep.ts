import { createJob, type Job, nothingFound, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { dayAt } from '#src/platform/runtime/index.ts'
import { movedTo } from '../recurrences/domain.ts'
import { recurrenceEvent } from '../recurrences/events.ts'
import {
  lockRecurrences,
  outlivedRecurrences,
  reviseRecurrence,
  waitingRecurrences,
} from '../recurrences/store.ts'
import { liveStatuses } from '../requests/domain.ts'
import { firstPaymentMs, seeFirstPayment } from '../requests/hearing.ts'
import { changeRequest, overdueRequests, requestsOf } from '../requests/store.ts'
import { isPaid } from '../requests/told.ts'
import { advance } from './advance.ts'
import { endCollections } from './ending.ts'
import { collectionEvent } from './events.ts'
import type { CollectionServiceDeps } from './service.ts'
import { changeCollection, dueCollections, lockCollection, wakeCollections } from './store.ts'

const everyMs = 15_000
/** How many one look takes; the next one takes the others. */
const dueMax = 200

/** What is due about recurrences and their charges: they and their requests expire, charges are scheduled and expire. */
export const createRecurringSweep = (deps: CollectionServiceDeps, logger: Logger): Job =>
  createJob({
    name: 'recurring charges',
    everyMs,
    fleet: { sql: deps.sql },
    logger,
    run: async (round) => {
      const done = await sweepRecurring(deps, round)
      return done === 0 ? nothingFound : undefined
    },
  })

/** @returns how many were changed */
export const sweepRecurring = async (
  deps: CollectionServiceDeps,
  round?: Round,
): Promise<number> => {
  const { sql, now } = deps
  let done = 0
  for (const { recurrenceId } of await overdueRequests(sql, now(), dueMax)) {
    if (round?.signal.aborted) return done
    await expireRequest(deps, recurrenceId)
    done++
    round?.advance()
  }
  for (const { id } of await outlivedRecurrences(sql, dayAt(now()), dueMax)) {
    if (round?.signal.aborted) return done
    await expireRecurrence(deps, id)
    done++
    round?.advance()
  }
  const since = new Date(now().getTime() - firstPaymentMs)
  for (const { id } of await waitingRecurrences(sql, since, dueMax)) {
    if (round?.signal.aborted) return done
    if (await confirmBegun(deps, id)) done++
    round?.advance()
  }
  for (const due of await dueCollections(sql, now(), dueMax)) {
    if (round?.signal.aborted) return done
    await advanceOne(deps, due)
    done++
    round?.advance()
  }
  return done
}

const expireRequest = ({ sql, now }: CollectionServiceDeps, recurrenceId: string): Promise<void> =>
  sql.begin(async (tx) => {
    await lockRecurrences(tx, [recurrenceId])
    const at = now()
    for (const request of await requestsOf(tx, [recurrenceId])) {
      const isOver = liveStatuses.has(request.status) && request.expiresAt < at
      if (isOver) await changeRequest(tx, movedTo(request, 'EXPIRADA', at))
    }
  })

const expireRecurrence = ({ sql, emit, now }: CollectionServiceDeps, id: string): Promise<void> =>
  sql.begin(async (tx) => {
    const [recurrence] = await lockRecurrences(tx, [id])
    const at = now()
    const { endsOn } = recurrence?.terms ?? {}
    const isOver = endsOn !== undefined && endsOn < dayAt(at)
    if (recurrence?.status !== 'CRIADA' || !isOver) return
    const expired = movedTo(recurrence, 'EXPIRADA', at)
    await reviseRecurrence(tx, expired)
    for (const request of await requestsOf(tx, [id])) {
      if (liveStatuses.has(request.status))
        await changeRequest(tx, movedTo(request, 'EXPIRADA', at))
    }
    await endCollections(tx, [expired], { emit, at })
    await emit(tx, [recurrenceEvent(expired)])
  })

const confirmBegun = (
  { sql, sender, emit, ispb, now }: CollectionServiceDeps,
  id: string,
): Promise<boolean> =>
  sql.begin(async (tx) => {
    const [recurrence] = await lockRecurrences(tx, [id])
    if (recurrence === undefined) return false
    const at = now()
    const isBegun = await isPaid(tx, recurrence)
    const seen = seeFirstPayment(recurrence, { ispb, at, isBegun })
    if (seen === undefined) return false
    await reviseRecurrence(tx, seen.recurrence)
    await sender.sendWithin(tx, seen.drafts, at)
    if (seen.recurrence.status === 'APROVADA') {
      await wakeCollections(tx, [id], at)
      await emit(tx, [recurrenceEvent(seen.recurrence)])
    }
    return true
  })

const advanceOne = async (
  { sql, sender, emit, ispb, now, calendar }: CollectionServiceDeps,
  { account, txid, recurrenceId }: Awaited<ReturnType<typeof dueCollections>>[number],
): Promise<void> => {
  await sql.begin(async (tx) => {
    const [recurrence] = await lockRecurrences(tx, [recurrenceId])
    const before = await lockCollection(tx, account, txid)
    if (recurrence === undefined || before === undefined) return
    const at = now()
    const { collection, drafts } = advance(before, { recurrence, ispb, at, calendar })
    await changeCollection(tx, collection)
    await sender.sendWithin(tx, drafts, at)
    const isNews =
      collection.status !== before.status ||
      collection.attempts.some(({ status }, index) => status !== before.attempts[index]?.status)
    if (isNews) await emit(tx, [collectionEvent(collection)])
  })
}
