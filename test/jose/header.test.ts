import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { headerCharsMax } from '../../src/jose/domain.ts'
import { readHeader } from '../../src/jose/header.ts'

const base64url = (text: string) => Buffer.from(text).toString('base64url')
const awkward = fc.constantFrom('"', '\\', '{', '}', ',', ':', '[', '"a":', '\\u0061', '')
const name = fc.oneof(fc.string({ unit: 'grapheme' }), awkward)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    name,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}))
const header = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true })

test('any object is read as it was written, with and without blanks', () => {
  fc.assert(
    fc.property(header, fc.constantFrom(0, 1, 2), (object, blanks) => {
      const text = JSON.stringify(object, null, blanks)
      const expected = JSON.parse(text) as Record<string, unknown>
      fc.pre(base64url(text).length <= headerCharsMax)
      expect(readHeader(base64url(text))).toEqual(expected)
    }),
    { numRuns: 1_000 },
  )
})

test('any object that names a member twice is not read, wherever the object stands', () => {
  fc.assert(
    fc.property(header, name, value, (object, twice, content) => {
      const member = `${JSON.stringify(twice)}:${JSON.stringify(content)}`
      const rest = JSON.stringify(object).slice(1, -1)
      const repeating = `{${[member, rest, member].filter((part) => part !== '').join(', ')}}`
      const inner = [1, '0.12345678901234567890'].map((one) => `{"a":[${one},{},${repeating}]}`)
      for (const text of [repeating, `{"a":${repeating}}`, ...inner]) {
        expect(readHeader(base64url(text))).toBeUndefined()
      }
    }),
    { numRuns: 1_000 },
  )
})
