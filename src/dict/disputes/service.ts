import { randomUUID } from 'node:crypto'
import { disputeRoles } from '#src/events/index.ts'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import {
  type Actor,
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  writeAudit,
} from '#src/platform/http/index.ts'
import { eachAlone, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { DisputingDeps } from '../disputing.ts'
import { dictErrors } from '../errors.ts'
import { DirectoryAwayError, orAway } from '../exchange.ts'
import { followList } from '../following.ts'
import { answerOf, askOnce, unlessRefused } from '../once.ts'
import { refused } from '../refusals.ts'
import { isForLater, type Refused } from '../wire.ts'
import { createDisputeCalls, type DisputeCalls, type DisputeForm, overlapMs } from './calls.ts'
import {
  type Dispute,
  type DisputeFilter,
  type DisputeKind,
  isAsWanted,
  type Kind,
  type Seen,
  unansweredStatuses,
  type Wanted,
} from './domain.ts'
import { createShow, type Show, type Telling } from './show.ts'
import {
  addDispute,
  changeDispute,
  clocksMs,
  findDispute,
  isDisputed,
  listDisputes,
  lockDispute,
  noteTelling,
  openDisputes,
  touchDispute,
  undoTelling,
  wasToldBefore,
} from './store.ts'

/** Why what is wanted does not come about. @property returnId null: the return is none, and its sum is free again */
type Refusal = { readonly refusal: string; readonly returnId?: null }

/** Whether the directory may be told: money may have to arrive before. */
export type Readiness = 'ready' | 'later' | Refusal

/** What is done of a wish beside telling the directory. */
type Beside<C, W extends Wanted> = {
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

type DisputeDeps<C, W extends Wanted> = Beside<C, W> &
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

export type NewDispute<C> = Pick<Dispute<C>, 'transactionId' | 'reason' | 'content'>

export type DisputeService<C, W extends Wanted> = {
  readonly kind: DisputeKind
  /** Reads what has changed in the directory's lists, each change once. */
  readonly poll: (round?: Round) => Promise<void>
  readonly retry: (id: string, round?: Round) => Promise<void>
  /** Stores it before the directory is told. @throws ApiError if it goes on already, or is refused */
  readonly ask: (asked: NewDispute<C>, caller: Caller) => Promise<Answered>
  /** @throws ApiError if its state or our role does not allow it, or it is refused */
  readonly act: (id: string, wanted: W, caller: Caller) => Promise<Answered>
  readonly find: (id: string) => Promise<Dispute<C, W>>
  readonly list: (filter: DisputeFilter) => Promise<readonly Dispute<C, W>[]>
}

/**
 * Each wish is stored before the directory is told, and told again until somebody answers. The directory knows no
 * RequestId of reports and refunds: whether a creation that nobody answered came about is looked for in its list.
 */
export const createDisputeService = <
  Item extends { readonly modifiedMs: number },
  C,
  W extends Wanted,
>(
  form: DisputeForm<Item, C, W>,
  { sql, ispb, wire, emit, logger, now }: DisputingDeps,
  beside: Beside<C, W> = {},
): DisputeService<C, W> => {
  const { view, eventOf } = form
  const { kind } = form.kind
  const calls = createDisputeCalls(form, { sql, lane: wire.lane(), ispb, logger, now })
  const deps = { ...beside, sql, kind: form.kind, calls, emit, eventOf, logger, now }
  const show = createShow(deps)
  const advance = createAdvance(deps, show)
  return {
    kind,
    ask: (asked, caller) => {
      const write = async (tx: Queryable): Promise<string> => {
        const made = { ...unanswered, ...asked, id: randomUUID() }
        const isAdded = await addDispute(tx, kind, {
          ...made,
          createdBy: caller.keyId,
          createdAt: now(),
        })
        if (!isAdded) throw goesOn()
        await writeAudit(tx, {
          actor: actorOf(caller),
          action: `dict.${kind}`,
          object: made.id,
          outcome: 'asked',
        })
        return made.id
      }
      return askOnce(sql, caller.idempotencyKey, write, async (id) => {
        const { dispute, isDone } = await advance(id)
        return answerOf(view(dispute), isDone, 201)
      })
    },
    act: (id, wanted, caller) =>
      askOnce(
        sql,
        caller.idempotencyKey,
        (tx) => wish(tx, deps, { id, wanted, actor: actorOf(caller) }),
        async () => {
          const { dispute, isDone } = await advance(id)
          // It says why what was asked last did not come about, which may have been something else.
          if (isDone && !isAsWanted(form.kind, dispute, wanted)) {
            if (dispute.refusal !== null) throw refused(dispute.refusal)
            if (dispute.status === form.kind.acts[wanted.act]?.to) throw otherwise(deps, dispute)
          }
          return answerOf(view(dispute), isDone, 200)
        },
      ),
    find: (id) => findOne(deps, id),
    list: (filter) => listDisputes(sql, kind, filter),
    retry: (id, round) => unlessRefused(advance(id, round)),
    poll: async (round) => {
      for (const list of calls.lists) {
        await followList(
          list,
          async ({ seen }) => {
            if (seen !== undefined) await sql.begin((tx) => show(tx, seen))
            else logger.warn({ list: list.name }, 'a list shows what is not ours')
          },
          { sql, logger, now, overlapMs, idOf: ({ seen }) => seen?.directoryId ?? '' },
          round,
        )
      }
    },
  }
}

const retriedMax = 100

/**
 * Tells the directory again what it has not answered.
 *
 * @param quietMs those that were tried so recently are left to whoever tells the directory now
 */
export const retryDisputes = async (
  { sql, logger }: Pick<DisputingDeps, 'sql' | 'logger'>,
  { kind, retry }: Pick<DisputeService<never, never>, 'kind' | 'retry'>,
  quietMs: number,
  round?: Round,
): Promise<void> =>
  eachAlone(await openDisputes(sql, kind, quietMs, retriedMax), ({ id }) => retry(id, round), {
    round,
    logger,
    idsOf: ({ id }) => ({ dispute: id }),
    setAside: ({ id }) => touchDispute(sql, id),
  })

const unanswered = {
  directoryId: null,
  role: 'asking',
  status: 'requested',
  other: null,
  wanted: null,
  refusal: null,
  returnId: null,
  returnedAt: null,
  modifiedAt: null,
} as const

const findOne = async <C, W extends Wanted>(
  { sql, kind }: DisputeDeps<C, W>,
  id: string,
): Promise<Dispute<C, W>> => (await findDispute<Dispute<C, W>>(sql, kind.kind, id)) ?? throwNone()

/** Stores what is wanted of a dispute. @returns its id. @throws ApiError */
const wish = async <C, W extends Wanted>(
  tx: Queryable,
  deps: DisputeDeps<C, W>,
  { id, wanted, actor }: { readonly id: string; readonly wanted: W; readonly actor: Actor },
): Promise<string> => {
  const { kind } = deps.kind
  const before = (await lockDispute<Dispute<C, W>>(tx, kind, id)) ?? throwNone()
  if (!isWish(deps, before, wanted)) {
    await deps.demandSame?.(tx, before, wanted)
    return id
  }
  const prepared = (await deps.prepare?.(tx, before, wanted, actor)) ?? before
  await changeDispute(tx, { ...prepared, wanted: prepared.wanted ?? wanted, refusal: null })
  await writeAudit(tx, { actor, action: `dict.${kind}`, object: id, outcome: wanted.act })
  return id
}

/** False: it is done, or asked for already. @throws ApiError */
const isWish = <C, W extends Wanted>(
  deps: DisputeDeps<C, W>,
  before: Dispute<C, W>,
  wish: W,
): boolean => {
  const { kind } = deps
  const { role, status, wanted } = before
  const act = kind.acts[wish.act]
  if (act === undefined) throw new Error(`no act ${wish.act}`)
  if (act.by !== role) {
    throw new ApiError(dictErrors.dict_dispute_not_yours, `Who is ${role} cannot ${wish.act} it.`, {
      details: { role },
    })
  }
  if (status === act.to) {
    if (!isAsWanted(kind, before, wish)) throw otherwise(deps, before)
    return false
  }
  if (wanted !== null && JSON.stringify(wanted) !== JSON.stringify(wish)) {
    throw notNow(`The directory has not answered ${wanted.act} yet.`, status)
  }
  if (!act.from.includes(status)) throw notNow(`It is ${status}.`, status)
  return wanted === null
}

const notNow = (message: string, status: string): ApiError =>
  new ApiError(dictErrors.dict_dispute_state, message, { details: { dispute_status: status } })

const otherwise = <C, W extends Wanted>(
  { kind }: DisputeDeps<C, W>,
  { status, content }: Dispute<C, W>,
): ApiError => {
  const { result } = kind.outcomeOf(content)
  const details = { dispute_status: status, result }
  return new ApiError(dictErrors.dict_dispute_state, 'It was closed with another outcome.', {
    details,
  })
}

const throwNone = (): never => {
  throw new ApiError(httpErrors.not_found, 'No such dispute.')
}

const goesOn = (): ApiError =>
  new ApiError(dictErrors.dict_dispute_exists, 'One about this payment goes on, for this reason.')

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

const createAdvance = <C, W extends Wanted>(deps: DisputeDeps<C, W>, show: Show<C>) => {
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
