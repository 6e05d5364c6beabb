import type { Client } from '#src/platform/database/index.ts'
import { createJob, eachAlone, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { readChanges } from '../lists.ts'
import type { DisputeList } from './calls.ts'
import type { DisputeKind } from './domain.ts'
import type { Show } from './show.ts'
import { keepReadUntil, openDisputes, readUntil, touchDispute } from './store.ts'

/** A list is read again from before where it was read to: what it shows late is found all the same. */
const overlapMs = 600_000
const retryEveryMsMax = 10_000
const retriedMax = 100

export type PollDeps<C> = {
  readonly sql: Client
  readonly show: Show<C>
  readonly logger: Logger
  readonly now: () => Date
}

/** Reads what has changed in a list, each change once. */
export const pollList = async <C>(
  { name, ask }: DisputeList<C>,
  { sql, show, logger, now }: PollDeps<C>,
  round?: Round,
): Promise<void> => {
  const until = await readUntil(sql, name)
  const from = until && new Date(until.getTime() - overlapMs)
  await readChanges(ask, from, {
    nowMs: now().getTime(),
    logger,
    signal: round?.signal,
    take: async (items, readTo) => {
      const ours = items.flatMap(({ seen }) => seen ?? [])
      if (ours.length < items.length) logger.warn({ list: name }, 'a list shows what is not ours')
      await eachAlone(ours, (seen) => sql.begin((tx) => show(tx, seen)), {
        round,
        logger,
        idsOf: ({ directoryId }) => ({ list: name, dispute: directoryId }),
      })
      if (round?.signal.aborted) return
      if (readTo !== undefined) await keepReadUntil(sql, name, readTo)
    },
  })
}

/** @param before those that were tried since then are left alone */
export const retryDisputes = async (
  { sql, logger }: Pick<PollDeps<unknown>, 'sql' | 'logger'>,
  { kind, retry }: Pick<Polled, 'kind' | 'retry'>,
  before: Date,
  round?: Round,
): Promise<void> =>
  eachAlone(await openDisputes(sql, kind, before, retriedMax), ({ id }) => retry(id), {
    round,
    logger,
    idsOf: ({ id }) => ({ dispute: id }),
    setAside: ({ id }) => touchDispute(sql, id),
  })

/** What a kind of dispute needs of the whole fleet. */
export type Polled = {
  readonly kind: DisputeKind
  readonly poll: (round?: Round) => Promise<void>
  readonly retry: (id: string) => Promise<void>
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
