import { describe, expect, test } from 'bun:test'
import {
  createRandomText,
  dateTimeOf,
  endToEndId,
  messageId,
  randomPoolBytes,
  returnId,
} from '../../../../codecs/iso20022/building/identifiers.ts'

describe('random text', () => {
  const createFrom = (numberOf: (i: number, draw: number) => number) => {
    let draws = 0
    const random = createRandomText(({ buffer }) => {
      const numbers = new Uint16Array(buffer)
      for (let i = 0; i < numbers.length; i++) numbers[i] = numberOf(i, draws)
      draws++
    })
    return { next: random, drawn: () => draws }
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

  test('a draw that leaves too little is followed by another', () => {
    const { next, drawn } = createFrom((i, draw) => (draw === 0 && i > 0 ? 65_535 : 1))
    expect(next(3)).toBe('010')
    expect(drawn()).toBe(2)
  })

  test('each character comes as often as another', () => {
    const next = createRandomText((bytes) => crypto.getRandomValues(bytes))
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
  const origin = { ispb: '99999A04', created: '2026-02-28T23:59:59.999Z', random }
  expect(messageId(origin)).toMatch(/^M99999A04[0-9A-Za-z]{23}$/)
  expect(endToEndId(origin)).toMatch(/^E99999A04202602282359[0-9A-Za-z]{11}$/)
  expect(returnId({ ...origin, created: dateTimeOf(Date.UTC(2026, 2, 1)) })).toMatch(
    /^D99999A04202603010000[0-9A-Za-z]{11}$/,
  )
})

test('date-times are of UTC, with three decimals', () => {
  expect(dateTimeOf(Date.UTC(2026, 1, 28, 23, 59, 59, 999))).toBe('2026-02-28T23:59:59.999Z')
  expect(dateTimeOf(1_772_323_200_000.75)).toBe('2026-03-01T00:00:00.000Z')
})
