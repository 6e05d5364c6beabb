import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { PatternError, PatternMatcher, parsePattern, patternPlacesMax } from '#codecs/iso20022'

const matches = (pattern: string, text: string): boolean =>
  new PatternMatcher(parsePattern(pattern)).matches(text)

describe('a pattern', () => {
  test.each([
    ['[M][0-9A-Z]{8}[a-zA-Z0-9]{23}', 'M9999901012345678901234567890123', true],
    ['[M][0-9A-Z]{8}[a-zA-Z0-9]{23}', 'M999990101234567890123456789012', false],
    ['[E|D]x', '|x', true],
    ['[0-9]{11}|[0-9A-Z]{12}[0-9]{2}', '12345678909', true],
    ['[0-9]{11}|[0-9A-Z]{12}[0-9]{2}', '123456789091', false],
    ['[a-z-[aeiou]]+', 'bcd', true],
    ['[a-z-[aeiou]]+', 'bad', false],
    ['[^a-c-[x]]', 'x', false],
    ['[-a]+', '-a-', true],
    ['[a-]+', '-a-', true],
    ['\\d{2,}', '1', false],
    ['\\d{2,}', '１２', true],
    ['\\i\\c*', 'ab-1', true],
    ['\\i\\c*', '1ab', false],
    ['\\p{Lu}\\P{Lu}', 'Éa', true],
    ['\\w+', 'a b', false],
    ['.', '\n', false],
    ['.', '😀', true],
    ['a\\.b', 'axb', false],
    ['(ab|c){2,3}', 'abcab', true],
    ['(ab|c){2,3}', 'c', false],
    ['', '', true],
    ['a^b$', 'a^b$', true],
  ])('%s on %j is %p', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected)
  })

  test.each(['[', '(a', 'a)', 'a**', '[b-a]', 'a{3,2}', '\\p{IsGreek}', '\\q', '[]', 'a{', '+'])(
    '%s is refused',
    (pattern) => {
      expect(() => parsePattern(pattern)).toThrow(PatternError)
    },
  )

  test('is refused beyond its limit of places', () => {
    expect(() => matches(`a{${patternPlacesMax - 1}}`, '')).not.toThrow()
    expect(() => matches(`a{${patternPlacesMax}}`, '')).toThrow(PatternError)
    expect(matches('(){999999}', '')).toBe(true)
  })

  test('takes a step per character where backtracking would take for ever', () => {
    expect(matches('(a*)*b', 'a'.repeat(20_000))).toBe(false)
    expect(matches('(a|a)*(a|aa)+c', 'a'.repeat(20_000))).toBe(false)
  })

  test('goes on when it has met more states than it remembers', () => {
    const pattern = '[ab]*a[ab]{12}'
    const oracle = new RegExp(`^(?:${pattern})$`)
    let text = ''
    for (let i = 0; i < 20_000; i++) text += (i * 7919) % 13 < 6 ? 'a' : 'b'
    for (const length of [13, 5_000, 19_999, 20_000]) {
      expect(matches(pattern, text.slice(0, length))).toBe(oracle.test(text.slice(0, length)))
    }
  })

  test('agrees with the built-in regular expressions where both mean the same', () => {
    const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '[a-c]', '(a|bc)', '(b?c)', '.')
    const quantifier = fc.constantFrom('', '', '?', '*', '+', '{2}', '{1,3}', '{2,}')
    const piece = fc.tuple(atom, quantifier).map((parts) => parts.join(''))
    const branch = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(''))
    const pattern = fc.array(branch, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|'))
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 8 })
    fc.assert(
      fc.property(pattern, text, (source, value) => {
        const expected = new RegExp(`^(?:${source})$`, 'u').test(value)
        const matcher = new PatternMatcher(parsePattern(source))
        const bytes = new TextEncoder().encode(value)
        expect(matcher.matches(value)).toBe(expected)
        expect(matcher.matchesAscii(bytes, 0, bytes.length)).toBe(expected)
      }),
      { numRuns: 1000 },
    )
  })
})
