/** Lists of the directory, followed over rounds: what fails there is read again, and stops nothing else. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { followList, searchList } from '../../src/dict/following.ts'
import type { DirectoryList } from '../../src/dict/lists.ts'
import { createTestDatabase, quietLogger as logger } from '../support/database.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.close())

type Item = { readonly id: string; readonly modifiedMs: number }

const nowMs = Date.parse('2026-11-27T12:00:00Z')
let laterMs = 0
const minuteMs = 60_000
/** An item of every ten minutes; the last is the youngest. */
const tenMinutely = (count: number): Item[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `c${i}`,
    modifiedMs: nowMs - (count - i) * 10 * minuteMs,
  }))

let listed: readonly Item[] = []
let onReceived: (id: string) => void = () => undefined
let failing: ReadonlySet<string> = new Set()
let failure: Error = new Error('bad item')
const received = new Map<string, number>()
const tried = new Map<string, number>()
const told: { readonly text: string; readonly id: unknown }[] = []

beforeEach(async () => {
  for (const each of [received, tried]) each.clear()
  told.length = 0
  laterMs = 0
  failing = new Set()
  onReceived = () => undefined
  pageItems = Number.POSITIVE_INFINITY
  unreadableIn = undefined
  unreadableId = 'x'
  knownId = undefined
  failure = new Error('bad item')
  await sql`delete from dict_lists`
})

/** What the log says is passed over. */
const passedOver = () => told.filter(({ text }) => text.includes('passed over')).map(({ id }) => id)

const plus = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)

let pageItems = Number.POSITIVE_INFINITY
let unreadableIn: string | undefined
let unreadableId = ''
let knownId: string | undefined
const list: DirectoryList<Item> = {
  name: 'claims_donor',
  ask: async ({ modifiedAfter, cursor = '0' }) => {
    const fromMs = modifiedAfter?.getTime() ?? 0
    const all = listed.filter(({ modifiedMs }) => modifiedMs >= fromMs)
    const end = Number(cursor) + pageItems
    const items = all.slice(Number(cursor), end)
    const hasMore = end < all.length
    const next = hasMore ? String(end) : undefined
    const unreadable = items.some(({ id }) => id === unreadableIn) ? [unreadableId] : []
    return { kind: 'page', page: { items, unreadable, hasMore, cursor: next } }
  },
}

/** A round of a process that knows nothing of the rounds before. */
const follow = () =>
  followList<Item>(
    list,
    async ({ id }) => {
      plus(tried, id)
      if (failing.has(id)) throw failure
      const isNews = !received.has(id)
      plus(received, id)
      onReceived(id)
      return isNews
    },
    {
      sql,
      logger: {
        error: ({ id }: { id?: unknown }, text: string) => told.push({ text, id }),
        warn: () => undefined,
      } as never,
      now: () => new Date(nowMs + laterMs),
      overlapMs: 2 * minuteMs,
      firstLookMs: 31 * 1_440 * minuteMs,
      idOf: ({ id }) => id,
    },
  )

const mark = async (): Promise<number | undefined> => {
  const [row] = await sql<{ until: Date }[]>`select read_until as until from dict_lists`
  return row?.until.getTime()
}

test('what failed is read again until it is received, and the list is not read anew after that', async () => {
  listed = tenMinutely(10)
  failing = new Set(['c2', 'c7'])
  await follow()
  expect([received.size, await mark()]).toEqual([8, (listed[2]?.modifiedMs ?? 0) - 1])
  failing = new Set(['c7'])
  await follow()
  expect([received.get('c2'), await mark()]).toEqual([1, (listed[7]?.modifiedMs ?? 0) - 1])
  failing = new Set()
  await follow()
  expect([received.get('c7'), await mark()]).toEqual([1, listed[9]?.modifiedMs])
  tried.clear()
  await follow()
  expect([...tried.keys()]).toEqual(['c9'])
})

