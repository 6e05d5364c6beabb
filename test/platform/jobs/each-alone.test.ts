import { expect, test } from 'bun:test'
import { eachAlone } from '#src/platform/jobs/index.ts'

const idsOf = (id: string) => ({ id })

test('one that fails is logged and set aside, and those behind it are done', async () => {
  const [done, logged, aside]: string[][] = [[], [], []]
  let advanced = 0
  await eachAlone(
    ['a', 'b', 'c'],
    async (id) => {
      if (id === 'a') throw new Error('never')
      done?.push(id)
    },
    {
      idsOf,
      logger: { error: (fields: unknown) => logged?.push((fields as { id: string }).id) } as never,
      setAside: async (id) => aside?.push(id),
      round: { signal: new AbortController().signal, advance: () => advanced++ },
    },
  )
  expect([done, logged, aside, advanced]).toEqual([['b', 'c'], ['a'], ['a'], 3])
})

test('the round ends where one cannot be set aside, or when it is lost', async () => {
  const logger = { error: () => undefined } as never
  const done: string[] = []
  const away = eachAlone(['a', 'b'], () => Promise.reject(new Error('fails')), {
    idsOf,
    logger,
    setAside: (id) => Promise.reject(new Error(`${id} stays`)),
  })
  await expect(away).rejects.toThrow('a stays')
  const lost = new AbortController()
  await eachAlone(
    ['a', 'b'],
    async (id) => {
      done.push(id)
      lost.abort()
    },
    { idsOf, logger, round: { signal: lost.signal, advance: () => undefined } },
  )
  expect(done).toEqual(['a'])
})

test('one that lacks a right, as three in a row do, holds up none behind it', async () => {
  const [done, aside]: string[][] = [[], []]
  const denied = Object.assign(new Error('permission denied'), { code: '42501' })
  await eachAlone(
    ['a', 'b', 'c', 'd'],
    (id) => (id === 'd' ? Promise.resolve(done?.push(id)) : Promise.reject(denied)),
    {
      idsOf,
      logger: { error: () => undefined } as never,
      setAside: async (id) => aside?.push(id),
    },
  )
  expect([done, aside]).toEqual([['d'], ['a', 'b', 'c']])
})

test('a statement of one item that is broken off each time holds up none behind it', async () => {
  const [done, aside]: string[][] = [[], []]
  const cancelled = Object.assign(new Error('canceling statement'), { code: '57014' })
  const round = eachAlone(
    ['a', 'b', 'c', 'd', 'e'],
    async (id) => {
      if (id === 'a' || id === 'b' || id === 'd') throw cancelled
      done?.push(id)
    },
    {
      idsOf,
      logger: { error: () => undefined } as never,
      setAside: async (id) => aside?.push(id),
    },
  )
  await expect(round).rejects.toBe(cancelled)
  expect([done, aside]).toEqual([['c', 'e'], []])
})

test('the round ends where the database is away: no item is set aside for that', async () => {
  const tried: string[] = []
  const aside: string[] = []
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' })
  const round = eachAlone(
    ['a', 'b', 'c', 'd'],
    (id) => {
      tried.push(id)
      return Promise.reject(deadlock)
    },
    {
      idsOf,
      logger: { error: () => undefined } as never,
      setAside: async (id) => aside.push(id),
    },
  )
  await expect(round).rejects.toBe(deadlock)
  expect([tried, aside]).toEqual([['a', 'b', 'c'], []])
})
