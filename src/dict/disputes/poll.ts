import type { Client } from '#src/platform/database/index.ts'
import { createJob, eachAlone, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { followList } from '../following.ts'
import { type DisputeList, overlapMs } from './calls.ts'
import type { DisputeKind } from './domain.ts'
import type { Show } from './show.ts'
import { openDisputes, touchDispute } from './store.ts'

const retryEveryMsMax = 10_000
const retriedMax = 100

export type PollDeps<C> = {
  readonly sql: Client
  readonly show: Show<C>
  readonly logger: Logger
  readonly now: () => Date
}

/** Reads what has changed in a list, each change once. */
export const pollList = <C>(
  list: DisputeList<C>,
  { show, ...deps }: PollDeps<C>,
  round?: Round,
): Promise<void> => {
  const { sql, logger } = deps
  const { name } = list
  return followList(
    list,
    async ({ seen }) => {
      if (seen === undefined) logger.warn({ list: name }, 'a list shows what is not ours')
      else await sql.begin((tx) => show(tx, seen))
    },
    { ...deps, overlapMs, idOf: ({ seen }) => seen?.directoryId ?? '' },
    round,
  )
}

/** @param before those that were tried since then are left alone */
export const retryDisputes = async (
  { sql, logger }: Pick<PollDeps<unknown>, 'sql' | 'logger'>,
  { kind, retry }: Pick<Polled, 'kind' | 'retry'>,
  before: Date,
  round?: Round,
): Promise<void> =>
  eachAlone(await openDisputes(sql, kind, before, retriedMax), ({ id }) => retry(id, round), {
    round,
    logger,
    idsOf: ({ id }) => ({ dispute: id }),
    setAside: ({ id }) => touchDispute(sql, id),
  })

/** What a kind of dispute needs of the whole fleet. */
export type Polled = {
  readonly kind: DisputeKind
  readonly poll: (round?: Round) => Promise<void>
  readonly retry: (id: string, round?: Round) => Promise<void>
}

/**
 * Reads the lists of a kind, and tells the directory again what it has not answered.
 *
 * @param quietMs for so long one is left to whoever tells the directory now
 */
export const disputeJobs = (
  disputes: Polled,
  [pollMs, quietMs]: readonly [pollMs: number, quietMs: number],
  { sql, logger }: Pick<PollDeps<unknown>, 'sql' | 'logger'>,
): readonly Job[] => {
  const common = { sql, fleet: { sql }, logger }
  return [
    createJob({
      ...common,
      name: `directory ${disputes.kind}s`,
      everyMs: pollMs,
      run: disputes.poll,
    }),
    createJob({
      ...common,
      name: `unanswered directory ${disputes.kind}s`,
      everyMs: Math.min(quietMs, retryEveryMsMax),
      run: (round) => retryDisputes(common, disputes, new Date(Date.now() - quietMs), round),
    }),
  ]
}
