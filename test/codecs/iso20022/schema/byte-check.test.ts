import { describe, expect, test } from 'bun:test'
import { builtIns } from '../../../../codecs/iso20022/schema/builtin.ts'
import type { Facet } from '../../../../codecs/iso20022/schema/model.ts'
import {
  createSimpleTypeCache,
  SimpleValidator,
} from '../../../../codecs/iso20022/schema/simple.ts'
import { createRandom } from '../../../support/mutations.ts'

const encoder = new TextEncoder()
const place = { file: 'test.xsd', line: 1 }

const typeOf = (
  builtIn: string,
  facets: Readonly<Record<string, string>> = {},
): SimpleValidator => {
  const base = SimpleValidator.builtIn(builtIn, createSimpleTypeCache())
  if (base === undefined) throw new Error(`no type ${builtIn}`)
  const written: Facet[] = Object.entries(facets).flatMap(([name, values]) =>
    values.split('~').map((value) => ({ name, value, place })),
  )
  return base.restricted(written, createSimpleTypeCache())
}

/** Between other bytes, which must not matter. */
const accepts = (type: SimpleValidator, text: string): boolean => {
  const bytes = encoder.encode(`9Z${text}0a`)
  return type.bytes.accepts(bytes, 2, bytes.length - 2)
}

const instant = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z'

const types: readonly (readonly [string, SimpleValidator, string])[] = [
  ...Object.keys(builtIns).map((name) => [name, typeOf(name), ''] as const),
  ['amount', typeOf('decimal', { fractionDigits: '2', totalDigits: '18', minInclusive: '0' }), ''],
  ['short amount', typeOf('decimal', { fractionDigits: '1', totalDigits: '3' }), ''],
  ['bounded', typeOf('decimal', { minInclusive: '5', maxExclusive: '20' }), ''],
  ['listed number', typeOf('decimal', { enumeration: '1~2.50' }), ''],
  ['text', typeOf('string', { minLength: '2', maxLength: '4' }), ''],
  ['exact text', typeOf('string', { length: '3' }), ''],
  ['code', typeOf('string', { enumeration: 'AB12~A~é' }), ''],
  ['identifier', typeOf('string', { pattern: '[A-Z]{2}[0-9]{1,3}' }), ''],
  ['two forms', typeOf('string', { pattern: '[0-9]{3}|[A-Z]{2}[0-9]' }), ''],
  ['two patterns', typeOf('string', { pattern: '[0-9]{3}~A[a-z]*' }), ''],
  ['beyond ASCII', typeOf('string', { pattern: '[a-é]{2}' }), ''],
  ['short base64', typeOf('base64Binary', { maxLength: '3' }), ''],
  ['short URI', typeOf('anyURI', { maxLength: '3' }), ''],
  ['time', typeOf('time', { pattern: '[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z' }), ''],
  ['instant', typeOf('dateTime', { pattern: instant }), ''],
  ['instant of another form', typeOf('dateTime', { pattern: instant.replace('Z', '[A-Y]') }), ''],
  ['instant of this year', typeOf('dateTime', { pattern: `2026${instant.slice(8)}` }), ''],
  ['short identifier', typeOf('string', { pattern: '[A-Z]{2}[0-9]{1,3}', maxLength: '4' }), ''],
  ['long identifier', typeOf('string', { pattern: '[A-Z]{2}[0-9]{1,3}', minLength: '4' }), ''],
  ['listed identifier', typeOf('string', { pattern: '[A-Z]+[0-9]*', enumeration: 'AB12~A' }), ''],
  ['one line', typeOf('string', { whiteSpace: 'collapse', maxLength: '3' }), ''],
]

const alphabets = [
  '01259',
  '0123456789.',
  'ABab12',
  ' aé1',
  '+-.:TZ0123459',
  'true falsé',
  '😀é=+/%Ag',
]
const spellings = [
  ...['2026-03-02T14:05:09.123Z', '2026-02-29T14:05:09.123Z', '0000-03-02T14:05:09.123Z'],
  ...['2025-03-02T14:05:09.12Z', '2026-03-02T24:05:09.123Z', 'AB1', 'AB12', 'AB123', 'ABC'],
  ...['2026-13-02', '2026-12-28', '2026-12-31', '2026-12-32', '2026-00-10', '14:05:09.1Z'],
  ...['24:00:00.000Z', '23:59:60.000Z', '23:59:59.Z', '12:60:00.0Z', '2026-12-28T24:00:00.0Z'],
  ...[
    'true',
    'false',
    'truf',
    'falsy',
    '0',
    '1',
    '2',
    'AA==',
    'AB==',
    'AAA=',
    'AAB=',
    'AA=A',
    '====',
  ],
  ...['urn:a?b=%20', 'a b', '-0', '00.50', '.5', '5.', '.', '', 'a-1', '-a', '1a', 'key', 'a:b'],
]

