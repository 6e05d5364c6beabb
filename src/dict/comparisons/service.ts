import { randomUUID } from 'node:crypto'
import { type Client, type Queryable, textArray } from '#src/platform/database/index.ts'
import {
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  writeAudit,
} from '#src/platform/http/index.ts'
import { eachAlone, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { EntryService } from '../entries/service.ts'
import { dictErrors } from '../errors.ts'
import { DirectoryAwayError } from '../exchange.ts'
import { answerOf, askOnce } from '../once.ts'
import { refused } from '../refusals.ts'
import type { Comparison } from '../types.ts'
import type { DirectoryWire } from '../wire.ts'
import { LostFileError, type ReconciliationCalls } from './calls.ts'
import {
  type Compared,
  differenceSince,
  differenceTo,
  LimitedError,
  noEventsRead,
  type ReadEvents,
  readCids,
  refusedBy,
} from './difference.ts'
import type { Difference, Side, Theirs } from './domain.ts'
import { askAgain, keepSide, type MendBy } from './mend.ts'
import {
  addComparison,
  addDifferences,
  endComparison,
  findComparison,
  keepFile,
  listDifferences,
  lockDifference,
  markKept,
  ownOf,
  runningComparisons,
} from './store.ts'
import { comparisonView, differenceView } from './view.ts'

export type ComparisonDeps = {
  readonly sql: Client
  readonly ispb: string
  readonly calls: ReconciliationCalls
  readonly fetchFile: DirectoryWire['fetchFile']
  readonly entries: Pick<EntryService, 'advance'>
  readonly logger: Logger
  readonly now: () => Date
}

/** We confirm and show this many differences; the others are only counted. */
const shownMax = 1_000
/** The directory makes a file within minutes; after hours we give up. */
const runMsMax = 6 * 3_600_000
/** We give up a comparison that has failed for so long without progress. */
const failingMsMax = 900_000

/** Tells where our entries and the directory's differ, and mends what the caller chooses. */
export const createComparisonService = (deps: ComparisonDeps) => {
  const { sql, now } = deps
  const find = async (id: string): Promise<Comparison> => {
    const found = await findComparison(sql, id)
    if (found === undefined) throw new ApiError(httpErrors.not_found, 'No such comparison.')
    return found
  }
  return {
    /** @throws ApiError while one of the type runs */
    start: (
      asked: Pick<Comparison, 'keyType' | 'method' | 'since'>,
      caller: Caller,
    ): Promise<Answered> => {
      const write = async (tx: Queryable): Promise<string> => {
        const made = { ...started, ...asked, id: randomUUID(), createdAt: now() }
        if (!(await addComparison(tx, made))) {
          throw new ApiError(dictErrors.dict_comparison_running, 'One of this type runs.')
        }
        const act = { action: 'dict.reconcile', object: made.id, outcome: asked.method } as const
        await writeAudit(tx, { actor: actorOf(caller), ...act })
        return made.id
      }
      return askOnce(sql, caller.idempotencyKey, write, async (id) =>
        answerOf(comparisonView(await find(id)), false, 200),
      )
    },
    find,
    differences: async (id: string, page: Parameters<typeof listDifferences>[2]) => {
      await find(id)
      return listDifferences(sql, id, page)
    },
    /** Makes the other side like the one that is kept. @throws ApiError, also if the directory refuses */
    mend: async (id: string, key: string, keep: Side, caller: Caller): Promise<Answered> => {
      const { keyType } = await find(id)
      const shown = async (): Promise<Difference> => {
        const [next] = await listDifferences(sql, id, { after: justBefore(key), limit: 1 })
        return next?.key === key ? next : throwNoDifference()
      }
      const asked = await askAgain(sql, await shown(), keyType, deps.calls.entryOf)
      const by = { ...deps, comparisonId: id, keyType, keyId: caller.keyId, asked }
      const write = async (tx: Queryable): Promise<string> => {
        const kept = await keepOnce(tx, { id, key, keep }, by)
        if (kept === undefined) return ''
        const act = { action: 'dict.reconcile', object: id, outcome: `${keep}_kept` } as const
        await writeAudit(tx, { actor: actorOf(caller), ...act })
        return kept.entryId ?? ''
      }
      return askOnce(sql, caller.idempotencyKey, write, async (entryId) => {
        const told = entryId === '' ? undefined : await deps.entries.advance(entryId)
        const difference = await shown()
        // Another process may have told the directory, and been refused.
        if (told !== undefined && difference.kept === null) throw refused(told.entry.refusal ?? '')
        return answerOf(differenceView(difference), true, 200)
      })
    },
    /** Goes on with what runs. */
    advance: createAdvance(deps),
  }
}

export type ComparisonService = ReturnType<typeof createComparisonService>

/** How far a running comparison is. A process that takes over begins anew. */
type Progress = {
  /** Since when no round has made progress; undefined if the last one did not fail. */
  failingSinceMs: number | undefined
  /** We do not ask the directory before then. */
  restsUntilMs: number
  readonly read: ReadEvents
}

const createAdvance = (deps: ComparisonDeps) => {
  const { sql, logger, now } = deps
  const progressOf = new Map<string, Progress>()
  const giveUp = (id: string, failure: string) =>
    endComparison(sql, id, { ...failed, failure, endedAt: now() })

  const advanceOne = async (comparison: Comparison, round: Round): Promise<void> => {
    const { id, createdAt, since } = comparison
    const progress = progressOf.get(id) ?? {
      failingSinceMs: undefined,
      restsUntilMs: 0,
      read: noEventsRead(since ?? createdAt),
    }
    progressOf.set(id, progress)
    const isOver = () => now().getTime() - createdAt.getTime() >= runMsMax
    if (now().getTime() < progress.restsUntilMs) return
    const pagesBefore = progress.read.pages
    try {
      await compare(comparison, deps, progress.read, round)
      progress.failingSinceMs = undefined
      if (isOver() && !round.signal.aborted) await giveUp(id, 'the file was not made in time')
    } catch (error) {
      const nowMs = now().getTime()
      const isAway = error instanceof DirectoryAwayError
      const isLost = error instanceof LostFileError
      const isLimited = error instanceof LimitedError
      // A directory that limits us is there, and a page more is progress.
      if (isLimited || progress.read.pages > pagesBefore) progress.failingSinceMs = undefined
      if (isLimited) progress.restsUntilMs = nowMs + error.waitMs
      else progress.failingSinceMs ??= nowMs
      if (isLost || isOver() || nowMs - (progress.failingSinceMs ?? nowMs) >= failingMsMax) {
        await giveUp(id, isAway || isLost ? error.message : 'it could not be compared')
      }
      if (isLost) return
      if (!isAway) throw error
      logger.info({ id, reason: error.reason }, 'a comparison goes on later')
    }
  }
  return async (round: Round): Promise<void> => {
    const running = await runningComparisons(sql)
    for (const id of progressOf.keys()) {
      if (!running.some((one) => one.id === id)) progressOf.delete(id)
    }
    await eachAlone(running, (one) => advanceOne(one, round), {
      round,
      logger,
      idsOf: ({ id }) => ({ comparison: id }),
    })
  }
}

/**
 * Keeps a side of a difference.
 *
 * @returns the entry to tell the directory of, if any; undefined: that side was kept before
 * @throws ApiError
 */
const keepOnce = async (
  tx: Queryable,
  { id, key, keep }: { readonly id: string; readonly key: string; readonly keep: Side },
  by: MendBy,
): Promise<{ readonly entryId: string | undefined } | undefined> => {
  const difference = (await lockDifference(tx, id, key)) ?? throwNoDifference()
  if (difference.kept === keep) return undefined
  if (difference.kept !== null) {
    throw new ApiError(dictErrors.dict_difference_mended, `${difference.kept} was kept.`)
  }
  const entryId = await keepSide(tx, difference, keep, by)
  await markKept(tx, id, key, keep)
  return { entryId }
}

const throwNoDifference = (): never => {
  throw new ApiError(httpErrors.not_found, 'No such difference.')
}

const noCounts = { entries: null, onlyOurs: null, onlyTheirs: null, isComplete: null } as const
const started = {
  ...noCounts,
  fileId: null,
  failure: null,
  endedAt: null,
  status: 'running',
} as const
const failed = { ...noCounts, status: 'failed' } as const

/** Keys are printable ASCII, so no key lies between this text and the key. */
const justBefore = (key: string): string =>
  key.slice(0, -1) + String.fromCharCode(key.charCodeAt(key.length - 1) - 1) + '~'.repeat(80)

const compare = async (
  comparison: Comparison,
  deps: ComparisonDeps,
  read: ReadEvents,
  round: Round,
): Promise<void> => {
  const { id, keyType, method, since } = comparison
  const { sql, calls } = deps
  const compared =
    method === 'file'
      ? await comparedWithFile(comparison, deps, round)
      : await differenceSince(sql, keyType, since ?? comparison.createdAt, { read, calls, round })
  // The file is not made yet.
  if (compared === undefined) return
  const confirmed = await confirm(compared, deps, round)
  // The next round, in whichever process, begins anew.
  if (round.signal.aborted) return
  const isExplained = compared.isExplainedBy({
    onlyOurs: [...confirmed.onlyOurs, ...compared.onlyOurs.slice(shownMax)],
    onlyTheirs: [...confirmed.onlyTheirs.keys(), ...compared.onlyTheirs.slice(shownMax)],
  })
  const found = { ...confirmed, onlyTheirs: await unlessOurs(sql, confirmed.onlyTheirs) }
  const [left, right] = [compared.onlyOurs.length, compared.onlyTheirs.length]
  const end = {
    status: 'done',
    entries: compared.entries,
    isComplete: isExplained,
    failure: null,
    onlyOurs: left - Math.min(left, shownMax) + found.onlyOurs.length,
    onlyTheirs: right - Math.min(right, shownMax) + found.onlyTheirs.size,
    endedAt: deps.now(),
  } as const
  await sql.begin(async (tx) => {
    if (await endComparison(tx, id, end)) {
      await addDifferences(tx, id, await byKey(tx, found))
    }
  })
}

/** Undefined: not yet. @throws DirectoryAwayError */
const comparedWithFile = async (
  { id, keyType, fileId }: Comparison,
  { sql, calls, fetchFile }: ComparisonDeps,
  round: Round,
): Promise<Compared | undefined> => {
  const file = await (fileId === null ? calls.requestFile(keyType) : calls.findFile(fileId))
  if (file.kind === 'refused') throw refusedBy(file)
  if (fileId === null) await keepFile(sql, id, file.id)
  if (file.content === undefined) return undefined
  const chunks = fetchFile(file.content.url, round.signal)
  const theirs = await readCids(chunks, file.content, round)
  return differenceTo(sql, keyType, theirs, round)
}

type Confirmed = {
  readonly onlyOurs: Compared['onlyOurs']
  /** By their content identifiers. */
  readonly onlyTheirs: ReadonlyMap<string, Theirs>
}

/** Asks the directory for each: an entry that came or went meanwhile is no difference. @throws DirectoryAwayError */
const confirm = async (
  compared: Compared,
  { calls }: ComparisonDeps,
  round: Round,
): Promise<Confirmed> => {
  const theirs = async (cid: string): Promise<Theirs | undefined> => {
    round.advance()
    const answer = await calls.entryOf(cid)
    if (answer.kind === 'entry') return answer
    if (answer.status === 404) return undefined
    throw refusedBy(answer)
  }
  const onlyOurs: Compared['onlyOurs'][number][] = []
  for (const own of compared.onlyOurs.slice(0, shownMax)) {
    if (round.signal.aborted) break
    if ((await theirs(own.cid)) === undefined) onlyOurs.push(own)
  }
  const onlyTheirs = new Map<string, Theirs>()
  for (const cid of compared.onlyTheirs.slice(0, shownMax)) {
    if (round.signal.aborted) break
    const found = await theirs(cid)
    if (found !== undefined) onlyTheirs.set(cid, found)
  }
  return { onlyOurs, onlyTheirs }
}

/** Leaves out what has become ours meanwhile, and what we asked for without an answer yet. */
const unlessOurs = async (
  sql: Queryable,
  theirs: Confirmed['onlyTheirs'],
): Promise<Confirmed['onlyTheirs']> => {
  const rows = await ownOf(sql, [...theirs.values()])
  const cids = new Map(rows.map(({ id, cid }) => [id, cid]))
  const isOurs = (cid: string, id: string) => cids.has(id) && (cids.get(id) ?? cid) === cid
  return new Map([...theirs].filter(([cid, { requestId }]) => !isOurs(cid, requestId)))
}

const byKey = async (tx: Queryable, found: Confirmed): Promise<readonly Difference[]> => {
  const ids = textArray(found.onlyOurs.map(({ id }) => id))
  const rows = await tx<{ id: string; key: string }[]>`
    select e.id, e.key from unnest(${ids}::text::uuid[]) as own(id)
      cross join lateral (select id, key from dict_entries where id = own.id limit 1) e
    where e.key is not null`
  const all = new Map<string, Difference>(
    rows.map(({ id, key }) => [key, { key, entryId: id, theirs: null, kept: null }]),
  )
  for (const theirs of found.onlyTheirs.values()) {
    const { key } = theirs.entry
    all.set(key, { key, entryId: all.get(key)?.entryId ?? null, theirs, kept: null })
  }
  return [...all.values()]
}
