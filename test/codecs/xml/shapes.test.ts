import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { xmlLimits } from '../../../codecs/xml/limits.ts'
import { branchesMax, noValue } from '../../../codecs/xml/literal.ts'
import { webNative } from '../../../codecs/xml/native.ts'
import {
  learningCosts,
  learningsMax,
  missesMax,
  missesPerHit,
  probeEvery,
  relearningCosts,
  relearningsInRowMax,
  Shapes,
  shapeBytesMax,
  shapesBytesMax,
  shapeValuesMax,
} from '../../../codecs/xml/shapes.ts'
import { Source } from '../../../codecs/xml/source.ts'
import { relearningsMax } from '../../../codecs/xml/structures.ts'
import { pacs008, utf8 } from '../../support/messages.ts'
import { outcomeOf } from '../../support/xml-outcome.ts'

/** Lists of documents; many more in the long lane. */
const runs = process.env['TRILHO_LONG'] === '1' ? 2000 : 100

const learning = () => createXmlScanner({ vocabulary: messageVocabulary, reuse: true })

const hasShape = (scanner: ReturnType<typeof learning>, text: string): boolean =>
  scanner.scan(utf8(text)).shape !== undefined

const freshly = (bytes: Uint8Array): XmlDocument =>
  createXmlScanner({ vocabulary: messageVocabulary }).scan(bytes)

/** Texts that a value may be, most of them plain. */
const value = fc.oneof(
  { weight: 20, arbitrary: fc.stringMatching(/^[A-Za-z0-9 .:-]{0,40}$/) },
  fc.constantFrom('ção', 'x\u00e3', '😀', '\ufffd', 'a\nb', '\t', ' x', 'x ', 'a\rb', '\u007f'),
  fc.constantFrom(
    '&amp;',
    'a&lt;b',
    '&#233;',
    '&x;',
    '&',
    ']',
    ']]>',
    '<![CDATA[&]]>',
    '<!-- c -->',
  ),
  fc.constantFrom('\ufffe', '\u0001', '<i/>', '"', "'", '<', '>'),
)

/** One of a few markups around values; `p` names elements by a prefix. */
const message = fc
  .record({
    id: value,
    name: value,
    other: value,
    layout: fc.nat(5),
    version: fc.constantFrom('1.13', '1.14'),
  })
  .map(({ id, name, other, layout, version }) => {
    const body = [
      `<Nm>${name}</Nm><Id>${other}</Id>`,
      `<Nm>${name}</Nm>`,
      `<Nm/><Id>${other}</Id>`,
      `\n  <Nm>${name}</Nm>\n  <Id Ccy="BRL">${other}</Id>\n`,
      `<p:Nm xmlns:p="u" p:Id="${other}">${name}</p:Nm>`,
      `<Unknown>${name}<b>${other}</b>${name}</Unknown><!-- c -->`,
    ][layout]
    return `<Envelope xmlns="urn:${version}"><AppHdr Id="${id}"><Fr>${id}</Fr></AppHdr>${body}</Envelope>`
  })

const spoiled = fc
  .tuple(
    message,
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(null) },
      fc.tuple(fc.nat(), fc.nat(255), fc.nat(2)),
    ),
  )
  .map(([text, change]) => {
    const bytes = utf8(text)
    if (change === null) return bytes
    const [place, byte, how] = change
    const at = place % bytes.length
    if (how === 0) return Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + 1)])
    if (how === 1) return Uint8Array.from([...bytes.subarray(0, at), byte, ...bytes.subarray(at)])
    return bytes.with(at, byte)
  })

