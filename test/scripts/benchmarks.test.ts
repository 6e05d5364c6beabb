import { expect, test } from 'bun:test'
import { judgeFigure, missedGoals } from '../../bench/harness.ts'

test('a report names what was missed, and nothing else', () => {
  const goal = { ours: 'ours', peer: 'theirs', atLeast: 2 }
  const group = { suite: 'xml', group: 'reading', contenders: [] }
  const results = [
    {
      ...group,
      goals: [
        { ...goal, ratio: 2, reached: true },
        { ...goal, ours: 'slow', ratio: 1.99, reached: false },
      ],
      ceilings: [{ ours: 'dear', cpuUsMax: 5, cpuUs: 6, reached: false }],
    },
  ]
  const figures = [
    judgeFigure('start', { name: 'ready', value: 100, unit: 'ms', atMost: 100 }),
    judgeFigure('start', { name: 'memory', value: 101, unit: 'MB', atMost: 100 }),
  ]
  expect(missedGoals(results, figures)).toEqual([
    'xml: reading: slow',
    'xml: reading: dear',
    'start: memory',
  ])
  expect(missedGoals([], [])).toEqual([])
})
