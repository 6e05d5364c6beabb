import type { DirectoryPage } from '#codecs/dict'
import type { Client } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { type ListQuery, readChanges } from '../lists.ts'
import type { Refused } from '../wire.ts'
import type { DisputeKind, Seen } from './domain.ts'
import type { Show } from './show.ts'
import { keepReadUntil, openDisputes, readUntil } from './store.ts'

/** A list is read again from before where it was read to: what it shows late is found all the same. */
const overlapMs = 600_000
const retryEveryMsMax = 10_000
const retriedMax = 100

type Item = { readonly modifiedMs: number }

export type PolledList<C, T extends Item> = {
  /** One of a fixed set. */
  readonly name: string
  readonly ask: (
    query: ListQuery,
  ) => Promise<{ readonly kind: 'page'; readonly page: DirectoryPage<T> } | Refused>
  /** Undefined: we are no party of it. */
  readonly seenOf: (item: T) => Seen<C> | undefined
}

export type PollDeps<C> = {
  readonly sql: Client
  readonly show: Show<C>
  readonly logger: Logger
  readonly now: () => Date
}

/** Reads what has changed in a list, each change once. */
export const pollList = async <C, T extends Item>(
  { name, ask, seenOf }: PolledList<C, T>,
  { sql, show, logger, now }: PollDeps<C>,
  signal?: AbortSignal,
): Promise<void> => {
  const until = await readUntil(sql, name)
  const from = until && new Date(until.getTime() - overlapMs)
  await readChanges(ask, from, {
    ...{ nowMs: now().getTime(), logger, signal },
    take: async (items, readTo) => {
      for (const item of items) {
        const seen = seenOf(item)
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

/** Reads lists for the whole fleet. */
export const createPoll = (
  kind: DisputeKind,
  poll: (signal: AbortSignal) => Promise<void>,
  everyMs: number,
  { sql, logger }: Pick<PollDeps<unknown>, 'sql' | 'logger'>,
): Job =>
  createJob({
    ...{ name: `directory ${kind}s`, everyMs, fleet: { sql }, logger },
    run: (round) => poll(round.signal),
  })

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

/**
 * Tells the directory again what it has not answered.
 *
 * @param quietMs for so long one is left to whoever tells the directory now
 */
export const createDisputeRetries = (
  sql: Client,
  kind: DisputeKind,
  retry: (id: string) => Promise<void>,
  quietMs: number,
  logger: Logger,
): Job =>
  createJob({
    ...{ name: `unanswered directory ${kind}s`, fleet: { sql }, logger },
    everyMs: Math.min(quietMs, retryEveryMsMax),
    run: (round) => retryDisputes(sql, kind, retry, new Date(Date.now() - quietMs), round),
  })
