import type { Client, Queryable } from '#src/platform/database/index.ts'
import {
  type Actor,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { dictErrors } from '../errors.ts'
import { DirectoryAwayError } from '../exchange.ts'
import type { Refused } from '../wire.ts'
import type { Dispute, DisputeFilter, Kind, Seen, Wanted } from './domain.ts'
import type { Show, Telling } from './show.ts'
import {
  addDispute,
  changeDispute,
  clocksMs,
  findDispute,
  isDisputed,
  listDisputes,
  lockDispute,
  touchDispute,
} from './store.ts'

type Shown<C> = { readonly kind: 'seen'; readonly seen: Seen<C> }

/** What the directory is asked. Each throws DirectoryAwayError: it may have been done. */
export type DisputeCalls<C, W extends Wanted> = {
  readonly create: (dispute: Dispute<C, W>) => Promise<Shown<C> | Refused>
  readonly act: (dispute: Dispute<C, W>, wanted: W) => Promise<Shown<C> | Refused>
  readonly find: (directoryId: string) => Promise<Shown<C> | Refused>
  /** What has changed since then of those that we have asked for. */
  readonly asked: (since: Date) => Promise<readonly Seen<C>[]>
}

/** Whether the directory may be told: money may have to arrive before. */
export type Readiness = 'ready' | 'later' | { readonly refusal: string }

export type DisputeDeps<C, W extends Wanted> = {
  readonly sql: Client
  readonly kind: Kind<C>
  readonly calls: DisputeCalls<C, W>
  readonly show: Show<C>
  readonly telling: Telling<C>
  readonly readiness: (dispute: Dispute<C, W>, wanted: W) => Promise<Readiness>
  readonly logger: Logger
}

/** What became of it; one that is not `isDone` is asked for until the directory answers. */
export type Advanced<C, W extends Wanted> = {
  readonly dispute: Dispute<C, W>
  readonly isDone: boolean
}

export type DisputeService<C, W extends Wanted> = {
  /** Stores it before the directory is told. @throws ApiError if it goes on already, or is refused */
  readonly ask: (made: Dispute<C, W>, caller: Caller) => Promise<Advanced<C, W>>
  /**
   * @param prepare makes of the dispute, which is locked, what else is to be stored with the wish
   * @throws ApiError if its state or our role does not allow it, or it is refused
   */
  readonly act: (
    id: string,
    wanted: W,
    caller: Caller,
    prepare?: (tx: Queryable, dispute: Dispute<C, W>, actor: Actor) => Promise<Dispute<C, W>>,
  ) => Promise<Advanced<C, W>>
  readonly find: (id: string) => Promise<Dispute<C, W>>
  readonly list: (filter: DisputeFilter) => Promise<readonly Dispute<C, W>[]>
  /** Asks the directory again for what it has not answered. */
  readonly retry: (id: string) => Promise<void>
}

/**
 * Each wish is stored before the directory is told, and told again until somebody answers. The directory knows no
 * RequestId of reports and refunds: whether a creation that nobody answered came about is looked for in its list.
 */
export const createDisputeService = <C, W extends Wanted>(
  deps: DisputeDeps<C, W>,
): DisputeService<C, W> => {
  const { sql } = deps
  const { kind } = deps.kind
  const advance = createAdvance(deps)
  const find = async (id: string): Promise<Dispute<C, W>> =>
    (await findDispute<Dispute<C, W>>(sql, kind, id)) ?? throwNone()
  return {
    ask: async (made, caller) => {
      const { body } = await runOnce(sql, caller.idempotencyKey, async (tx) => {
        if (!(await addDispute(tx, kind, made))) throw goesOn()
        await writeAudit(tx, {
          ...{ actor: actorOf(caller), action: `dict.${kind}`, object: made.id, outcome: 'asked' },
        })
        return { status: 201, body: made.id }
      })
      return advance(body)
    },
    act: async (id, wanted, caller, prepare) => {
      const actor = actorOf(caller)
      await runOnce(sql, caller.idempotencyKey, async (tx) => {
        const before = (await lockDispute<Dispute<C, W>>(tx, kind, id)) ?? throwNone()
        if (isWish(deps, before, wanted)) {
          const prepared = (await prepare?.(tx, before, actor)) ?? before
          await changeDispute(tx, { ...prepared, wanted: prepared.wanted ?? wanted, refusal: null })
          const outcome = wanted.act
          await writeAudit(tx, { actor, action: `dict.${kind}`, object: id, outcome })
        }
        return { status: 200, body: id }
      })
      return advance(id)
    },
    find,
    list: (filter) => listDisputes(sql, kind, filter),
    retry: async (id) => {
      try {
        await advance(id)
      } catch (error) {
        // What the directory refused stands in the dispute.
        if (!(error instanceof ApiError)) throw error
      }
    },
  }
}

/** False: it is done, or asked for already. @throws ApiError */
const isWish = <C, W extends Wanted>(
  { kind }: DisputeDeps<C, W>,
  { role, status, wanted }: Dispute<C, W>,
  wish: W,
): boolean => {
  const act = kind.acts[wish.act]
  if (act === undefined) throw new Error(`no act ${wish.act}`)
  if (act.by !== role) {
    throw new ApiError(dictErrors.dict_dispute_not_yours, `Who is ${role} cannot ${wish.act} it.`, {
      details: { role },
    })
  }
  if (status === act.to) return false
  if (wanted !== null && JSON.stringify(wanted) !== JSON.stringify(wish)) {
    throw notNow(`The directory has not answered ${wanted.act} yet.`, status)
  }
  if (!act.from.includes(status)) throw notNow(`It is ${status}.`, status)
  return wanted === null
}

const notNow = (message: string, status: string): ApiError =>
  new ApiError(dictErrors.dict_dispute_state, message, { details: { dispute_status: status } })

const throwNone = (): never => {
  throw new ApiError(httpErrors.not_found, 'No such dispute.')
}

const goesOn = (): ApiError =>
  new ApiError(dictErrors.dict_dispute_exists, 'One about this payment goes on, for this reason.')

const refusedFor = (code: string): ApiError =>
  new ApiError(dictErrors.dict_refused, `The directory answers ${code}.`, {
    details: { directory_code: code },
  })

/** Answers that say nothing about what was asked. */
const laterStatuses: readonly number[] = [409, 429]

/** Undefined: nobody knows. */
const known = async <T>(answer: Promise<T | Refused>): Promise<T | Refused | undefined> => {
  try {
    const said = await answer
    return isRefused(said) && laterStatuses.includes(said.status) ? undefined : said
  } catch (error) {
    if (error instanceof DirectoryAwayError) return undefined
    throw error
  }
}

const isRefused = (said: unknown): said is Refused =>
  (said as { readonly kind?: string }).kind === 'refused'

const createAdvance = <C, W extends Wanted>(deps: DisputeDeps<C, W>) => {
  const { sql, calls, show, telling, logger } = deps
  const { kind } = deps.kind

  const find = async (id: string): Promise<Dispute<C, W>> =>
    (await findDispute<Dispute<C, W>>(sql, kind, id)) ?? throwNone()

  const later = async (id: string): Promise<Advanced<C, W>> => {
    logger.info({ id, kind }, 'the directory is asked again later')
    await touchDispute(sql, id)
    return { dispute: await find(id), isDone: false }
  }

  const store = async (seen: Seen<C>): Promise<void> => {
    await sql.begin((tx) => show(tx, seen))
  }

  /** Ends what is wanted, unless it has another state meanwhile. */
  const giveUp = async (before: Dispute<C, W>, refusal: string): Promise<never> => {
    await sql.begin(async (tx) => {
      const now = await lockDispute<Dispute<C, W>>(tx, kind, before.id)
      if (now?.status !== before.status) return
      if (JSON.stringify(now.wanted) !== JSON.stringify(before.wanted)) return
      const status = now.status === 'requested' ? 'refused' : now.status
      const after: Dispute<C, W> = { ...now, status, wanted: null, refusal }
      await changeDispute(tx, after)
      if (status !== now.status) await telling.emit(tx, [telling.eventOf(after, false)])
    })
    throw refusedFor(refusal)
  }

  const create = async (before: Dispute<C, W>): Promise<Advanced<C, W>> => {
    const answer = await known(calls.create(before))
    if (answer === undefined) return later(before.id)
    if (answer.kind === 'seen') await store(answer.seen)
    else if (!answer.code.endsWith('AlreadyBeingProcessedForTransaction')) {
      return giveUp(before, codeOf(answer))
    } else {
      // It may be ours, made by a request whose answer was lost.
      const since = new Date(before.createdAt.getTime() - clocksMs)
      const asked = await calls.asked(since).catch((error: unknown) => {
        if (error instanceof DirectoryAwayError) return []
        throw error
      })
      for (const seen of asked) {
        if (seen.transactionId === before.transactionId) await store(seen)
      }
      const isOthers = await isDisputed(sql, kind, before)
      if ((await find(before.id)).status === 'requested' && isOthers) {
        return giveUp(before, codeOf(answer))
      }
    }
    const dispute = await find(before.id)
    return dispute.status === 'requested' ? later(before.id) : { dispute, isDone: true }
  }

  const carryOut = async (before: Dispute<C, W>, wanted: W): Promise<Advanced<C, W>> => {
    const { id, directoryId } = before
    const readiness = await deps.readiness(before, wanted)
    if (readiness === 'later') return later(id)
    if (readiness !== 'ready') return giveUp(before, readiness.refusal)
    const answer = await known(calls.act(before, wanted))
    if (answer === undefined) return later(id)
    if (answer.kind === 'seen') await store(answer.seen)
    else {
      // Its state may be another one than we know.
      const found = await known(calls.find(directoryId ?? ''))
      if (found === undefined) return later(id)
      if (found.kind === 'seen') await store(found.seen)
      const now = await find(id)
      if (now.wanted !== null) return giveUp(now, codeOf(answer))
      if (now.status !== deps.kind.acts[wanted.act]?.to) throw refusedFor(codeOf(answer))
    }
    const dispute = await find(id)
    return dispute.wanted === null ? { dispute, isDone: true } : later(id)
  }

  return async (id: string): Promise<Advanced<C, W>> => {
    const before = await find(id)
    if (before.status === 'refused') throw refusedFor(before.refusal ?? '')
    if (before.status === 'requested') return create(before)
    if (before.wanted === null) return { dispute: before, isDone: true }
    return carryOut(before, before.wanted)
  }
}

const codeOf = ({ status, code }: Refused): string => (code === '' ? String(status) : code)
