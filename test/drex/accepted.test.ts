import { expect, test } from 'bun:test'
import { createAccepted } from '../../src/drex/engine/accepted.ts'

const begin = () => {
  let ms = 1_000
  const accepted = createAccepted(() => ms)
  return { accepted, pass: (byMs: number) => (ms += byMs) }
}

test('what has waited for half a second is told, and only once', () => {
  const { accepted, pass } = begin()
  accepted.add(['a', 'b'])
  pass(499)
  accepted.add(['c'])
  expect(accepted.takeDue()).toEqual([])
  pass(1)
  expect(accepted.takeDue()).toEqual(['a', 'b'])
  expect(accepted.count()).toBe(1)
  pass(499)
  expect(accepted.takeDue()).toEqual(['c'])
  expect(accepted.takeDue('all')).toEqual([])
})

test('what is mined meanwhile is not', () => {
  const { accepted, pass } = begin()
  accepted.add(['a', 'b'])
  accepted.drop('a')
  pass(500)
  expect(accepted.takeDue()).toEqual(['b'])
})

test('what is sent again while it waits does not wait longer', () => {
  const { accepted, pass } = begin()
  accepted.add(['a'])
  pass(300)
  accepted.add(['a'])
  pass(200)
  expect(accepted.takeDue()).toEqual(['a'])
})

test('at the end, all of it', () => {
  const { accepted } = begin()
  accepted.add(['a', 'b'])
  expect(accepted.takeDue('all')).toEqual(['a', 'b'])
  expect(accepted.count()).toBe(0)
})