test('while the database is away nothing counts as read, and nothing as a try', async () => {
  listed = tenMinutely(3)
  failing = new Set(['c1'])
  failure = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  for (let i = 0; i < 30; i++) await expect(follow()).rejects.toBe(failure)
  expect([await mark(), told]).toEqual([undefined, []])
  failing = new Set()
  await follow()
  expect([...received.keys()].toSorted()).toEqual(['c0', 'c1', 'c2'])
})

test('what fails twenty times, and for an hour, is passed over, which is told once, until it changes', async () => {
  listed = tenMinutely(5)
  failing = new Set(['c1', 'c3'])
  for (let i = 0; i < 30; i++) await follow()
  laterMs = 60 * minuteMs - 1
  await follow()
  expect([passedOver(), await mark()]).toEqual([[], (listed[1]?.modifiedMs ?? 0) - 1])
  laterMs++
  await follow()
  expect([passedOver(), await mark()]).toEqual([['c1', 'c3'], listed[4]?.modifiedMs])
  await follow()
  expect([tried.get('c1'), tried.get('c3'), passedOver().length]).toEqual([32, 32, 2])
  failing = new Set()
  const later = nowMs - minuteMs
  listed = listed.map((item) => (item.id === 'c3' ? { ...item, modifiedMs: later } : item))
  await follow()
  expect([received.get('c3'), await mark()]).toEqual([1, later])
  // Who looks for one of them may find it: until nobody can.
  expect(await remembered()).toEqual(['c1', 'c3'])
  laterMs = 31 * 1_440 * minuteMs + 60 * minuteMs
  listed = [...listed, { id: 'new', modifiedMs: nowMs + laterMs }]
  await follow()
  expect(await remembered()).toEqual([])
})

test('what was passed over is not tried again while the list is read from before it, however old it is', async () => {
  const [c0, c1, c2] = tenMinutely(3) as [Item, Item, Item]
  listed = [c0, c1, c2, { id: 'beside', modifiedMs: c2.modifiedMs + minuteMs }]
  failing = new Set(['c2'])
  for (let i = 0; i < 20; i++) await follow()
  laterMs = 60 * minuteMs
  await follow()
  laterMs = 32 * 1_440 * minuteMs
  for (let i = 0; i < 20; i++) await follow()
  laterMs += 60 * minuteMs
  await follow()
  expect(tried.get('c2')).toBe(21)
  expect(passedOver()).toEqual(['c2'])
})

test('a cause common to all holds the list, however long: only what alone fails is passed over', async () => {
  const [c0, c1, c2, c3] = tenMinutely(4) as [Item, Item, Item, Item]
  listed = [c0, { ...c1, modifiedMs: c2.modifiedMs - minuteMs }, c2, c3]
  failing = new Set(['c2', 'c3'])
  for (let i = 0; i < 40; i++) {
    laterMs += 60 * minuteMs
    await follow()
  }
  // What was received before is shown again, and is no news: that it does not fail tells nothing of the cause.
  expect([received.get('c1'), passedOver(), await mark()]).toEqual([40, [], c2.modifiedMs - 1])
  // The cause is gone: all but one are received, which then fails alone.
  failing = new Set(['c2'])
  await follow()
  expect([received.has('c3'), passedOver(), await mark()]).toEqual([true, [], c2.modifiedMs - 1])
  await follow()
  expect([passedOver(), await mark()]).toEqual([['c2'], c3.modifiedMs])
})

const remembered = async (): Promise<readonly unknown[]> => {
  const [row] = await sql<{ failing: string | null }[]>`select failing from dict_lists`
  return JSON.parse(row?.failing ?? '[]').map(({ id }: Item) => id)
}

test('one that changes between two tries holds the list no longer as it was', async () => {
  listed = tenMinutely(3)
  failing = new Set(['c0'])
  await follow()
  listed = listed.map((item) => (item.id === 'c0' ? { ...item, modifiedMs: nowMs } : item))
  await follow()
  expect(await mark()).toBe(nowMs - 1)
})

