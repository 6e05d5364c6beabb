import { expect, test } from 'bun:test'
import { limitedLog } from '../../src/cards/networks/limited-log.ts'
import { createShared, createTurns } from '../../src/cards/told.ts'

/* What networks tell of their own accord leaves the database, and the log, to others. */

test('four are done at once, whatever network they are of, and the others follow', async () => {
  const inTurn = createTurns()
  const ends: (() => void)[] = []
  const results = Array.from({ length: 10 }, (_, index) =>
    inTurn(async () => {
      await new Promise<void>((resolve) => ends.push(resolve))
      return index
    }),
  )
  await Bun.sleep(5)
  expect(ends).toHaveLength(4)
  for (let ended = 0; ended < 10; ended++) {
    ends[ended]?.()
    await Bun.sleep(5)
    expect(ends).toHaveLength(Math.min(10, ended + 5))
  }
  expect(await Promise.all(results)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('one that fails keeps none of the others from its turn', async () => {
  const inTurn = createTurns()
  const results = Array.from({ length: 6 }, (_, index) =>
    inTurn(async () => {
      if (index < 4) throw new Error('the database is away')
      return index
    }),
  )
  const kinds = (await Promise.allSettled(results)).map(({ status }) => status)
  expect(kinds.filter((kind) => kind === 'fulfilled')).toHaveLength(2)
})

test('the same is done once while it is under way, and again after that', async () => {
  const shared = createShared<number>()
  let done = 0
  const work = async () => {
    await Bun.sleep(5)
    return ++done
  }
  const asked = ['a', 'a', 'b', 'a'].map((key) => shared(key, work))
  expect(await Promise.all(asked)).toEqual([1, 1, 2, 1])
  expect(await shared('a', work)).toBe(3)
})

test('the log shows some of a flood of one network, and what another tells beside it', () => {
  const lines: string[] = []
  const show = (fields: Readonly<Record<string, unknown>>) =>
    void lines.push(String(fields['network']))
  const log = limitedLog({ warn: show, error: show })
  for (let line = 0; line < 500; line++) log.warn({ network: 'neta' }, 'told')
  log.error({ network: 'netb' }, 'not kept')
  // The second may end meanwhile.
  expect(lines.filter((name) => name === 'neta').length).toBeWithin(20, 41)
  expect(lines).toContain('netb')
})
