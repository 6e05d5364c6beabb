import type { DirectoryPage } from '#codecs/dict'
import type { Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { DirectoryAwayError, listBytesMax } from './exchange.ts'
import type { Refused } from './wire.ts'

/** What of a list is asked for. */
export type ListQuery = {
  /** Changed then or later. */
  readonly modifiedAfter: Date | undefined
  readonly cursor?: string | undefined
}

/** 200 may be asked for; a page of the longest items stays below {@link listBytesMax}. */
const limitMax = 100

/** Source: DICT API, parameters that its lists share. */
export const listRequest = (
  base: string,
  ispb: string,
  { modifiedAfter, cursor }: ListQuery,
  more: Readonly<Record<string, string>>,
): { readonly path: string; readonly bytesMax: number } => {
  const query = new URLSearchParams({
    ...more,
    Participant: ispb,
    Limit: String(limitMax),
    ...(modifiedAfter === undefined ? {} : { ModifiedAfter: modifiedAfter.toISOString() }),
    ...(cursor === undefined ? {} : { Cursor: cursor }),
  })
  return { path: `${base}?${query}`, bytesMax: listBytesMax }
}

export type Changed = { readonly modifiedMs: number }

export type DirectoryList<T> = {
  /** Under which it is kept until when it has been read. */
  readonly name: string
  /** Tells what has changed since a moment, in the order of the last change. */
  readonly ask: (
    query: ListQuery,
  ) => Promise<{ readonly kind: 'page'; readonly page: DirectoryPage<T> } | Refused>
}

/** A round ends here; the next one goes on where it stopped. */
const pagesMaxDefault = 50

export type Reading<T> = {
  readonly take: (items: readonly T[], until: Date | undefined) => Promise<void>
  readonly nowMs: number
  readonly logger: Logger
  /** Each page is progress; where it ends, what is behind is not read. */
  readonly round?: Pick<Round, 'signal' | 'advance'> | undefined
  readonly pagesMax?: number | undefined
}

/**
 * Reads a list page by page, in the order of the last change.
 *
 * @param take stores a page with the moment that the next round begins at
 * @param nowMs no change is later, whatever the directory says
 * @returns whether it was read to its end: else what was not found may be behind
 * @throws DirectoryAwayError: what was taken stays taken
 */
export const readChanges = async <T extends Changed>(
  ask: DirectoryList<T>['ask'],
  from: Date | undefined,
  { take, nowMs, logger, round, pagesMax = pagesMaxDefault }: Reading<T>,
): Promise<boolean> => {
  let query: ListQuery = { modifiedAfter: from }
  for (let pages = 0; pages < pagesMax && round?.signal.aborted !== true; pages++) {
    const answer = await ask(query)
    round?.advance()
    if (answer.kind === 'refused') {
      throw new DirectoryAwayError('status', `a list is answered ${answer.status} ${answer.code}`)
    }
    const { items, unreadable, hasMore } = answer.page
    if (unreadable.length > 0)
      logger.warn({ unreadable }, 'a list of the directory has items that cannot be read')
    const lastMs = items.reduce((last, { modifiedMs }) => Math.max(last, modifiedMs), 0)
    const before = query.modifiedAfter?.getTime() ?? 0
    const untilMs = Math.min(lastMs, nowMs)
    await take(items, untilMs > before ? new Date(untilMs) : undefined)
    if (!hasMore) return true
    const next = nextQuery(query, answer.page, untilMs)
    if (next === undefined) {
      logger.warn({}, 'a list of the directory does not go on: what is behind is not read')
      return false
    }
    query = next
  }
  return false
}

/**
 * By the moment of the last item; within one moment by the cursor. A cursor names a place, and what changes while the list
 * is read leaves its place: others slip past. Undefined: the page would be the same again.
 */
const nextQuery = (
  { modifiedAfter, cursor: before }: ListQuery,
  { cursor, items, unreadable }: DirectoryPage<Changed>,
  untilMs: number,
): ListQuery | undefined => {
  const fromMs = modifiedAfter?.getTime() ?? 0
  if (untilMs > fromMs) return { modifiedAfter: new Date(untilMs) }
  if (cursor !== undefined) return cursor === before ? undefined : { modifiedAfter, cursor }
  // Where a page is full of one moment there is no way but past it.
  const isFull = items.length + unreadable.length >= limitMax
  return isFull ? { modifiedAfter: new Date(fromMs + 1) } : undefined
}
