import { expect, test } from 'bun:test'
import { createHeads } from '../../src/drex/engine/heads.ts'

test('a block that was there before we sent, and of which we hear later, is none made since', () => {
  const heads = createHeads()
  heads.told(5)
  heads.sent(['a'])
  heads.told(6)
  expect(heads.hasMovedSince('a')).toBe(false)
  heads.told(6)
  expect(heads.hasMovedSince('a')).toBe(false)
  heads.told(7)
  expect(heads.hasMovedSince('a')).toBe(true)
  heads.sent(['a'])
  heads.told(7)
  expect(heads.hasMovedSince('a')).toBe(false)
})

test('what another process sent is known from the first question on', () => {
  const heads = createHeads()
  expect(heads.hasMovedSince('b')).toBe(false)
  heads.told(1)
  expect(heads.hasMovedSince('b')).toBe(false)
  heads.told(2)
  expect(heads.hasMovedSince('b')).toBe(true)
})

test('a chain stands still only for as long as it was asked, whoever else stood still', async () => {
  const heads = createHeads()
  expect(heads.stillMs()).toBe(0)
  heads.told(5)
  await Bun.sleep(30)
  expect(heads.stillMs()).toBe(0)
  expect(heads.ageMs()).toBeGreaterThanOrEqual(29)
  heads.told(5)
  expect(heads.stillMs()).toBeGreaterThanOrEqual(29)
  heads.told(6)
  expect(heads.stillMs()).toBe(0)
})
