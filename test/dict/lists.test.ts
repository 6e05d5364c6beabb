/** Lists of the directory, read page by page, whatever it says of them. */
import { expect, test } from 'bun:test'
import type { DirectoryPage } from '#codecs/dict'
import type { Logger } from '#src/platform/observe/index.ts'
import { type ListQuery, readChanges } from '../../src/dict/lists.ts'
import { quietLogger } from '../support/database.ts'

type Item = { readonly modifiedMs: number }

const nowMs = 1_000_000
const page = (moments: readonly number[], hasMore: boolean, cursor?: string) => ({
  items: moments.map((modifiedMs) => ({ modifiedMs })),
  unreadable: [],
  hasMore,
  cursor,
})

/** @returns what was taken, and until when; what was asked */
const read = async (
  answer: (query: ListQuery, n: number) => DirectoryPage<Item>,
  from?: number,
) => {
  const asked: (number | string | undefined)[] = []
  const taken: (readonly [items: number, until: number | undefined])[] = []
  const isWhole = await readChanges<Item>(
    async (query) => {
      asked.push(query.cursor ?? query.modifiedAfter?.getTime())
      return { kind: 'page', page: answer(query, asked.length - 1) }
    },
    from === undefined ? undefined : new Date(from),
    {
      nowMs,
      logger: quietLogger,
      take: async (items, until) => {
        taken.push([items.length, until?.getTime()])
      },
    },
  )
  return { asked, taken, isWhole }
}

test('goes on by the moment of the last item, and within one moment by the cursor', async () => {
  const byMoment = await read((_, n) => page([n * 10 + 1, n * 10 + 2], n < 2), 1)
  expect(byMoment.asked).toEqual([1, 2, 12])
  expect(byMoment.taken.map(([, until]) => until)).toEqual([2, 12, 22])
  const byCursor = await read((_, n) => page([5], n < 2, `c${n}`))
  expect(byCursor.asked).toEqual([undefined, 5, 'c1'])
})

test('ends where a page would be the same again', async () => {
  expect(await read(() => page([7, 7], true), 7)).toMatchObject({ asked: [7], isWhole: false })
  expect((await read(() => page([7], true, 'same'), 7)).asked).toEqual([7, 'same'])
})

test('goes past a page that is full of one moment', async () => {
  const full = Array.from({ length: 100 }, () => 7)
  const { asked } = await read((_, n) => (n === 0 ? page(full, true) : page([9], false)), 7)
  expect(asked).toEqual([7, 8])
})

test('is never read further than now', async () => {
  const { asked, taken } = await read(() => page([3, Date.parse('2990-01-01')], true), 1)
  expect(asked).toEqual([1, nowMs])
  expect(taken).toEqual([
    [2, nowMs],
    [2, undefined],
  ])
})

test('is read in so many pages at most', async () => {
  const { asked, isWhole } = await read((_, n) => page([n + 1], true), 0)
  expect([asked.length, isWhole]).toEqual([50, false])
  expect((await read((_, n) => page([n + 1], n < 2), 0)).isWhole).toBe(true)
})

test('names in the log what of it cannot be read', async () => {
  const lines: unknown[] = []
  const logger = { ...quietLogger, warn: (fields: unknown) => lines.push(fields) } as Logger
  await readChanges<Item>(
    async () => ({ kind: 'page', page: { ...page([1], false), unreadable: ['one', ''] } }),
    undefined,
    { nowMs, logger, take: async () => {} },
  )
  expect(lines).toEqual([{ unreadable: ['one', ''] }])
})

test('is progress page by page, and ends where its round does', async () => {
  let advances = 0
  const lost = new AbortController()
  const asked: unknown[] = []
  await readChanges<Item>(
    async (query) => {
      asked.push(query)
      return { kind: 'page', page: page([asked.length], true) }
    },
    new Date(0),
    {
      nowMs,
      logger: quietLogger,
      round: { signal: lost.signal, advance: () => ++advances === 3 && lost.abort() },
      take: async () => {},
    },
  )
  expect([asked.length, advances]).toEqual([3, 3])
})

test('that is refused throws', async () => {
  const refused = readChanges<Item>(
    async () => ({ kind: 'refused', status: 429, code: 'RateLimited', retryAfterMs: undefined }),
    undefined,
    { nowMs, logger: quietLogger, take: async () => {} },
  )
  await expect(refused).rejects.toThrow('429')
})
