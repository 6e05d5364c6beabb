import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createXmlScanner } from '#codecs/xml'
import { canonicalCopy, exclusiveC14n } from '#codecs/xmldsig'

const scanner = createXmlScanner()

const blank = fc.constantFrom('', '', '', '', ' ', '\n')
const text = fc.constantFrom(
  '',
  'a',
  ' 1.00 ',
  '\n  ',
  'ã',
  'x > y',
  '&amp;',
  '&lt;b&gt;',
  '&#13;',
  '&#xD;',
  '&#x41;',
  '\r\n',
  '"\'',
  '<!-- c -->',
  '<![CDATA[d]]>',
)
const attribute = fc.constantFrom(
  '',
  '',
  '',
  ' Ccy="BRL"',
  " Ccy='BRL'",
  ' Ccy = "BRL"',
  '  Ccy="BRL"',
  ' Ccy="BRL" ',
  ' Ccy="a&amp;b"',
  ' Ccy="a>b"',
  ' Ccy="a\tb"',
  ' Ccy="ã"',
  ' b="2" a="1"',
  ' xmlns="urn:a"',
  ' xmlns="urn:b"',
  ' xmlns:p="urn:a"',
  ' xmlns:q="urn:b" q:a="1"',
  ' p:a="1"',
  ' xml:lang="pt"',
)
const name = fc.constantFrom('A', 'Bc', 'p:A', 'p:Bc', 'n:A', 'É')

/** Elements as writers write them, now canonical and now not. */
const { element } = fc.letrec<{ element: string; content: string }>((tie) => ({
  element: fc
    .tuple(name, attribute, blank, fc.array(tie('content'), { maxLength: 4 }), blank, fc.boolean())
    .map(([tag, attributes, before, content, after, isEmpty]) =>
      isEmpty && content.length === 0
        ? `<${tag}${attributes}${before}/>`
        : `<${tag}${attributes}${before}>${content.join('')}</${tag}${after}>`,
    ),
  content: fc.oneof({ maxDepth: 4, depthSize: 'small' }, text, tie('element')),
}))

test('a tab or a line break in a value is a blank to the canonical form, and not copied', () => {
  for (const space of ['\t', '\n']) {
    const withValue = (value: string) =>
      scanner.scan(new TextEncoder().encode(`<R xmlns="urn:a"><A Ccy="${value}"></A></R>`))
    const document = withValue(`a${space}b`)
    expect(canonicalCopy(document, document.root)).toBeUndefined()
    const plain = withValue('a b')
    expect(canonicalCopy(plain, plain.root)).toBeDefined()
    expect(new TextDecoder().decode(exclusiveC14n(document, document.root))).toBe(
      '<R xmlns="urn:a"><A Ccy="a b"></A></R>',
    )
  }
})

test('a copy is what the canonicaliser writes, for each element and each left out of it', () => {
  let copies = 0
  fc.assert(
    fc.property(element, (xml) => {
      const root = `<R xmlns="urn:a" xmlns:p="urn:a" xmlns:n="urn:n">${xml}</R>`
      const document = scanner.scan(new TextEncoder().encode(root))
      for (let node = document.firstNode; node < document.endNode; node++) {
        if (!document.isElement(node)) continue
        for (let omit = node; omit < document.next(node); omit++) {
          if (!document.isElement(omit)) continue
          const left = omit === node ? -1 : omit
          const copy = canonicalCopy(document, node, left)
          if (copy === undefined) continue
          copies++
          const form = exclusiveC14n(document, node, { omit: left })
          expect(new TextDecoder().decode(copy)).toBe(new TextDecoder().decode(form))
        }
      }
    }),
    { numRuns: 3_000 },
  )
  expect(copies).toBeGreaterThan(1_000)
})