describe('a value judged by its bytes', () => {
  for (const [name, type] of types) {
    test(`${name}: a yes is never wrong`, () => {
      const random = createRandom(name.length * 9 + name.charCodeAt(0))
      const texts = [...spellings]
      for (let i = 0; i < 3000; i++) {
        const alphabet = [...(alphabets[random.next(alphabets.length)] as string)]
        texts.push(Array.from({ length: random.next(7) }, () => random.pick(alphabet)).join(''))
      }
      for (const text of texts) {
        if (accepts(type, text)) expect([text, type.faults(text)]).toEqual([text, []])
      }
    })
  }

  test('is sure of what messages hold', () => {
    const identifier = typeOf('string', { pattern: '[M][0-9A-Z]{8}[a-zA-Z0-9]{23}' })
    expect(accepts(identifier, 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW')).toBe(true)
    expect(accepts(identifier, 'M12345678aB3dE5gH7jK9mN1pQ3sT5v')).toBe(false)
    expect(accepts(identifier, 'M12345678aB3dE5gH7jK9mN1pQ3sT5vWx')).toBe(false)
    expect(accepts(typeOf('dateTime'), '2026-03-02T14:05:09.123Z')).toBe(true)
    expect(accepts(typeOf('date'), '2026-03-02')).toBe(true)
    expect(accepts(typeOf('time'), '14:05:09.123Z')).toBe(true)
    expect(accepts(typeOf('boolean'), 'true')).toBe(true)
    expect(accepts(typeOf('boolean'), 'false')).toBe(true)
    expect(accepts(typeOf('ID'), 'key-1')).toBe(true)
    expect(accepts(typeOf('anyURI'), '#key')).toBe(true)
    expect(accepts(typeOf('anyURI'), '')).toBe(true)
    expect(accepts(typeOf('base64Binary'), 'Zm9v')).toBe(true)
    expect(accepts(typeOf('base64Binary'), 'Zm8=')).toBe(true)
    expect(accepts(typeOf('base64Binary'), 'Zg==')).toBe(true)
    const amount = typeOf('decimal', { fractionDigits: '2', totalDigits: '5', minInclusive: '0' })
    expect(accepts(amount, '123.45')).toBe(true)
    expect(accepts(amount, '12345')).toBe(true)
    expect(accepts(amount, '1234.56')).toBe(false)
    expect(accepts(amount, '1.234')).toBe(false)
    const text = typeOf('string', { minLength: '2', maxLength: '4' })
    expect(accepts(text, 'é😀')).toBe(true)
    expect(accepts(text, '😀😀😀😀')).toBe(true)
    expect(accepts(text, '😀😀😀😀😀')).toBe(false)
    expect(accepts(text, '😀')).toBe(false)
    expect(accepts(typeOf('string', { enumeration: 'IPAY~GSCB' }), 'GSCB')).toBe(true)
  })

  test('with references, is sure only where neither pattern nor list nor more than a character is demanded', () => {
    const text = typeOf('string', { minLength: '1', maxLength: '4' })
    expect(text.bytes.acceptsEncoded(10, 11)).toBe(true)
    expect(text.bytes.acceptsEncoded(10, 14)).toBe(true)
    expect(text.bytes.acceptsEncoded(10, 15)).toBe(false)
    expect(text.bytes.acceptsEncoded(10, 10)).toBe(false)
    for (const other of [
      typeOf('string', { minLength: '2' }),
      typeOf('string', { pattern: '.*' }),
      typeOf('string', { enumeration: 'a' }),
      typeOf('token'),
      typeOf('decimal'),
    ]) {
      expect(other.bytes.acceptsEncoded(10, 13)).toBe(false)
    }
  })
})
