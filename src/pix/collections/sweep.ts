import { createJob, eachAlone, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { addDays, dayAt, startOfDay } from '#src/platform/runtime/index.ts'
import { lockCharge } from '../charges/store.ts'
import { pendingOf } from '../received/pending.ts'
import { isOutlived, movedTo } from '../recurrences/domain.ts'
import { recurrenceEvent } from '../recurrences/events.ts'
import {
  lockRecurrences,
  type OutlivedRecurrence,
  outlivedRecurrences,
  reviseRecurrence,
  waitingRecurrences,
} from '../recurrences/store.ts'
import { liveStatuses } from '../requests/domain.ts'
import { firstPaymentMs, seeFirstPayment } from '../requests/hearing.ts'
import {
  changeRequest,
  type OverdueRequest,
  overdueRequests,
  requestsOf,
} from '../requests/store.ts'
import { advance } from './advance.ts'
import { endCollections } from './ending.ts'
import { collectionEvents } from './events.ts'
import { payingAttempts } from './paying.ts'
import type { CollectionServiceDeps } from './service.ts'
import {
  changeCollection,
  dueCollections,
  fillAgreements,
  lockCollection,
  postponeCollection,
  wakeCollections,
} from './store.ts'

const everyMs = 15_000
/** How many one look takes, and how often one round looks. */
const dueMax = 200
const looksMax = 50
/** How long at most we leave alone what failed, and what waits for the end of a payment. */
const postponedMs = 3_600_000

/** What is due about recurrences and their charges: they and their requests expire, charges are scheduled and expire. */
export const createRecurringSweep = (deps: SweepDeps): Job =>
  createJob({
    name: 'recurring charges',
    everyMs,
    fleet: { sql: deps.sql },
    logger: deps.logger,
    run: (round) => sweepRecurring(deps, round),
  })

type SweepDeps = CollectionServiceDeps & { readonly logger: Logger }

export const sweepRecurring = async (deps: SweepDeps, round?: Round): Promise<void> => {
  const { sql, now, logger } = deps
  const each = async <Item extends Readonly<Record<string, string>>>(
    look: (after: Item | undefined) => Promise<readonly Item[]>,
    work: (item: Item) => Promise<void>,
    setAside?: (item: Item) => Promise<void>,
  ): Promise<void> => {
    let after: Item | undefined
    for (let looks = 0; looks < looksMax && round?.signal.aborted !== true; looks++) {
      const items = await look(after)
      await eachAlone(items, work, { round, logger, idsOf: (item) => item, setAside })
      if (items.length < dueMax) return
      after = items.at(-1)
    }
  }
  const parts: readonly (() => Promise<void>)[] = [
    () =>
      each<OverdueRequest>(
        (after) => overdueRequests(sql, now(), dueMax, after),
        ({ recurrenceId }) => expireRequest(deps, recurrenceId),
      ),
    () =>
      each<OutlivedRecurrence>(
        (after) => outlivedRecurrences(sql, dayAt(now()), dueMax, after),
        ({ id }) => expireRecurrence(deps, id),
      ),
    () =>
      each<{ readonly id: string }>(
        (after) =>
          waitingRecurrences(sql, new Date(now().getTime() - firstPaymentMs), dueMax, after),
        ({ id }) => confirmBegun(deps, id),
      ),
    () =>
      each(
        () => dueCollections(sql, now(), dueMax),
        (due) => advanceOne(deps, due),
        ({ account, txid }) => postponeCollection(sql, account, txid, triedAgainAt(now())),
      ),
    async () => {
      for (let looks = 0; looks < looksMax && round?.signal.aborted !== true; looks++) {
        if ((await fillAgreements(sql, dueMax)) < dueMax) return
      }
    },
  ]
  // Charges have a last chance, so a failure of one part must not keep the others from it.
  const failures: unknown[] = []
  for (const part of parts) await part().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** The last chance of a charge ends with a day: the nearer that is, the sooner it is tried again. */
const triedAgainAt = (at: Date): Date => {
  const leftMs = startOfDay(addDays(dayAt(at), 1)).getTime() - at.getTime()
  const pauseMs = Math.min(postponedMs, Math.max(everyMs, leftMs / 2))
  return new Date(at.getTime() + Math.min(pauseMs, leftMs - 1))
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
    if (recurrence?.status !== 'CRIADA' || !isOutlived(recurrence, at)) return
    // Its payer has authorised it, and is answered first.
    if (recurrence.payer?.waiting !== undefined) return
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
): Promise<void> =>
  sql.begin(async (tx) => {
    const [recurrence] = await lockRecurrences(tx, [id])
    if (recurrence === undefined) return
    const at = now()
    const { firstTxid } = recurrence.terms
    const first =
      firstTxid === undefined ? undefined : await lockCharge(tx, recurrence.account, firstTxid)
    const isBegun = first?.status === 'CONCLUIDA'
    // A payment that was accepted may settle yet.
    if (first !== undefined && !isBegun && (await pendingOf(tx, [first.id])).size > 0) return
    const seen = seeFirstPayment(recurrence, { ispb, at, isBegun })
    if (seen === undefined) return
    await reviseRecurrence(tx, seen.recurrence)
    await sender.sendWithin(tx, seen.drafts, at)
    if (seen.recurrence.status === 'APROVADA') {
      await wakeCollections(tx, [id], at)
      await emit(tx, [recurrenceEvent(seen.recurrence)])
    }
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
    // What becomes of a payment that was accepted ends its attempt, and wakes the charge.
    if ((await payingAttempts(tx, [before])).size > 0) {
      await postponeCollection(tx, account, txid, new Date(at.getTime() + postponedMs))
      return
    }
    const { collection, drafts } = advance(before, { recurrence, ispb, at, calendar })
    await changeCollection(tx, collection)
    await sender.sendWithin(tx, drafts, at)
    const isNews =
      collection.status !== before.status ||
      collection.attempts.some(({ status }, index) => status !== before.attempts[index]?.status)
    if (isNews) await emit(tx, await collectionEvents(tx, [collection]))
  })
}
