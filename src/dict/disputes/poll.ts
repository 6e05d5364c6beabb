import type { Client } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { readChanges } from '../lists.ts'
import type { DisputeList } from './calls.ts'
import type { DisputeKind } from './domain.ts'
import type { Show } from './show.ts'
import { keepReadUntil, openDisputes, readUntil } from './store.ts'

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
  signal?: AbortSignal,
): Promise<void> => {
  const until = await readUntil(sql, name)
  const from = until && new Date(until.getTime() - overlapMs)
  await readChanges(ask, from, {
    nowMs: now().getTime(),
    logger,
    signal,
    take: async (items, readTo) => {
      for (const { seen } of items) {
        if (seen === undefined) logger.warn({ list: name }, 'a list shows what is not ours')
        else {
          // What cannot be stored of one stops no other.
          await sql
            .begin((tx) => show(tx, seen))
            .catch((err: unknown) => logger.error({ err, list: name }, 'an item is not stored'))
        }
      }
      if (readTo !== undefined) await keepReadUntil(sql, name, readTo)
    },
  })
}

/** @param before those that were tried since then are left alone */
export const retryDisputes = async (
  sql: Client,
  kind: DisputeKind,
  retry: (id: string) => Promise<void>,
  before: Date,
  round?: Round,
): Promise<void> => {
  for (const { id } of await openDisputes(sql, kind, before, retriedMax)) {
    if (round?.signal.aborted) return
    await retry(id)
    round?.advance()
  }
}

/** What a kind of dispute needs of the whole fleet. */
export type Polled = {
  readonly kind: DisputeKind
  readonly poll: (signal?: AbortSignal) => Promise<void>
  readonly retry: (id: string) => Promise<void>
}

/**
 * Reads the lists of a kind, and tells the directory again what it has not answered.
 *
 * @param quietMs for so long one is left to whoever tells the directory now
 */
export const disputeJobs = (
  { kind, poll, retry }: Polled,
  [pollMs, quietMs]: readonly [pollMs: number, quietMs: number],
  { sql, logger }: Pick<PollDeps<unknown>, 'sql' | 'logger'>,
): readonly Job[] => {
  const common = { fleet: { sql }, logger }
  return [
    createJob({
      ...common,
      name: `directory ${kind}s`,
      everyMs: pollMs,
      run: (round) => poll(round.signal),
    }),
    createJob({
      ...common,
      name: `unanswered directory ${kind}s`,
      everyMs: Math.min(quietMs, retryEveryMsMax),
      run: (round) => retryDisputes(sql, kind, retry, new Date(Date.now() - quietMs), round),
    }),
  ]
}
