import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  createXmlScanner,
  createXmlVocabulary,
  type XmlDocument,
  type XmlLimits,
} from '#codecs/xml'
import { rowMin } from '../../../codecs/xml/markup.ts'
import { learningsMax, shapeValuesMax } from '../../../codecs/xml/shapes.ts'
import { partBytesMax, partBytesMin, partsLearnedMax } from '../../../codecs/xml/siblings.ts'
import { utf8 } from '../../support/messages.ts'
import { outcomeOf } from '../../support/xml-outcome.ts'

/** Lists of documents; many more in the long lane. */
const runs = process.env['TRILHO_LONG'] === '1' ? 3000 : 150

const many = Array.from({ length: partsLearnedMax + 2 }, (_, i) => `K${i}`)
const vocabulary = createXmlVocabulary([...'A Tx Nm Id Amt Inner Tail B'.split(' '), ...many])

const learning = (limits: Partial<XmlLimits> = {}) =>
  createXmlScanner({ vocabulary, reuse: true, limits })

/** Knows nothing but the document. */
const freshly =
  (limits: Partial<XmlLimits> = {}) =>
  (bytes: Uint8Array): XmlDocument =>
    createXmlScanner({ vocabulary, limits }).scan(bytes)

const partsOf = (scanner: ReturnType<typeof learning>, text: string): number =>
  scanner.scan(utf8(text)).parts.shapes.length

const pad = 'x'.repeat(partBytesMin)
/** A sibling that is long enough, whatever else is in it. */
const tx = (id: string, rest = '') => `<Tx><Id>${id}</Id><Nm>${pad}</Nm>${rest}</Tx>`
/** White space in the tag before them is so long that the first is looked at. */
const list = (siblings: readonly string[], attributes = '') =>
  `<A${attributes}${behind(Math.max(...siblings.map(({ length }) => length)))}>${siblings.join('')}</A>`
const behind = (bytes: number) => ' '.repeat(rowMin * bytes)
const numbered = (count: number, rest = '') =>
  Array.from({ length: count }, (_, i) => tx(String(i), rest))

