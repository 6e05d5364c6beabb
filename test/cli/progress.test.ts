import { expect, test } from 'bun:test'
import { inProgress, progressLine } from '../../src/cli/progress.ts'

/** What is said of work that is so far after so long. */
const saidOf = async (
  isTerminal: boolean,
  steps: readonly (readonly [afterMs: number, done: number])[],
): Promise<readonly string[]> => {
  const said: string[] = []
  let nowMs = 1_000
  const io = {
    err: (text: string) => void said.push(text),
    overwrite: isTerminal ? (line: string) => void said.push(`over ${line}`) : undefined,
  }
  const work = async (onProgress: (done: number, total: number) => void) => {
    for (const [afterMs, done] of steps) {
      nowMs = 1_000 + afterMs
      onProgress(done, 100)
    }
    throw new Error('stopped')
  }
  await expect(inProgress(io, 'rows', work, () => nowMs)).rejects.toThrow('stopped')
  return said
}

test('on a terminal one line is written over, five times a second at most, and wiped in the end', async () => {
  const steps = [
    [199, 5],
    [200, 10],
    [399, 15],
    [400, 20],
  ] as const
  expect(await saidOf(true, steps)).toEqual([
    'over rows: 10 of 100 (10 %), 50.0/s, 2 s left',
    'over rows: 20 of 100 (20 %), 50.0/s, 2 s left',
    'over ',
  ])
})

test('elsewhere a plain line is written every ten seconds, and none for what is short', async () => {
  expect(await saidOf(false, [[9_999, 40]])).toEqual([])
  const steps = [
    [10_000, 50],
    [11_000, 55],
  ] as const
  expect(await saidOf(false, steps)).toEqual(['rows: 50 of 100 (50 %), 5.0/s, 10 s left\n'])
})

test('time left in words, and what cannot be known', () => {
  const line = (done: number, total: number, afterMs = 1_000) =>
    progressLine('x', { done, total, afterMs })
  expect(line(0, 5)).toBe('x: 0 of 5 (0 %), 0.0/s, time left unknown')
  expect(line(1, 120)).toEndWith(' 119 s left')
  expect(line(1, 121)).toEndWith(' 2 min left')
  expect(line(1, 7_201)).toEndWith(' 2 h 0 min left')
  expect(line(7, 5)).toBe('x: 7 of 7 (100 %), 7.0/s, 0 s left')
})
