import { expect, test } from 'bun:test'
import { createChoice } from '../../../src/drex/rpc/choice.ts'

const begin = () => {
  let ms = 0
  const choice = createChoice(['a', 'b', 'c'], () => ms)
  return { choice, best: () => choice.best(new Set()), pass: (byMs: number) => (ms += byMs) }
}

test('of nodes without trouble, the one that is named first', () => {
  const { choice, best } = begin()
  expect(best()).toBe('a')
  expect(choice.best(new Set(['a']))).toBe('b')
  expect(choice.best(new Set(['a', 'b', 'c']))).toBeUndefined()
})

test('one that fails half of the time is not the first, however the others stumble once', () => {
  const { choice, best } = begin()
  for (let i = 0; i < 10; i++) choice.went('a', i % 2 === 0)
  choice.went('b', false)
  expect(best()).toBe('c')
  choice.went('c', false)
  expect(best()).toBe('b')
})

test('good answers make good, and so does time', () => {
  const { choice, best, pass } = begin()
  choice.went('a', false)
  expect(best()).toBe('b')
  for (let i = 0; i < 20; i++) choice.went('a', true)
  expect(best()).toBe('a')
  choice.went('a', false)
  pass(60_000)
  expect(best()).toBe('b')
  pass(60_000)
  expect(best()).toBe('a')
})
