import { expect, test } from 'bun:test'
import { loadConsole } from './load-console.ts'

/* The page shows some of many outcomes, counts the others, and always shows the unknown ones. */

type Outcome = { readonly status: string; readonly reason: string | null; readonly count: number }
const { shownOf } = await loadConsole<{
  readonly shownOf: (outcomes: readonly Outcome[]) => {
    readonly shown: readonly Outcome[]
    readonly rest: readonly Outcome[]
  }
}>(['outcomes.ts'])

const outcome = (status: string, count: number): Outcome => ({ status, reason: null, count })
const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((status, at) => outcome(status, 100 - at))

test.each(['UNKNOWN', 'unknown'])('one that is %s is shown however few it has', (status) => {
  const unknown = outcome(status, 1)
  const { shown, rest } = shownOf([...many, unknown])
  expect([shown, rest]).toEqual([[...many.slice(0, 5), unknown], many.slice(5)])
})

test('of few nothing is left out', () => {
  expect(shownOf(many.slice(0, 5)).rest).toEqual([])
})