describe('an element like one before it', () => {
  test('is known from the fourth on, and its tape is what a scan alone gives', () => {
    const scanner = learning()
    const text = list(numbered(10))
    const document = scanner.scan(utf8(text))
    // With the second it is learned what is the same, with the third what varies.
    expect(document.parts.shapes.length).toBe(7)
    expect(new Set(document.parts.shapes).size).toBe(1)
    expect(document.parts.places.filter((_, i) => i % 2 === 0)).toEqual(
      Array.from({ length: 7 }, (_, i) => document.root + 1 + (i + 3) * 5),
    )
    expect(outcomeOf(learning().scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
  })

  test('is known by those of earlier documents', () => {
    const scanner = learning()
    scanner.scan(utf8(list(numbered(4))))
    expect(partsOf(scanner, list([numbered(3).join(' '), '<Tail/>']))).toBe(2)
  })

  test(`is looked for behind ${rowMin} times its bytes`, () => {
    const inRow = (count: number) => `<A>${numbered(count).join('')}</A>`
    // The first two that are looked at are learned, as above.
    expect(partsOf(learning(), inRow(rowMin + 2))).toBe(0)
    expect(partsOf(learning(), inRow(rowMin + 4))).toBe(2)
  })

  test('has its numbers of nodes and attributes told where it stands', () => {
    const scanner = learning()
    const rest = '<Amt Ccy="BRL" Id="1">5</Amt>'
    const document = scanner.scan(utf8(list(numbered(5, rest), ' Id="1"')))
    expect(document.parts.places).toEqual([22, 7, 29, 9])
    expect(document.firstAttribute(29 + 5)).toBe(9)
    expect(document.attributeName(9)).toBe('Ccy')
  })

  test('takes the namespace of where it stands', () => {
    const scanner = learning()
    scanner.scan(utf8(list(numbered(5), ' xmlns="urn:a"')))
    for (const text of [
      list(numbered(5), ' xmlns:p="urn:p" xmlns="urn:b"'),
      list(numbered(5)),
      `<p:A xmlns:p="urn:p">${list(numbered(3), ' xmlns="urn:c"')}${numbered(3).join('')}</p:A>`,
    ]) {
      expect(partsOf(scanner, text)).toBeGreaterThan(1)
      expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
    }
  })

  test.each([
    ['a name beyond the vocabulary', '<Unknown>1</Unknown>'],
    ['a prefix', '<p:Nm>1</p:Nm>'],
    ['the prefix of the default namespace', '<same:Nm>1</same:Nm>'],
    ['an attribute with a prefix', '<Nm p:a="1">1</Nm>'],
    ['xml:space', '<Nm xml:space="preserve"> </Nm>'],
    ['a namespace', '<Nm xmlns="urn:b">1</Nm>'],
    ['the namespace it has already', '<Nm xmlns="urn:a">1</Nm>'],
    ['a namespace for a prefix', '<Nm xmlns:q="urn:b">1</Nm>'],
    ['markup beyond ASCII', '<!-- é -->'],
  ])('is scanned where it holds %s', (_, rest) => {
    const scanner = learning()
    const text = list(numbered(9, rest), ' xmlns="urn:a" xmlns:p="urn:p" xmlns:same="urn:a"')
    expect(partsOf(scanner, text)).toBe(0)
    expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
  })

  test.each([
    ['a comment', '<!-- c -->'],
    ['a CDATA section', '<Nm><![CDATA[<&]]></Nm>'],
    ['white space', '\n  <Nm>1</Nm>\n'],
    ['line ends of another kind', '\r\n<Nm>1\r</Nm>'],
    ['a character reference', '<Nm>&#233;</Nm>'],
    ['an empty element', '<Nm/><Id a=""/>'],
    ['an attribute to be decoded', '<Nm a="&amp;">1</Nm>'],
  ])('is known also where it holds %s', (_, rest) => {
    const scanner = learning()
    const text = list(numbered(9, rest))
    expect(partsOf(scanner, text)).toBe(6)
    expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
  })

  test('is none that stands in another element, has a prefix or is a text alone', () => {
    const prefixed = numbered(9).join('').replaceAll('Tx>', 'p:Tx>')
    for (const text of [
      list([`<p:B>${tx('1')}</p:B>`.repeat(9)], ' xmlns:p="urn:p"'),
      list([prefixed], ' xmlns:p="urn:p"'),
      list(Array.from({ length: 9 }, () => `<Tx>${pad}</Tx>`)),
    ]) {
      const scanner = learning()
      expect(partsOf(scanner, text)).toBe(0)
      expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
    }
  })

  /** As short as they may be, so that one that holds many is not too long itself. */
  const inner = (count: number) =>
    Array.from({ length: count }, (_, i) => {
      const start = `<Inner><Id>${i % 10}</Id><Nm>`
      const end = '</Nm></Inner>'
      return start + 'x'.repeat(partBytesMin - start.length - end.length) + end
    }).join('')

  test('is known within another one, which then is not', () => {
    const scanner = learning()
    const text = list(Array.from({ length: 16 }, () => `<Tx>${inner(rowMin + 2)}</Tx>`))
    const { shapes } = scanner.scan(utf8(text)).parts
    expect(shapes.length).toBeGreaterThan(20)
    expect(new Set(shapes).size).toBe(1)
    expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
  })

  test('is known within another one that is learned, and so is that', () => {
    const scanner = learning()
    const one = `<Tx>${inner(2)}</Tx>`
    scanner.scan(utf8(list([one, one, one, one, one])))
    const text = list([one, one, `<Tx>${inner(rowMin + 6)}</Tx>`, one, one])
    const { shapes } = scanner.scan(utf8(text)).parts
    expect(new Set(shapes).size).toBe(2)
    expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
  })

  test('is known in any number', () => {
    const scanner = learning()
    const text = list(numbered(3000, '<Amt Ccy="BRL" Id="1">5</Amt><B/>'))
    expect(partsOf(scanner, text)).toBeGreaterThan(2990)
    expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
  })

  test('is not looked for where one stood in the document before', () => {
    const scanner = learning()
    const before = list(numbered(6))
    expect(partsOf(scanner, before)).toBe(3)
    const at = before.lastIndexOf('<Tx>')
    const text = `<A><B>${'x'.repeat(at - 6)}</B ><Nm>1</Nm></A>`
    expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly(), utf8(text)))
  })

  test('is refused for bytes that are no UTF-8 in a value, at the same place', () => {
    const scanner = learning()
    const bytes = utf8(list(numbered(9)))
    expect(scanner.scan(bytes).parts.shapes.length).toBe(6)
    const at = bytes.lastIndexOf(0x38)
    for (const byte of [0x80, 0xc3, 0xed, 0xff]) {
      const bad = bytes.with(at, byte)
      expect(outcomeOf(scanner.scan, bad)).toEqual(outcomeOf(freshly(), bad))
    }
  })

  test('is no part of a document that is kept beyond the next scan', () => {
    const scanner = createXmlScanner({ vocabulary })
    expect(partsOf(scanner, list(numbered(9)))).toBe(0)
  })
})

