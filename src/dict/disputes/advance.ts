import { disputeRoles } from '#src/events/index.ts'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import { type Actor, ApiError, httpErrors } from '#src/platform/http/index.ts'
import type { Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { DirectoryAwayError, orAway } from '../exchange.ts'
import { refused } from '../refusals.ts'
import { isForLater, type Refused } from '../wire.ts'
import { type DisputeCalls, overlapMs } from './calls.ts'
import {
  type Dispute,
  isAsWanted,
  type Kind,
  type Seen,
  unansweredStatuses,
  type Wanted,
} from './domain.ts'
import type { Show, Telling } from './show.ts'
import {
  changeDispute,
  clocksMs,
  findDispute,
  isDisputed,
  lockDispute,
  noteTelling,
  touchDispute,
  undoTelling,
  wasToldBefore,
} from './store.ts'

/** Why what is wanted does not come about. @property returnId null: the return is none, and its sum is free again */
type Refusal = { readonly refusal: string; readonly returnId?: null }

/** Whether the directory may be told: money may have to arrive before. */
export type Readiness = 'ready' | 'later' | Refusal

/** What is done of a wish beside telling the directory. */
export type Beside<C, W extends Wanted> = {
  /** Makes of the dispute, which is locked, what else is to be stored with the wish. @throws ApiError */
  readonly prepare?: (
    tx: Queryable,
    dispute: Dispute<C, W>,
    wanted: W,
    actor: Actor,
  ) => Promise<Dispute<C, W>>
  /** Demands that what is wanted again is what was stored beside it. @throws ApiError */
  readonly demandSame?: (tx: Queryable, dispute: Dispute<C, W>, wanted: W) => Promise<void>
  /** Always ready when absent. */
  readonly readiness?: (dispute: Dispute<C, W>, wanted: W) => Promise<Readiness>
}

export type DisputeDeps<C, W extends Wanted> = Beside<C, W> &
  Telling<C> & {
    readonly sql: Client
    readonly kind: Kind<C>
    readonly calls: DisputeCalls<C, W>
    readonly logger: Logger
    readonly now: () => Date
  }

/** What became of it; one that is not `isDone` is asked for until the directory answers. */
type Advanced<C, W extends Wanted> = {
  readonly dispute: Dispute<C, W>
  readonly isDone: boolean
}

export const findOne = async <C, W extends Wanted>(
  { sql, kind }: DisputeDeps<C, W>,
  id: string,
): Promise<Dispute<C, W>> => (await findDispute<Dispute<C, W>>(sql, kind.kind, id)) ?? throwNone()

export const throwNone = (): never => {
  throw new ApiError(httpErrors.not_found, 'No such dispute.')
}

/** Undefined: nobody knows. */
const known = async <T>(answer: Promise<T | Refused>): Promise<T | Refused | undefined> => {
  const said = await orAway(answer)
  if (said instanceof DirectoryAwayError) return undefined
  return isRefused(said) && isForLater(said) ? undefined : said
}

const isRefused = (said: unknown): said is Refused =>
  (said as { readonly kind?: string }).kind === 'refused'

/** The states of the one that the directory names where it makes no second one, by the end of its code. */
const repeatedBy: Readonly<Record<string, readonly Dispute['status'][]>> = {
  AlreadyBeingProcessedForTransaction: unansweredStatuses,
  AlreadyProcessedForTransaction: ['closed'],
}

/** One that is older, and of which no request is noted, may have been asked for by a version that noted none. */
const firstMs = 1_000

/**
 * Whether what the directory refuses to make may have been made all the same, by a request whose answer was lost. What
 * its list shows of that is stored.
 *
 * @param isFirst nobody has asked before
 */
const createMayBeMade =
  <C, W extends Wanted>(
    { sql, kind: { kind }, calls }: DisputeDeps<C, W>,
    store: (seen: Seen<C>) => Promise<void>,
  ) =>
  async (
    before: Dispute<C, W>,
    { code }: Refused,
    isFirst: boolean,
    round?: Round,
  ): Promise<boolean> => {
    const { id, createdAt, transactionId } = before
    const states = Object.entries(repeatedBy).find(([end]) => code.endsWith(end))?.[1]
    if (states === undefined && isFirst) return false
    const since = new Date(createdAt.getTime() - clocksMs)
    const asked = await orAway(calls.asked(since, round))
    if (asked instanceof DirectoryAwayError) return true
    for (const seen of asked.seen) if (seen.transactionId === transactionId) await store(seen)
    // A list that was not read to its end proves nothing.
    if (!asked.isWhole || (await findDispute(sql, kind, id))?.status !== 'requested') return true
    if (states === undefined) return false
    // Nor does one that may be late, unless we know of another one that the directory can mean.
    if (await wasToldBefore(sql, id, overlapMs)) return false
    const roles = isFirst ? disputeRoles : (['asking'] as const)
    return !(await isDisputed(sql, kind, before, states, roles))
  }

/** Tells the directory what is wanted of a dispute, and stores what it answers. @throws ApiError if it is refused */
export const createAdvance = <C, W extends Wanted>(deps: DisputeDeps<C, W>, show: Show<C>) => {
  const { sql, calls, logger } = deps
  const { kind } = deps.kind
  const find = (id: string): Promise<Dispute<C, W>> => findOne(deps, id)
  const mayBeMade = createMayBeMade(deps, (seen) => store(seen))

  const later = async (id: string): Promise<Advanced<C, W>> => {
    logger.info({ id, kind }, 'the directory is asked again later')
    await touchDispute(sql, id)
    return { dispute: await find(id), isDone: false }
  }

  const store = async (seen: Seen<C>): Promise<void> => {
    await sql.begin((tx) => show(tx, seen))
  }

  /** Ends what is wanted, unless something else is by now: all of it at once, lest a half be told later. */
  const giveUp = async (before: Dispute<C, W>, why: Refusal): Promise<never> => {
    await sql.begin(async (tx) => {
      const now = await lockDispute<Dispute<C, W>>(tx, kind, before.id)
      if (now?.status !== before.status || now.returnId !== before.returnId) return
      if (JSON.stringify(now.wanted) !== JSON.stringify(before.wanted)) return
      const status = now.status === 'requested' ? 'refused' : now.status
      const after: Dispute<C, W> = { ...now, ...why, status, wanted: null }
      await changeDispute(tx, after)
      if (status !== now.status) await deps.emit(tx, [deps.eventOf(after, false)])
    })
    throw refused(why.refusal)
  }

  const create = async (before: Dispute<C, W>, round?: Round): Promise<Advanced<C, W>> => {
    const { id, createdAt } = before
    const isYoung = deps.now().getTime() - createdAt.getTime() < firstMs
    const telling = await noteTelling(sql, id)
    if (telling === undefined) return { dispute: await find(id), isDone: true }
    const answer = await known(calls.create(before))
    if (answer === undefined) return later(id)
    if (answer.kind === 'seen') await store(answer.seen)
    else {
      await undoTelling(sql, id, telling)
      if (!(await mayBeMade(before, answer, telling.isFirst && isYoung, round))) {
        return giveUp(before, { refusal: answer.code })
      }
    }
    const dispute = await find(id)
    return dispute.status === 'requested' ? later(id) : { dispute, isDone: true }
  }

  const carryOut = async (before: Dispute<C, W>, wanted: W): Promise<Advanced<C, W>> => {
    const { id, directoryId } = before
    const readiness = (await deps.readiness?.(before, wanted)) ?? 'ready'
    if (readiness === 'later') return later(id)
    if (readiness !== 'ready') return giveUp(before, readiness)
    const answer = await known(calls.act(before, wanted))
    if (answer === undefined) return later(id)
    if (answer.kind === 'seen') await store(answer.seen)
    else {
      // Its state may be another one than we know.
      const found = await known(calls.find(directoryId ?? ''))
      if (found === undefined) return later(id)
      if (found.kind === 'seen') await store(found.seen)
      const now = await find(id)
      const isDone = isAsWanted(deps.kind, now, wanted)
      if (!isDone) return giveUp({ ...before, status: now.status }, { refusal: answer.code })
    }
    const dispute = await find(id)
    return dispute.wanted === null ? { dispute, isDone: true } : later(id)
  }

  return async (id: string, round?: Round): Promise<Advanced<C, W>> => {
    const before = await find(id)
    if (before.status === 'refused') throw refused(before.refusal ?? '')
    if (before.status === 'requested') return create(before, round)
    if (before.wanted === null) return { dispute: before, isDone: true }
    return carryOut(before, before.wanted)
  }
}