test('one that changes while the list is read hides none behind it, wherever a page ends', async () => {
  listed = tenMinutely(12)
  pageItems = 3
  // What a page ends with, or has before that, goes to the end of the list before the next page is asked for.
  onReceived = (id) => {
    if (id !== 'c2' && id !== 'c7') return
    const moved = listed.filter((item) => item.id === id || item.id === 'c6')
    listed = [
      ...listed.filter((item) => !moved.includes(item)),
      ...moved.map((item) => ({ ...item, modifiedMs: nowMs })),
    ]
  }
  await follow()
  expect(received.size).toBe(12)
})

/** What a search of two pages finds that may be listed since the second item, and whether it read to the end. */
const search = async () => {
  const found: string[] = []
  const isWhole = await searchList(sql, list, {
    from: new Date(nowMs - 95 * minuteMs),
    overlapMs: 2 * minuteMs,
    isKnown: async (id) => id === knownId,
    nowMs,
    logger,
    pagesMax: 2,
    take: async (items) => void found.push(...items.map(({ id }) => id)),
  })
  return { isWhole, found }
}

test('what is listed late, or was passed over, is found by a search although the list was followed past it', async () => {
  listed = tenMinutely(10)
  failing = new Set(['c3'])
  for (let i = 0; i < 20; i++) await follow()
  laterMs = 60 * minuteMs
  await follow()
  expect([await mark(), received.has('c3')]).toEqual([listed[9]?.modifiedMs, false])
  const late = { id: 'late', modifiedMs: nowMs - 55 * minuteMs }
  listed = [...listed, late].toSorted((a, b) => a.modifiedMs - b.modifiedMs)
  const { isWhole, found } = await search()
  expect(isWhole).toBe(true)
  expect(found).toEqual(['c1', 'c2', 'c3', 'c4', 'late', 'c5', 'c6', 'c7', 'c8', 'c9'])
})

test('what was passed over between what a search reads and where the list was followed to is found', async () => {
  listed = tenMinutely(12)
  pageItems = 3
  failing = new Set(['c7', 'c8'])
  for (let i = 0; i < 20; i++) await follow()
  laterMs = 60 * minuteMs
  await follow()
  expect(await mark()).toBe(listed[11]?.modifiedMs)
  const { isWhole, found } = await search()
  expect([isWhole, found.includes('c7'), found.includes('c8')]).toEqual([true, true, true])
})

test('a search that its pages end goes on from where the list was followed to, and else has not read all', async () => {
  listed = tenMinutely(10)
  pageItems = 3
  expect(await search()).toEqual({ isWhole: false, found: ['c1', 'c2', 'c3', 'c3', 'c4', 'c5'] })
  await follow()
  listed = [...listed, { id: 'new', modifiedMs: nowMs }]
  expect(await search()).toEqual({
    isWhole: true,
    found: ['c1', 'c2', 'c3', 'c3', 'c4', 'c5', 'c9', 'new'],
  })
})

test('a search that meets what cannot be read proves nothing, wherever that is, and finds the rest', async () => {
  listed = tenMinutely(10)
  unreadableIn = 'c2'
  expect(await search()).toEqual({
    isWhole: false,
    found: ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9'],
  })
  pageItems = 3
  await follow()
  expect((await search()).isWhole).toBe(false)
  unreadableIn = undefined
  expect((await search()).isWhole).toBe(true)
})

test('what cannot be read, and is known to be something else, leaves a search whole', async () => {
  listed = tenMinutely(10)
  unreadableIn = 'c2'
  unreadableId = crypto.randomUUID()
  expect((await search()).isWhole).toBe(false)
  knownId = unreadableId
  expect((await search()).isWhole).toBe(true)
  // What names no item is not looked up.
  for (const id of ['', 'x']) {
    unreadableId = id
    knownId = id
    expect((await search()).isWhole).toBe(false)
  }
})
