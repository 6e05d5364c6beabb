import { describe, expect, test } from 'bun:test'
import {
  createRandomText,
  dateTimeOf,
  endToEndId,
  messageId,
  randomPoolBytes,
  returnId,
} from '../../../../codecs/iso20022/builders/identifiers.ts'

describe('random text', () => {
  const createFrom = (numberOf: (i: number, draw: number) => number) => {
    let draws = 0
    const next = createRandomText(({ buffer }) => {
      const numbers = new Uint16Array(buffer)
      for (let i = 0; i < numbers.length; i++) numbers[i] = numberOf(i, draws)
      draws++
    })
    return { next, drawn: () => draws }
  }

  test('is the pool in order, two characters of a number, without the numbers that would favour some', () => {
    const counted = createFrom((i) => i)
    expect(counted.next(8)).toBe('00010203')
    expect(counted.next(0)).toBe('')
    expect(counted.next(1)).toBe('0')
    expect(counted.next(2 * 59)).toEndWith('0z101')
    const fair = 17 * 62 * 62
    const numbers = [fair - 1, fair, 65_535, 62, fair - 62]
    expect(createFrom((i) => numbers[i % 5] ?? 0).next(10)).toBe('zz10z0zz10')
  })

  test('is drawn anew when it is used up, even in the middle, and nothing is given twice', () => {
    const { next, drawn } = createFrom((_, draw) => draw * 63)
    expect(next(randomPoolBytes - 1)).toHaveLength(randomPoolBytes - 1)
    expect(drawn()).toBe(1)
    // The last of the first draw, and the first of the second.
    expect(next(2)).toBe('01')
    expect(drawn()).toBe(2)
    expect(next(randomPoolBytes * 3)).toHaveLength(randomPoolBytes * 3)
    expect(drawn()).toBe(5)
  })

  test('each character comes as often as another', () => {
    const next = createRandomText((bytes) => crypto.getRandomValues(bytes))
    const counts = new Map<string, number>()
    const perCharacter = 2_000
    for (const character of next(62 * perCharacter)) {
      counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    expect(counts.size).toBe(62)
    // Ten standard deviations: this fails by chance less than once in 10²⁰ runs.
    for (const count of counts.values()) {
      expect(Math.abs(count - perCharacter)).toBeLessThan(10 * Math.sqrt(perCharacter))
    }
  })
})

test('identifiers have the forms of the schemas', () => {
  const random = createRandomText((bytes) => crypto.getRandomValues(bytes))
  const timeMs = Date.UTC(2026, 1, 28, 23, 59, 59, 999)
  expect(messageId('99999A04', random)).toMatch(/^M99999A04[0-9A-Za-z]{23}$/)
  expect(endToEndId('99999A04', timeMs, random)).toMatch(/^E99999A04202602282359[0-9A-Za-z]{11}$/)
  expect(returnId('99999A04', timeMs + 1, random)).toMatch(/^D99999A04202603010000[0-9A-Za-z]{11}$/)
})

test('date-times are those of the clock in UTC, whatever was written before', () => {
  const times = [
    Date.UTC(2026, 1, 28, 23, 59, 59, 999),
    Date.UTC(2026, 2, 1),
    Date.UTC(2026, 2, 1, 0, 0, 0, 1),
    Date.UTC(2024, 1, 29, 12, 30, 5, 50),
    Date.UTC(1969, 11, 31, 23, 59, 59, 999),
    0,
    Date.UTC(2026, 2, 1, 0, 1),
  ]
  for (const timeMs of [...times, ...times.toReversed()]) {
    expect(dateTimeOf(timeMs)).toBe(new Date(timeMs).toISOString())
  }
  expect(dateTimeOf(1_772_323_200_000.75)).toBe('2026-03-01T00:00:00.000Z')
})
