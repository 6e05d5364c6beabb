import { z } from 'zod'
import type { Client } from '#src/platform/database/index.ts'
import { eachAlone, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import { type Changed, type DirectoryList, type Reading, readChanges } from './lists.ts'

/** A version of an item that could not be received, how often that was tried, and since when. */
type Failing = {
  readonly id: string
  readonly modifiedMs: number
  readonly tries: number
  readonly sinceMs: number
  /** Another item was stored after this one had failed; absent: not yet, so that the cause may be common to all. */
  readonly isAlone?: boolean
  /** We do not try it again. */
  readonly isOver: boolean
}

/** How far a list has been read, and what failed there. */
type Place = { readonly until: Date; readonly failing: readonly Failing[] }

const uuid = z.uuid()

/** We pass over an item that alone failed so often and for so long. */
const triesMax = 20
const triedMs = 3_600_000
/** We count the failures of so many items at once; further ones wait until these are over. */
const failingMax = 1_000
/** How long we remember an item that was passed over, once the list is no longer read for it. */
const searchedMs = 31 * dayMs

/**
 * Reads what has changed in a list since it was last read, each item by itself, and stores how far it has read: no
 * further than the first item that failed, so that the next round reads that one again.
 *
 * @param receive returns whether the item was news, and is stored
 * @throws DirectoryAwayError: the rest is read the next time
 */
export const followList = async <T extends Changed>(
  { name, ask }: DirectoryList<T>,
  receive: (item: T) => Promise<boolean>,
  {
    sql,
    logger,
    now,
    overlapMs,
    firstLookMs,
    pagesMax,
    idOf,
  }: {
    readonly sql: Client
    readonly logger: Logger
    readonly now: () => Date
    /** We begin so long before where we stopped, to find what the list shows late. */
    readonly overlapMs: number
    /** How far the first look goes back; undefined: to the beginning of the list. */
    readonly firstLookMs?: number
    readonly pagesMax?: number
    /** The name of an item in the log, by which we also recognise it. */
    readonly idOf: (item: T) => string
  },
  round?: Round,
): Promise<void> => {
  const nowMs = now().getTime()
  const before = await placeIn(sql, name)
  const readMs = before?.until.getTime()
  const firstMs = firstLookMs === undefined ? undefined : nowMs - firstLookMs
  const fromMs = readMs === undefined ? firstMs : readMs - overlapMs
  const failures = createFailures(before?.failing ?? [], nowMs)
  await readChanges(ask, fromMs === undefined ? undefined : new Date(fromMs), {
    nowMs,
    logger,
    pagesMax,
    round,
    take: async (items, until) => {
      const all = items.map((item) => ({ item, id: idOf(item), modifiedMs: item.modifiedMs }))
      const wanted = all.filter((one) => !failures.isPassed(one))
      const failed = new Set<(typeof all)[number]>()
      const work = async (one: (typeof all)[number]): Promise<void> => {
        const isStored = await receive(one.item)
        failures.forget(one)
        if (isStored) failures.stored()
      }
      await eachAlone(wanted, work, {
        round,
        logger,
        idsOf: ({ id }) => ({ list: name, id }),
        setAside: async (one) => {
          failures.count(one)
          failed.add(one)
        },
      })
      if (round?.signal.aborted) return
      for (const one of failed) {
        if (!failures.isPassed(one)) continue
        const { id } = one
        logger.error({ list: name, id, tries: triesMax }, 'an item of a list is passed over')
      }
      if (until === undefined && failed.size === 0) return
      const untilMs = Math.min(until?.getTime() ?? fromMs ?? 0, failures.heldMs())
      const failing = failures.since(Math.max(untilMs, readMs ?? 0) - overlapMs)
      await keepPlace(sql, name, { until: new Date(untilMs), failing })
    },
  })
}

/**
 * Reads what may be listed since `from`. Where that is too much for one round, reads what was passed over on the way, and
 * from where the list was followed to, so that the next one comes further: what else is before was received.
 *
 * @returns whether nothing else can be listed
 */
export const searchList = async <T extends Changed>(
  sql: Client,
  { name, ask }: Pick<DirectoryList<T>, 'name' | 'ask'>,
  {
    from,
    overlapMs,
    isKnown,
    ...options
  }: {
    readonly from: Date
    readonly overlapMs: number
    /** Whether we have the item of that id, so that it is not what is sought. */
    readonly isKnown: (id: string) => Promise<boolean>
  } & Reading<T>,
): Promise<boolean> => {
  let readMs = from.getTime()
  let isReadable = true
  const reading: typeof ask = async (query) => {
    const answer = await ask(query)
    // An unreadable item may be the one we look for, unless we know its id.
    for (const id of answer.kind === 'page' ? answer.page.unreadable : []) {
      isReadable &&= uuid.safeParse(id).success && (await isKnown(id))
    }
    return answer
  }
  const read = (since: Date, pagesMax = options.pagesMax): Promise<boolean> =>
    readChanges(reading, since, {
      ...options,
      pagesMax,
      take: (items, until) => {
        readMs = Math.max(readMs, until?.getTime() ?? 0)
        return options.take(items, until)
      },
    })
  if (await read(from)) return isReadable
  const { until, failing } = (await placeIn(sql, name)) ?? { until: new Date(0), failing: [] }
  const followed = new Date(until.getTime() - overlapMs)
  if (followed <= from) return false
  const passed = failing.filter(({ isOver }) => isOver).map(({ modifiedMs }) => modifiedMs)
  for (const ms of passed.toSorted((one, other) => one - other)) {
    if (ms >= readMs && ms < followed.getTime()) await read(new Date(ms), 1)
  }
  return (await read(followed)) && isReadable
}

type Version = Pick<Failing, 'id' | 'modifiedMs'>

/** Counts how often each version of an item failed, over rounds and restarts. */
const createFailures = (before: readonly Failing[], nowMs: number) => {
  const keyOf = ({ id, modifiedMs }: Version): string => `${modifiedMs} ${id}`
  const all = new Map(before.map((one) => [keyOf(one), one]))
  let heldMs = Number.POSITIVE_INFINITY
  const counted = (): number => [...all.values()].filter(({ isOver }) => !isOver).length
  return {
    isPassed: (version: Version): boolean => all.get(keyOf(version))?.isOver === true,
    forget: (version: Version): boolean => all.delete(keyOf(version)),
    /** What has failed before this failed alone. */
    stored: (): void => {
      for (const [key, one] of all) if (!one.isAlone) all.set(key, { ...one, isAlone: true })
    },
    count: ({ id, modifiedMs }: Version): void => {
      const key = keyOf({ id, modifiedMs })
      const known = all.get(key)
      const isCounted = known !== undefined || counted() < failingMax
      const tries = Math.min((known?.tries ?? 0) + 1, triesMax)
      const sinceMs = known?.sinceMs ?? nowMs
      const isAlone = known?.isAlone ?? false
      const isOver = isAlone && tries === triesMax && nowMs - sinceMs >= triedMs
      if (isCounted) all.set(key, { id, modifiedMs, tries, sinceMs, isAlone, isOver })
      if (!isOver) heldMs = Math.min(heldMs, modifiedMs - 1)
    },
    /** The last moment before the first item that failed in this round and will be tried again. */
    heldMs: (): number => heldMs,
    /** The items that are still read for, and those passed over that somebody may search for. */
    since: (fromMs: number): readonly Failing[] => {
      const kept = [...all.values()]
      const searched = kept.filter(
        ({ isOver, modifiedMs }) =>
          isOver && modifiedMs < fromMs && modifiedMs >= nowMs - searchedMs,
      )
      return [
        ...searched.slice(-failingMax),
        ...kept.filter(({ modifiedMs }) => modifiedMs >= fromMs),
      ]
    },
  }
}

const placeIn = async (sql: Client, list: string): Promise<Place | undefined> => {
  const [row] = await sql<{ until: Date; failing: string | null }[]>`
    select read_until as until, failing from dict_lists where list = ${list}`
  return row && { until: row.until, failing: JSON.parse(row.failing ?? '[]') as Failing[] }
}

const keepPlace = async (sql: Client, list: string, { until, failing }: Place): Promise<void> => {
  const counts = failing.length === 0 ? null : JSON.stringify(failing)
  await sql`
    insert into dict_lists (list, read_until, failing) values (${list}, ${until}, ${counts})
    on conflict (list) do update
      set read_until = greatest(dict_lists.read_until, excluded.read_until),
        failing = excluded.failing`
}