describe('a document of known shape', () => {
  test('has the shape of those before it, and all else as if it were scanned anew', () => {
    const scanner = learning()
    const text = pacs008({ signature: '' })
    const like = (account: string, order: string) =>
      utf8(text.replaceAll('500100', account).replace('Pedido', order))
    const [one, other, third] = [like('500100', 'Pedido'), like('77', 'Olá &amp;'), like('8', 'x')]
    for (const bytes of [one, other]) expect(scanner.scan(bytes).shape).toBeUndefined()
    const { shape } = scanner.scan(third)
    expect(shape).toBeDefined()
    for (const bytes of [other, one, third]) {
      expect(scanner.scan(bytes).shape).toBe(shape)
      expect(outcomeOf(scanner.scan, bytes)).toEqual(outcomeOf(freshly, bytes))
    }
  })

  test('is told from one that differs by an element, which then is known too', () => {
    const scanner = learning()
    const texts = [
      '<a><b>1</b></a>',
      '<a><b>1</b><c/></a>',
      '<a><b>1</b><c>2</c></a>',
      '<a><b></b></a>',
    ]
    expect(texts.map((text) => hasShape(scanner, text))).toEqual([false, false, false, false])
    expect(texts.map((text) => hasShape(scanner, text))).toEqual([true, true, true, true])
    const shapes = texts.map((text) => scanner.scan(utf8(text)).shape)
    expect(new Set(shapes).size).toBe(4)
  })

  test('has those values of its own that were seen to vary', () => {
    const scanner = learning()
    const text = (id: string, uri: string, t: string, u: string) =>
      `<a Id="${id}" x="1"><b URI='${uri}'>${t}</b><c>${u}</c></a>`
    const scanned = (...values: readonly [string, string, string, string]) =>
      scanner.scan(utf8(text(...values)))
    expect(scanned('1', '#1', 't', 'u').shape).toBeUndefined()
    expect(scanned('2', '#2', 't', 'u').shape).toBeUndefined()
    expect(scanned('3', '#3', 't', 'u').shape?.variableAttributes).toEqual(Int32Array.of(0, 2))
    // One more: the ones before stay what they are, also where they are the same by chance.
    expect(scanned('3', '#1', 't', 'v').shape).toBeUndefined()
    const document = scanned('a longer one', '#', 't', 'w')
    expect(document.shape?.variableAttributes).toEqual(Int32Array.of(0, 2))
    expect(document.shape?.variableTexts).toEqual(Int32Array.of(4))
    expect(document.attribute(document.root, 'Id')).toBe('a longer one')
    expect(scanned('1', '#1', 'other', 'w').shape).toBeUndefined()
  })

  test('has a value of its own where it is beyond ASCII', () => {
    const scanner = learning()
    expect(hasShape(scanner, '<a>é</a>')).toBe(false)
    expect(hasShape(scanner, '<a>plain</a>')).toBe(true)
    expect(hasShape(scanner, '<a b="é">plain</a>')).toBe(false)
    expect(hasShape(scanner, '<a b="é">plain</a>')).toBe(false)
  })

  test.each(['', 'é', '&lt;', 'a\tb'])('has no attribute value such as %j', (value) => {
    const scanner = learning()
    const text = (one: string) => `<a b='${one}'>t</a>`
    for (const one of ['1', '2', '3']) scanner.scan(utf8(text(one)))
    expect(hasShape(scanner, text('4'))).toBe(true)
    expect(hasShape(scanner, text(value))).toBe(false)
    expect(outcomeOf(scanner.scan, utf8(text(value)))).toEqual(
      outcomeOf(freshly, utf8(text(value))),
    )
  })

  test('has an attribute value with quotes of the other kind', () => {
    const scanner = learning()
    const text = (one: string) => `<a b='${one}'>t</a>`
    for (const one of ['1', '2', '3']) scanner.scan(utf8(text(one)))
    expect(hasShape(scanner, text('a"b>'))).toBe(true)
    expect(outcomeOf(scanner.scan, utf8(text('a"b>')))).toEqual(
      outcomeOf(freshly, utf8(text('a"b>'))),
    )
  })

  test('is no document kept beyond the next scan', () => {
    const scanner = createXmlScanner()
    scanner.scan(utf8('<a>1</a>'))
    expect(scanner.scan(utf8('<a>1</a>')).shape).toBeUndefined()
  })

  test.each([
    ['a value of white space', '<a> </a>'],
    ['one that begins with it', '<a> 1</a>'],
    ['an angle bracket', '<a>></a>'],
    ['a character reference', '<a>&#49;</a>'],
    ['a CDATA section', '<a>1<![CDATA[2]]></a>'],
    ['no value', '<a></a>'],
    ['white space in its markup', '<a >1</a>'],
    ['something behind it', '<a>1</a> '],
  ])('has not %s', (_, text) => {
    const scanner = learning()
    for (let i = 0; i < 3; i++) scanner.scan(utf8(`<a>${i}</a>`))
    expect(hasShape(scanner, '<a>1</a>')).toBe(true)
    expect(hasShape(scanner, text)).toBe(false)
    expect(outcomeOf(scanner.scan, utf8(text))).toEqual(outcomeOf(freshly, utf8(text)))
  })

  test('is refused for bytes that are no UTF-8 in a value, at the same place', () => {
    const scanner = learning()
    const bytes = utf8('<a><b>12345</b><b>6</b></a>')
    for (const digit of [0x31, 0x32]) scanner.scan(bytes.with(8, digit))
    expect(scanner.scan(bytes).shape).toBeDefined()
    for (const byte of [0x80, 0xc3, 0xed, 0xff]) {
      const bad = bytes.with(8, byte)
      expect(outcomeOf(scanner.scan, bad)).toEqual(outcomeOf(freshly, bad))
    }
  })

  test('is refused for a text beyond its limit', () => {
    const limits = { textBytesMax: 8 }
    const scanner = createXmlScanner({ reuse: true, limits })
    for (const one of ['1', '2']) scanner.scan(utf8(`<a>${one}</a>`))
    expect(hasShape(scanner, '<a>12345678</a>')).toBe(true)
    expect(outcomeOf(scanner.scan, utf8('<a>123456789</a>'))).toEqual(['text_too_long', 3])
  })

  test('in any order of documents, sound or not, gives what a new scanner gives', () => {
    let known = 0
    fc.assert(
      fc.property(fc.array(spoiled, { minLength: 40, maxLength: 60 }), (documents) => {
        const scanner = learning()
        for (const bytes of documents) {
          const scan = (input: Uint8Array): XmlDocument => {
            const document = scanner.scan(input)
            if (document.shape !== undefined) known++
            return document
          }
          expect(outcomeOf(scan, bytes)).toEqual(outcomeOf(freshly, bytes))
        }
      }),
      { numRuns: runs },
    )
    expect(known).toBeGreaterThan(runs)
  }, 600_000)
})

