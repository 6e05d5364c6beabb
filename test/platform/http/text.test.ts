import { describe, expect, test } from 'bun:test'
import { escapeStep, id, instant, text, whole } from '#src/platform/http/index.ts'

const takes = (schema: { safeParse: (value: unknown) => { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success

describe('text', () => {
  test('counts characters, not units', () => {
    expect(takes(text(3), '😀😀😀')).toBe(true)
    expect(takes(text(3), '😀😀😀😀')).toBe(false)
    expect(takes(text(3, { charactersMin: 2 }), '😀')).toBe(false)
    expect(takes(text(3), '')).toBe(false)
  })

  test('takes line ends only where its field has lines', () => {
    for (const value of ['a\tb', 'a\nb', 'a\r\nb']) {
      expect(takes(text(9), value)).toBe(false)
      expect(takes(text(9, { isMultiline: true }), value)).toBe(true)
    }
    for (const value of [
      '\0',
      '\u001b',
      '\u007f',
      '\u0085',
      '\ud800',
      '\udc00a',
      '\ufffe',
      '\uffff',
    ]) {
      expect(takes(text(9), value)).toBe(false)
      expect(takes(text(9, { isMultiline: true }), value)).toBe(false)
    }
  })
})

test('a step of a pointer is cut between characters', () => {
  expect(escapeStep(`${'a'.repeat(63)}😀b`)).toBe(`${'a'.repeat(63)}😀`)
})

test('an id has nothing that would need an escape in a path', () => {
  expect(takes(id, 'txn_0a-Z')).toBe(true)
  for (const value of ['', '..', 'a/b', 'a b', 'é', 'a'.repeat(101)])
    expect(takes(id, value)).toBe(false)
})

describe('a moment', () => {
  test.each([
    '0000-01-01T00:00:00Z',
    '+999999-01-01T00:00:00Z',
    '-271821-04-20T00:00:00Z',
    '2026-01-01',
  ])('%s is none', (value) => expect(takes(instant, value)).toBe(false))

  test('that its offset moves out of the years is the first or last of them', () => {
    expect(instant.parse('0001-01-01T00:00:00+14:00').toISOString()).toBe(
      '0001-01-01T00:00:00.000Z',
    )
    expect(instant.parse('9999-12-31T23:59:59-14:00').toISOString()).toBe(
      '9999-12-31T23:59:59.999Z',
    )
  })
})

test('a whole number is digits, within its bounds', () => {
  expect(whole(1, 500, 50).parse('007')).toBe(7)
  expect(whole(1, 500, 50).parse(undefined)).toBe(50)
  for (const value of ['', '0', '501', '1e2', ' 5', '0x10', '-1']) {
    expect(takes(whole(1, 500, 50), value)).toBe(false)
  }
})
