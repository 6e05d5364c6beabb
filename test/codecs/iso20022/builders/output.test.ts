import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { amountOf } from '../../../../codecs/iso20022/builders/amount.ts'
import { newTemplate, roomBytes, XmlOutput } from '../../../../codecs/iso20022/builders/output.ts'
import { escaped, keepText } from '../../../../codecs/iso20022/builders/text.ts'
import {
  type Content,
  keepAscii,
  lengthOf,
  startOf,
  textOf,
  type Value,
  values,
} from '../../../../codecs/iso20022/builders/values.ts'

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
    expect(() => newTemplate(['</>'])).toThrow('not open')
    expect(() => newTemplate(['ç'])).toThrow('ASCII')
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

const read = (value: Value): string =>
  decoder.decode(values.subarray(startOf(value), startOf(value) + lengthOf(value)))

describe('values', () => {
  test('of every length stand between constants of every length', () => {
    for (let constant = 0; constant <= 17; constant++) {
      for (let length = 0; length <= 33; length++) {
        const texts = [...'ab'].map((one) => one.repeat(length))
        const parts = ['x'.repeat(constant), 'y'.repeat(17 - constant), 'z']
        const between = (contents: readonly Content[]): string =>
          written((output) => {
            output.fill(newTemplate(parts), contents)
            output.fill(newTemplate(['.']), [])
          })
        const expected = `${parts[0]}${texts[0]}${parts[1]}${texts[1]}z.`
        expect(between(texts)).toBe(expected)
        expect(between(texts.map(keepAscii))).toBe(expected)
      }
    }
  })

  test('of any text are copied as they are, whatever stands beside them', () => {
    const pieces = ['😀', '\u007f', 'é', '\u{10ffff}', 'a']
    const texts = fc.array(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 6,
    })
    fc.assert(
      fc.property(texts, (some) => {
        const lines = some.map((parts) => parts.join(''))
        const kept = lines.map((line) => keepText(line, 1, 100))
        const output = new XmlOutput()
        for (const value of kept) output.write`${value}`
        expect(decoder.decode(output.result())).toBe(lines.join(''))
      }),
    )
  })

  test('stand while many more are kept, in a memory that does not grow', () => {
    const texts = Array.from({ length: 500 }, (_, i) => String(i).padStart(100, '.'))
    for (let round = 0; round < 5; round++) {
      const kept = texts.map(keepAscii)
      expect(kept.map(textOf)).toEqual(texts)
    }
    expect(values.length).toBeLessThan(70_000)
  })

  test('outgrow the room there is, at every place; a copy stays as it is', () => {
    for (let over = -40; over <= 40; over++) {
      const output = new XmlOutput()
      const filling = 'x'.repeat(roomBytes + over - 8)
      output.write`${filling}`
      output.write`<A>${'1'}</><B>${'2'.repeat(20)}</>`
      const result = output.result()
      output.clear()
      output.write`<C>`
      expect(decoder.decode(result)).toBe(`${filling}<A>1</A><B>${'2'.repeat(20)}</B>`)
      expect(decoder.decode(output.result())).toBe('<C>')
    }
  })

  test('of messages that share their room, and of batches between them, stay as they are', () => {
    const output = new XmlOutput()
    const lengths = [1, 20_000, 20_000, 20_000, 20_000, roomBytes - 8, roomBytes, 20_000, 300_000]
    const messages = [...lengths, ...lengths.toReversed()].map((length, i) => {
      output.clear()
      const value = String.fromCharCode(0x61 + i).repeat(length)
      output.write`<A>${'1'}</>`
      output.write`${value}`
      expect(output.length).toBe(length + 8)
      return { expected: `<A>1</A>${value}`, bytes: output.result() }
    })
    for (const { expected, bytes } of messages) {
      expect(decoder.decode(bytes) === expected).toBe(true)
    }
  })

  test('of a large message leave room for the next', () => {
    const output = new XmlOutput()
    for (const length of [2_000_000, 10, 900_000, 10, 3_000_000]) {
      output.clear()
      const value = 'y'.repeat(length)
      output.write`<A>${value}</>`
      expect(decoder.decode(output.result()) === `<A>${value}</A>`).toBe(true)
    }
  })
})

describe('text', () => {
  const plain = (text: string): boolean =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    text.isWellFormed() && !/[\u0000-\u001f\ufffe\uffff]/.test(text)
  const canonical = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

  test('is escaped as the canonical form wants it, and of one character per byte of UTF-8', () => {
    const letters = ['a', '&', '<', '>', '\r', '"', '\u007f', 'ç', '\u0080', '\u07ff', '\u0800']
    const rare = ['€', '\ud7ff', '\ue000', '\ufffd', '\ufffe', '\uffff', '😀', '\u{10ffff}']
    const halves = ['\ud800', '\udbff', '\udc00', '\udfff', '\u001f', '\0']
    const any = fc.array(fc.constantFrom(...letters, ...rare, ...halves), { maxLength: 8 })
    fc.assert(
      fc.property(any, fc.nat(3), fc.nat(9), (parts, min, max) => {
        const text = parts.join('')
        const length = [...text].length
        const isRight = plain(text) && length >= min && length <= max
        const made = keepText(text, min, max)
        expect(made === undefined ? undefined : read(made)).toBe(
          isRight ? canonical(text) : undefined,
        )
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
  const amountText = (cents: number): string => textOf(amountOf(cents))
  expect(amountText(0)).toBe('0.00')
  expect(amountText(7)).toBe('0.07')
  expect(amountText(12_345)).toBe('123.45')
  expect(amountText(Number.MAX_SAFE_INTEGER)).toBe('90071992547409.91')
  fc.assert(
    fc.property(fc.maxSafeNat(), (cents) => {
      const digits = String(cents).padStart(3, '0')
      expect(amountText(cents)).toBe(`${digits.slice(0, -2)}.${digits.slice(-2)}`)
    }),
  )
})
