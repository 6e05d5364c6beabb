import type { DirectoryPage } from '#codecs/dict'
import type { Client } from '#src/platform/database/index.ts'
import { eachAlone, type Round } from '#src/platform/jobs/index.ts'
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

type Changed = { readonly modifiedMs: number }

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

/**
 * Reads a list page by page, in the order of the last change.
 *
 * @param take stores a page with the moment that the next round begins at
 * @param nowMs no change is later, whatever the directory says
 * @throws DirectoryAwayError: what was taken stays taken
 */
export const readChanges = async <T extends Changed>(
  ask: DirectoryList<T>['ask'],
  from: Date | undefined,
  {
    take,
    nowMs,
    logger,
    signal,
    pagesMax = pagesMaxDefault,
  }: {
    readonly take: (items: readonly T[], until: Date | undefined) => Promise<void>
    readonly nowMs: number
    readonly logger: Logger
    readonly signal?: AbortSignal | undefined
    readonly pagesMax?: number | undefined
  },
): Promise<void> => {
  let query: ListQuery = { modifiedAfter: from }
  for (let pages = 0; pages < pagesMax && signal?.aborted !== true; pages++) {
    const answer = await ask(query)
    if (answer.kind === 'refused') {
      throw new DirectoryAwayError('status', `a list is answered ${answer.status} ${answer.code}`)
    }
    const { items, unreadable, hasMore } = answer.page
    if (unreadable > 0)
      logger.warn({ unreadable }, 'a list of the directory has items that cannot be read')
    const lastMs = items.reduce((last, { modifiedMs }) => Math.max(last, modifiedMs), 0)
    const before = query.modifiedAfter?.getTime() ?? 0
    const untilMs = Math.min(lastMs, nowMs)
    await take(items, untilMs > before ? new Date(untilMs) : undefined)
    if (!hasMore) return
    const next = nextQuery(query, answer.page, untilMs)
    if (next === undefined) {
      logger.warn({}, 'a list of the directory does not go on: what is behind is not read')
      return
    }
    query = next
  }
}

/** By its cursor, else by the moment of the last item. Undefined: the page would be the same again. */
const nextQuery = (
  { modifiedAfter, cursor: before }: ListQuery,
  { cursor, items, unreadable }: DirectoryPage<Changed>,
  untilMs: number,
): ListQuery | undefined => {
  if (cursor !== undefined) return cursor === before ? undefined : { modifiedAfter, cursor }
  const fromMs = modifiedAfter?.getTime() ?? 0
  if (untilMs > fromMs) return { modifiedAfter: new Date(untilMs) }
  // Where a page is full of one moment there is no way but past it.
  const isFull = items.length + unreadable >= limitMax
  return isFull ? { modifiedAfter: new Date(fromMs + 1) } : undefined
}

/**
 * Reads what has changed in a list since it was last read, each item by itself, and keeps until when it has been read.
 *
 * @throws DirectoryAwayError: the rest is read the next time
 */
export const followList = async <T extends Changed>(
  { name, ask }: DirectoryList<T>,
  receive: (item: T) => Promise<unknown>,
  {
    sql,
    logger,
    now,
    overlapMs,
    firstLookMs,
    pagesMax,
    idsOf,
  }: {
    readonly sql: Client
    readonly logger: Logger
    readonly now: () => Date
    /** It is read again from so long before: what it shows late is found all the same. */
    readonly overlapMs: number
    /** How far the first look goes back; undefined: to its beginning. */
    readonly firstLookMs?: number
    readonly pagesMax?: number
    readonly idsOf: (item: T) => Readonly<Record<string, string>>
  },
  round?: Round,
): Promise<void> => {
  const nowMs = now().getTime()
  const readMs = (await readUntil(sql, name))?.getTime()
  const firstMs = firstLookMs === undefined ? undefined : nowMs - firstLookMs
  const fromMs = readMs === undefined ? firstMs : readMs - overlapMs
  await readChanges(ask, fromMs === undefined ? undefined : new Date(fromMs), {
    nowMs,
    logger,
    pagesMax,
    signal: round?.signal,
    take: async (items, until) => {
      await eachAlone(items, receive, { round, logger, idsOf })
      if (round?.signal.aborted) return
      if (until !== undefined) await keepReadUntil(sql, name, until)
      round?.advance()
    },
  })
}

const readUntil = async (sql: Client, list: string): Promise<Date | undefined> => {
  const [row] = await sql<{ until: Date }[]>`
    select read_until as until from dict_lists where list = ${list}`
  return row?.until
}

const keepReadUntil = async (sql: Client, list: string, until: Date): Promise<void> => {
  await sql`
    insert into dict_lists (list, read_until) values (${list}, ${until})
    on conflict (list) do update
      set read_until = greatest(dict_lists.read_until, excluded.read_until)`
}
