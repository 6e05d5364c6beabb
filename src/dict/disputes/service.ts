import { randomUUID } from 'node:crypto'
import type { Queryable } from '#src/platform/database/index.ts'
import {
  type Actor,
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  writeAudit,
} from '#src/platform/http/index.ts'
import { eachAlone, type Round } from '#src/platform/jobs/index.ts'
import type { DisputingDeps } from '../disputing.ts'
import { dictErrors } from '../errors.ts'
import { followList } from '../following.ts'
import { answerOf, askOnce, unlessRefused } from '../once.ts'
import { refused } from '../refusals.ts'
import { type Beside, createAdvance, type DisputeDeps, findOne, throwNone } from './advance.ts'
import { createDisputeCalls, type DisputeForm, overlapMs } from './calls.ts'
import {
  type Dispute,
  type DisputeFilter,
  type DisputeKind,
  isAsWanted,
  type Wanted,
} from './domain.ts'
import { createShow } from './show.ts'
import {
  addDispute,
  changeDispute,
  listDisputes,
  lockDispute,
  openDisputes,
  touchDispute,
} from './store.ts'

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
            if (seen !== undefined) return sql.begin((tx) => show(tx, seen))
            logger.warn({ list: list.name }, 'a list shows what is not ours')
            return false
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

const goesOn = (): ApiError =>
  new ApiError(dictErrors.dict_dispute_exists, 'One about this payment goes on, for this reason.')
