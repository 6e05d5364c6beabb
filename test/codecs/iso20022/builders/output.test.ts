import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { amountOf } from '../../../../codecs/iso20022/builders/amount.ts'
import { escaped } from '../../../../codecs/iso20022/builders/escape.ts'
import { XmlOutput } from '../../../../codecs/iso20022/builders/output.ts'
import { compileTemplate } from '../../../../codecs/iso20022/builders/template.ts'

const decoder = new TextDecoder()
const written = (write: (output: XmlOutput) => void): string => {
  const output = new XmlOutput()
  write(output)
  return decoder.decode(output.result())
}

describe('templates', () => {
  test('a path opens elements, </> closes those of the last tag that is open', () => {
    expect(written((output) => output.write`<A/B Ccy="BRL"><C>1</></><D></D>`)).toBe(
      '<A><B Ccy="BRL"><C>1</C></B></A><D></D>',
    )
    expect(written((output) => output.write`<?xml version="1.0"?><A x="${'1'}">`)).toBe(
      '<?xml version="1.0"?><A x="1">',
    )
    expect(() => compileTemplate(['</>'])).toThrow('not open')
  })

  const both = (one?: string, two?: string) =>
    written(
      (output) =>
        output.write`<R><P/Q>${one}</><S><T>${two}</><U>1</></><V><W>${one}</><X>${two}</></></>`,
    )

  test('an element that holds an absent value only is left out, with a parent that holds nothing else', () => {
    expect(both('a', 'b')).toBe(
      '<R><P><Q>a</Q></P><S><T>b</T><U>1</U></S><V><W>a</W><X>b</X></V></R>',
    )
    expect(both('a')).toBe('<R><P><Q>a</Q></P><S><U>1</U></S><V><W>a</W></V></R>')
    expect(both(undefined, 'b')).toBe('<R><S><T>b</T><U>1</U></S><V><X>b</X></V></R>')
    expect(both()).toBe('<R><S><U>1</U></S><V></V></R>')
    expect(both('')).toStartWith('<R><P><Q></Q></P>')
  })
})

describe('text', () => {
  test('is written as UTF-8 and escaped as the canonical form wants it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 60 })),
        fc.constantFrom('', '&', '<', '>', '\r', '"', '\n', 'ç', '€', '😀', '\ufffd'),
        (texts, special) => {
          const values = texts.map((text) => text + special + text)
          expect(
            written((output) => {
              for (const value of values) output.write`<A>${value}</>`
            }),
          ).toBe(values.map((value) => `<A>${escaped(value)}</A>`).join(''))
        },
      ),
    )
  })

  test('outgrows the room there is, at every place', () => {
    const output = new XmlOutput()
    const room = output.bytes.length
    for (const value of ['a', 'ç', '€', '😀', '&']) {
      for (let over = -12; over <= 12; over++) {
        output.clear()
        expect(output.bytes.length).toBe(room)
        const filling = 'x'.repeat(room + over - 8)
        output.text(filling, 0)
        output.write`<A>${value}</>`
        expect(decoder.decode(output.result())).toBe(`${filling}<A>${escaped(value)}</A>`)
      }
    }
    const result = output.result()
    output.clear()
    output.write`<B>`
    expect(decoder.decode(result.subarray(0, 3))).toBe('xxx')
  })
})

test('amounts are exact up to the largest safe integer', () => {
  expect(amountOf(0)).toBe('0.00')
  expect(amountOf(7)).toBe('0.07')
  expect(amountOf(12_345)).toBe('123.45')
  expect(amountOf(Number.MAX_SAFE_INTEGER)).toBe('90071992547409.91')
  fc.assert(
    fc.property(fc.maxSafeNat(), (cents) => {
      const digits = String(cents).padStart(3, '0')
      expect(amountOf(cents)).toBe(`${digits.slice(0, -2)}.${digits.slice(-2)}`)
    }),
  )
})
