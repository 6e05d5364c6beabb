import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatCents } from '../../../../codecs/iso20022/amount.ts'
import { textForm } from '../../../../codecs/iso20022/building/forms.ts'
import {
  type Content,
  escaped,
  template,
  XmlOutput,
} from '../../../../codecs/iso20022/building/template.ts'

const decoder = new TextDecoder()
const written = (...contents: readonly Content[]): string => {
  const output = new XmlOutput()
  for (const content of contents) output.write(content)
  const bytes = output.written()
  expect(bytes.length).toBe(output.length)
  return decoder.decode(bytes)
}

describe('templates', () => {
  test('a path opens elements, </> closes those of the last tag that is open', () => {
    expect(written(template('<A/B Ccy="BRL"><C>1</></><D></>')({}))).toBe(
      '<A><B Ccy="BRL"><C>1</C></B></A><D></D>',
    )
    expect(written(template('\n  <A>\n    <B>1 2</>\n  </>')({}))).toBe('<A><B>1 2</B></A>')
    expect(() => template('</>')).toThrow('not open')
    expect(() => template('<A/B><C></>')).toThrow('does not close A/B')
  })

  const both = template('<R><P/Q>{one}</><S><T>{two}</><U>1</></><V><W>{one}</><X>{two}</></></>')
  const of = (one?: string, two?: string): string => written(both({ one, two }))

  test('an element that holds an absent value only is left out, with a parent that holds nothing else', () => {
    expect(of('a', 'b')).toBe(
      '<R><P><Q>a</Q></P><S><T>b</T><U>1</U></S><V><W>a</W><X>b</X></V></R>',
    )
    expect(of('a')).toBe('<R><P><Q>a</Q></P><S><U>1</U></S><V><W>a</W></V></R>')
    expect(of(undefined, 'b')).toBe('<R><S><T>b</T><U>1</U></S><V><X>b</X></V></R>')
    expect(of()).toBe('<R><S><U>1</U></S><V></V></R>')
    expect(of('')).toStartWith('<R><P><Q></Q></P>')
  })

  test('pieces stand in the holes of others, one or several', () => {
    const item = template('<I>{text}</>')
    const list = template('<L>{first}{rest}</>')
    const items = ['a', 'b', 'c'].map((text) => item({ text }))
    expect(written(list({ first: items[0], rest: items.slice(1) }))).toBe(
      '<L><I>a</I><I>b</I><I>c</I></L>',
    )
    expect(written(list({ first: undefined, rest: [] }), undefined, '.')).toBe('<L></L>.')
  })

  test('the compiler names a hole that is forgotten, and one that is not there', () => {
    // @ts-expect-error two is missing
    expect(written(both({ one: 'a' }))).toBe(of('a'))
    // @ts-expect-error there is no three
    both({ one: 'a', two: 'b', three: 'c' })
  })

  test('values of every length and script outgrow the room there is, at every place', () => {
    const text = template('<A>{text}</>')
    for (let length = 4_060; length <= 4_110; length++) {
      for (const character of ['x', 'é', '€', '😀']) {
        const value = 'x'.repeat(length) + character
        expect(written(text({ text: value }), text({ text: character }))).toBe(
          `<A>${value}</A><A>${character}</A>`,
        )
      }
    }
  })
})

describe('text', () => {
  const plain = (text: string): boolean =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    text.isWellFormed() && !/[\u0000-\u001f\ufffe\uffff]/.test(text)
  const canonical = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

  test('is escaped as the canonical form wants it, and counted in characters', () => {
    const letters = ['a', '&', '<', '>', '\r', '"', '\u007f', 'ç', '\u0080', '\u07ff', '\u0800']
    const rare = ['€', '\ud7ff', '\ue000', '\ufffd', '\ufffe', '\uffff', '😀', '\u{10ffff}']
    const halves = ['\ud800', '\udbff', '\udc00', '\udfff', '\u001f', '\0']
    const any = fc.array(fc.constantFrom(...letters, ...rare, ...halves), { maxLength: 8 })
    fc.assert(
      fc.property(any, fc.integer({ min: 1, max: 3 }), fc.nat(9), (parts, min, max) => {
        const text = parts.join('')
        const length = [...text].length
        const isRight = plain(text) && length >= min && length <= max
        const made = textForm(max, min).read(text)
        expect(made).toBe(isRight ? canonical(text) : undefined)
        if (made !== undefined) expect(written(made)).toBe(made)
      }),
      { numRuns: 2_000 },
    )
  })

  test('of other sources keeps its carriage returns', () => {
    expect(escaped('a&b<c>d\re"\n')).toBe('a&amp;b&lt;c&gt;d&#xD;e"\n')
    expect(escaped('plain')).toBe('plain')
  })
})

test('amounts are exact up to the largest safe integer', () => {
  expect(formatCents(0)).toBe('0.00')
  expect(formatCents(7)).toBe('0.07')
  expect(formatCents(12_345)).toBe('123.45')
  expect(formatCents(Number.MAX_SAFE_INTEGER)).toBe('90071992547409.91')
  fc.assert(
    fc.property(fc.maxSafeNat(), (cents) => {
      expect(formatCents(cents)).toBe(formatCents(BigInt(cents)))
    }),
  )
})