describe('what is remembered', () => {
  test(`is documents of up to ${shapeBytesMax} bytes`, () => {
    const scanner = learning()
    const text = (bytes: number) => `<a><b>${'x'.repeat(bytes - 14)}</b></a>`
    const known = [shapeBytesMax, shapeBytesMax, shapeBytesMax + 1].map((bytes) =>
      hasShape(scanner, text(bytes)),
    )
    expect(known).toEqual([false, true, false])
  })

  test(`is shapes of up to ${shapeValuesMax} values of their own`, () => {
    const text = (values: number, each: string) => `<a>${`<b>${each}</b>`.repeat(values)}</a>`
    const known = [0, 1].map((more) => {
      const scanner = learning()
      const all = ['1', '2', '3'].map((each) =>
        hasShape(scanner, text(shapeValuesMax + more, each)),
      )
      return all.at(-1)
    })
    expect(known).toEqual([true, false])
  })

  test(`is ${branchesMax} ways to go on`, () => {
    const scanner = learning()
    const text = (name: number) => `<a>1<b${name}/></a>`
    for (let name = 0; name <= branchesMax; name++) {
      // Documents of a known shape earn what learning costs.
      for (let i = 0; i <= learningCosts; i++) scanner.scan(utf8(text(name)))
    }
    expect(hasShape(scanner, text(0))).toBe(true)
    expect(hasShape(scanner, text(branchesMax - 1))).toBe(true)
    expect(hasShape(scanner, text(branchesMax))).toBe(false)
  })

  test('is little where shapes do not recur, until they do', () => {
    const scanner = learning()
    let name = 0
    for (; name < learningsMax; name++)
      expect(hasShape(scanner, `<a${name}>1</a${name}>`)).toBe(false)
    expect(hasShape(scanner, `<a${name}>1</a${name}>`)).toBe(false)
    expect(hasShape(scanner, `<a${name}>1</a${name}>`)).toBe(false)
    const known = Array.from({ length: probeEvery }, () => hasShape(scanner, '<a1>1</a1>'))
    // Compared again now and then, and always once that paid.
    expect(known).toContain(true)
    expect(known).toContain(false)
    expect(hasShape(scanner, '<a1>1</a1>')).toBe(true)
  })

  test('is compared with all documents as long as enough are known, whatever the others are', () => {
    const knownOf = (others: number) => {
      const scanner = learning()
      for (let i = 0; i < 2; i++) scanner.scan(utf8('<a>1</a>'))
      return Array.from({ length: missesMax }, (_, i) => {
        for (let name = 0; name < others; name++) scanner.scan(utf8(`<b${i}.${name}/>`))
        return hasShape(scanner, '<a>1</a>')
      })
    }
    expect(knownOf(missesPerHit - 1)).not.toContain(false)
    expect(knownOf(missesPerHit * 4)).toContain(false)
  })

  test(`is ${learningsMax} new structures, and ${relearningsInRowMax} that came again, in a row without a known document`, () => {
    const shapes = new Shapes(new Source(xmlLimits, webNative), noValue)
    const learned = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => shapes.wants(from + i, 100)).filter(Boolean).length
    expect(learned(1, learningsMax + 50)).toBe(learningsMax)
    const structures = relearningsInRowMax / relearningsMax
    for (let i = 0; i < relearningsMax - 1; i++) expect(learned(1, structures)).toBe(structures)
    expect(learned(1, structures)).toBe(structures)
    expect(learned(structures + 1, structures)).toBe(0)
  })

  test(`is each structure, ${relearningsMax} times for little because it came again`, () => {
    const shapes = new Shapes(new Source(xmlLimits, webNative), noValue)
    const wanted = Array.from({ length: 999 }, () => shapes.wants(1, 100)).filter(Boolean)
    const paid = relearningsMax * relearningCosts
    expect(wanted).toHaveLength(relearningsMax + learningsMax - paid / learningCosts)
  })

  test('is many structures at once, each with values of its own', () => {
    const scanner = learning()
    const text = (structure: number, round: number) =>
      `<A><Id>${structure * round}</Id>${'<Nm>a</Nm>'.repeat(structure)}<Id>x${round}</Id></A>`
    const known = (round: number) =>
      Array.from({ length: branchesMax }, (_, structure) =>
        hasShape(scanner, text(structure, round)),
      )
    for (let round = 0; round < 20; round++) known(round)
    expect(known(20)).not.toContain(false)
  })

  test(`is forgotten beyond ${shapesBytesMax} bytes, and learned anew`, () => {
    const scanner = learning()
    const text = (name: number) => `<a><b${name}>${'x'.repeat(shapeBytesMax - 64)}</b${name}></a>`
    let documents = 0
    for (let bytes = 0; bytes + shapeBytesMax <= shapesBytesMax + shapeBytesMax; documents++) {
      for (let i = 0; i <= learningCosts; i++) scanner.scan(utf8(text(documents)))
      bytes += shapeBytesMax
    }
    expect(hasShape(scanner, text(documents - 1))).toBe(true)
    expect(hasShape(scanner, text(0))).toBe(false)
    expect(hasShape(scanner, text(0))).toBe(true)
  })
})