describe('the limits of a document', () => {
  const limited = (limits: Partial<XmlLimits>, text: string) => {
    const scanner = learning(limits)
    // Known from documents within the limits.
    scanner.scan(utf8(list(numbered(4, '<Inner><Id>1</Id></Inner>'))))
    const bytes = utf8(text)
    const parts: number[] = []
    const outcome = outcomeOf((input) => {
      const document = scanner.scan(input)
      parts.push(document.parts.shapes.length)
      return document
    }, bytes)
    expect(outcome).toEqual(outcomeOf(freshly(limits), bytes))
    return { outcome, parts }
  }
  const five = numbered(5, '<Inner><Id>1</Id></Inner>')

  test('hold for the depth within it', () => {
    expect(limited({ depthMax: 5 }, `<B>${list(five)}</B>`).parts).toEqual([4])
    const { outcome } = limited({ depthMax: 5 }, `<B><B>${list(five)}</B></B>`)
    expect(outcome).toEqual(['depth_exceeded', expect.any(Number)])
    const last = limited({ depthMax: 5 }, `<B><B>${list([...numbered(3), five[0] ?? ''])}</B></B>`)
    expect(last.outcome).toEqual(['depth_exceeded', expect.any(Number)])
  })

  test('hold for the elements within it', () => {
    expect(limited({ elementsMax: 26 }, list(five)).parts).toEqual([4])
    const { outcome } = limited({ elementsMax: 25 }, list(five))
    expect(outcome).toEqual(['elements_exceeded', expect.any(Number)])
  })

  test('hold for its values', () => {
    const textBytesMax = pad.length
    const text = (bytes: number) =>
      list([...five, five[0]?.replace('>0<', `>${'1'.repeat(bytes)}<`) ?? ''])
    expect(limited({ textBytesMax }, text(textBytesMax)).parts).toEqual([5])
    const { outcome } = limited({ textBytesMax }, text(textBytesMax + 1))
    expect(outcome).toEqual(['text_too_long', expect.any(Number)])
  })
})

describe('what is remembered of elements', () => {
  test(`is those that begin ${partBytesMin} bytes behind the one before`, () => {
    const text = (bytes: number) =>
      list(Array.from({ length: 9 }, () => `<Tx><Id>${'1'.repeat(bytes - 18)}</Id></Tx>`))
    expect(partsOf(learning(), text(partBytesMin - 1))).toBe(0)
    expect(partsOf(learning(), text(partBytesMin))).toBe(7)
  })

  test(`is those of up to ${partBytesMax} bytes`, () => {
    const text = (bytes: number) =>
      list(Array.from({ length: 9 }, () => `<Tx><Id>${'1'.repeat(bytes - 18)}</Id></Tx>`))
    expect(partsOf(learning(), text(partBytesMax))).toBe(7)
    expect(partsOf(learning(), text(partBytesMax + 1))).toBe(0)
  })

  test(`is ${partsLearnedMax} of one document`, () => {
    const thrice = (name: string) => `<${name}><Id>1</Id><Nm>${pad}</Nm></${name}>`.repeat(3)
    const scanner = learning()
    // Documents that differ, so that no shape of a whole one is known.
    const parts = [1, 2, 3].map((number) =>
      partsOf(scanner, `${list([...many.map(thrice), '<Tail/>'])}<!-- ${number} -->`),
    )
    // The first of three in a row is scanned, and in the first document the second is learned.
    expect(parts).toEqual([partsLearnedMax, 2 * partsLearnedMax + 2, 2 * many.length])
  })

  test(`is those with up to ${shapeValuesMax} values of their own`, () => {
    const one = (values: number, each: string) => `<Tx>${`<B>${each}</B>`.repeat(values)}</Tx>`
    const text = (values: number) => list([...'12345'].map((each) => one(values, each)))
    expect(partsOf(learning(), text(shapeValuesMax))).toBe(2)
    expect(partsOf(learning(), text(shapeValuesMax + 1))).toBe(0)
  })

  test(`is little where none recurs: ${learningsMax} one after the other`, () => {
    const scanner = learning()
    const document = (id: number) =>
      list(['<Tx/>', ...Array.from({ length: 16 }, (_, i) => tx('1', `<!-- ${id * 16 + i} -->`))])
    for (let i = 0; i * 16 <= learningsMax; i++) expect(partsOf(scanner, document(i))).toBe(0)
    // Each of another structure than all before it.
    const ever = (more: number) => tx('1', '<Id/>'.repeat(more))
    const strangers = list(['<Tx/>', ...Array.from({ length: 9 }, (_, i) => ever(i + 1))])
    for (let i = 0; i < 3; i++) expect(partsOf(scanner, `${strangers}<!-- ${i} -->`)).toBe(0)
    // What comes again is worth learning all the same.
    expect(partsOf(scanner, list(numbered(99)))).toBeGreaterThan(0)
  })
})

