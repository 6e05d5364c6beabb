import { describe, expect, test } from 'bun:test'
import {
  createRandomText,
  dateTimeOf,
  endToEndId,
  messageId,
  type RandomText,
  randomPoolBytes,
  returnId,
  writeCreated,
} from '../../../../codecs/iso20022/builders/identifiers.ts'
import { createdValue, textOf } from '../../../../codecs/iso20022/builders/values.ts'

const decoder = new TextDecoder()

/** The characters taken, as text. */
const reading =
  ({ view, take }: RandomText) =>
  (count: number): string => {
    const from = take(count)
    return decoder.decode(new Uint8Array(view.buffer, from, count))
  }

describe('random text', () => {
  const createFrom = (numberOf: (i: number, draw: number) => number) => {
    let draws = 0
    const random = createRandomText(({ buffer }) => {
      const numbers = new Uint16Array(buffer)
      for (let i = 0; i < numbers.length; i++) numbers[i] = numberOf(i, draws)
      draws++
    })
    return { next: reading(random), drawn: () => draws }
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

  test('is drawn anew when too little is left, and nothing is given twice', () => {
    const { next, drawn } = createFrom((_, draw) => draw * 63)
    expect(next(randomPoolBytes - 1)).toBe('0'.repeat(randomPoolBytes - 1))
    expect(next(1)).toBe('0')
    expect(drawn()).toBe(1)
    expect(next(randomPoolBytes - 1)).toBe('11'.repeat(randomPoolBytes / 2).slice(1))
    expect(drawn()).toBe(2)
    expect(next(2)).toBe('22')
    expect(drawn()).toBe(3)
  })

  test('has zeros behind what is left: a word of it may be read past the end', () => {
    const random = createRandomText((bytes) => crypto.getRandomValues(bytes))
    for (let taken = 0; taken < 200; taken++) {
      const from = random.take(randomPoolBytes / 2)
      expect(random.view.getFloat64(from + randomPoolBytes / 2 - 1, true)).not.toBeNaN()
    }
    const { view, take } = createRandomText((bytes) => bytes.fill(255).fill(1, 0, 8))
    expect(take(8)).toBe(0)
    expect([view.getFloat64(8, true), view.getFloat64(randomPoolBytes, true)]).toEqual([0, 0])
  })

  test('a draw that leaves too little is followed by another', () => {
    const { next, drawn } = createFrom((i, draw) => (draw === 0 && i > 0 ? 65_535 : 1))
    expect(next(3)).toBe('010')
    expect(drawn()).toBe(2)
  })

  test('each character comes as often as another', () => {
    const next = reading(createRandomText((bytes) => crypto.getRandomValues(bytes)))
    const counts = new Map<string, number>()
    const perCharacter = 2_000
    for (let i = 0; i < perCharacter; i++) {
      for (const character of next(62)) counts.set(character, (counts.get(character) ?? 0) + 1)
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
  const ids = [
    messageId('99999A04', random),
    endToEndId('99999A04', timeMs, random),
    returnId('99999A04', timeMs + 1, random),
  ].map(textOf)
  expect(ids[0]).toMatch(/^M99999A04[0-9A-Za-z]{23}$/)
  expect(ids[1]).toMatch(/^E99999A04202602282359[0-9A-Za-z]{11}$/)
  expect(ids[2]).toMatch(/^D99999A04202603010000[0-9A-Za-z]{11}$/)
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
    expect(writeCreated(timeMs)).toBe(new Date(timeMs).toISOString())
    expect(textOf(createdValue)).toBe(new Date(timeMs).toISOString())
  }
  expect(dateTimeOf(1_772_323_200_000.75)).toBe('2026-03-01T00:00:00.000Z')
})