/** Texts that a value may be, most of them plain. */
const value = fc.oneof(
  { weight: 60, arbitrary: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 .:-]{0,20}$/) },
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      ...['ção', '😀', 'a\nb', ' x', 'x ', 'a\rb', '', '&amp;', 'a&lt;b', '&#233;', '"', '>'],
    ),
  },
  fc.constantFrom('&x;', ']]>', '<![CDATA[&]]>', '<!-- c -->', '\u0001', '<i/>', '\ufffe', '<'),
)

/** What else a sibling holds. */
const rest = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.constantFrom('', '', '<Amt Ccy="BRL">1</Amt>', '<Inner><Id>1</Id></Inner>'),
  },
  fc.constantFrom(
    ...['\n ', '<!-- c -->', '<p:Nm>1</p:Nm>', '<Unknown/>', '<Nm xml:space="preserve"> </Nm>'],
    ...['<B xmlns="urn:b"/>', '<Nm p:a="1" b="2"/>', '\r\n', '<q:B/>', '</Nm>', '<Tx/>'],
    ...['<Amt Ccy="BRL" Ccy="BRL"/>', '<![CDATA[]]>', '<?p?>'],
  ),
)

const sibling = fc
  .tuple(
    value,
    fc.oneof({ weight: 9, arbitrary: fc.constant('') }, value),
    rest,
    fc.integer({ min: 0, max: 40 }),
  )
  .map(([id, name, more, kind]) => {
    const plain = `<Tx><Id>${id}</Id><Nm>${pad}${name}</Nm>${more}</Tx>`
    if (kind === 0) return `<Tx a="${id}"><Nm>${pad}${name}</Nm>${more}</Tx>`
    if (kind === 1) return plain.replaceAll('Tx>', 'Inner>')
    if (kind === 2) return `<Tx>${plain.repeat(4)}${more}</Tx>`
    if (kind === 3) return plain.replace('<Tx>', '<Tx >')
    return plain
  })

const root = fc.constantFrom(
  '',
  ' xmlns="urn:a"',
  ' xmlns:p="urn:p" xmlns="urn:a"',
  ' xmlns:p="urn:b"',
)

/** A list of siblings, sound or with one byte taken out, put in or changed; the last one cut off now and then. */
const spoiled = fc
  .tuple(
    root,
    fc.array(sibling, { minLength: 1, maxLength: 16 }),
    fc.constantFrom('', '\n'),
    fc.option(fc.tuple(fc.nat(), fc.nat(255), fc.nat(3)), { freq: 1 }),
  )
  .map(([attributes, siblings, between, change]) => {
    const bytes = utf8(`<A${attributes}${behind(pad.length)}>${siblings.join(between)}</A>`)
    if (change === null) return bytes
    const [place, byte, how] = change
    const at = place % bytes.length
    if (how === 0) return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)])
    if (how === 1) return Uint8Array.from([...bytes.subarray(0, at), byte, ...bytes.subarray(at)])
    return how === 2 ? bytes.subarray(0, at) : bytes.with(at, byte)
  })

const bounds = fc.constantFrom<Partial<XmlLimits>>(
  {},
  { depthMax: 4 },
  { elementsMax: 40 },
  { textBytesMax: pad.length + 8 },
)

describe('documents of many siblings', () => {
  test('in any order, sound or not, are what a new scanner makes of them', () => {
    let known = 0
    let sound = 0
    fc.assert(
      fc.property(
        bounds,
        fc.array(spoiled, { minLength: 20, maxLength: 40 }),
        (limits, documents) => {
          const scanner = learning(limits)
          // One that is known to begin with.
          scanner.scan(utf8(list(numbered(4))))
          for (const bytes of documents) {
            const scan = (input: Uint8Array): XmlDocument => {
              const document = scanner.scan(input)
              sound++
              known += document.parts.shapes.length
              return document
            }
            expect(outcomeOf(scan, bytes)).toEqual(outcomeOf(freshly(limits), bytes))
          }
        },
      ),
      { numRuns: runs },
    )
    expect(sound).toBeGreaterThan(runs)
    expect(known).toBeGreaterThan(runs * 5)
  }, 600_000)
})
