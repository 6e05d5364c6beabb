import { describe, expect, test } from 'bun:test'
import {
  compileForSpi,
  createMessageScanner,
  createSchemaValidator,
  knownVersions,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
  parseSchema,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { nativeText } from '#src/platform/runtime/index.ts'
import { QuickPass } from '../../../../codecs/iso20022/schema/quick.ts'
import { rowMin } from '../../../../codecs/xml/markup.ts'
import { generateMessage } from '../../../support/generated-messages.ts'
import { pacs008, shapedSignature, utf8 } from '../../../support/messages.ts'
import { createRandom, mutate } from '../../../support/mutations.ts'

const validate = createSchemaValidator()

const isLong = process.env['TRILHO_LONG'] === '1'
const batches = isLong ? 4000 : 250
const messagesPerType = isLong ? 100 : 6
const changesPerMessage = 12

const schemaOf = (type: string, version: string) => {
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
  return schema
}

const schema = schemaOf('pacs.008', '1.13')
/** Knows nothing of parts. */
const plain = createXmlScanner({ vocabulary: messageVocabulary })

const verdictAlone = (bytes: Uint8Array, by = schema) => validateDocument(by, plain.scan(bytes))

const signature = shapedSignature.replaceAll('q=', 'A=')
/** White space in the tag before them is so long that the first is looked at. */
const room = ' '.repeat(rowMin * 2048)
const [before = '', one = '', after = ''] = pacs008({ signature })
  .replace('<FIToFICstmrCdtTrf>', `<FIToFICstmrCdtTrf${room}>`)
  .split(/(<CdtTrfTxInf>.*<\/CdtTrfTxInf>)/)
const good = (index: number): string =>
  one
    .replace('000000000000<', `${String(index).padStart(12, '0')}<`)
    .replace('1000.50', `${index}.10`)
    .replace('Conceição', index % 3 === 0 ? 'Ana' : 'João')
const goodOnes = (count: number) => Array.from({ length: count }, (_, index) => good(index))
const batchOf = (transactions: readonly string[]) => utf8(before + transactions.join('') + after)

const learned = () => {
  const scanner = createMessageScanner(nativeText)
  for (const count of [36, 37]) {
    expect(validate(schema, scanner.scan(batchOf(goodOnes(count)))).valid).toBe(true)
  }
  return scanner
}

const judged = (scanner: ReturnType<typeof learned>, bytes: Uint8Array) => {
  const document = scanner.scan(bytes)
  return { parts: document.parts.shapes.length, verdict: validate(schema, document) }
}

/** Two lists of transactions, of one name and two types. */
const ownSchema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:t" xmlns:m="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">
<xs:element name="Document"><xs:complexType><xs:sequence>
  <xs:element name="CdtTrfTxInf"><xs:complexType><xs:sequence><xs:element name="Tx" type="Long" minOccurs="2" maxOccurs="20"/></xs:sequence></xs:complexType></xs:element>
  <xs:element name="TxInf"><xs:complexType><xs:sequence><xs:element name="Tx" type="Short" maxOccurs="20"/></xs:sequence></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element>
<xs:complexType name="Long"><xs:sequence><xs:element name="Amt" type="Amount"/><xs:element ref="Othr" minOccurs="0"/><xs:element name="Nm" type="xs:string"/></xs:sequence></xs:complexType>
<xs:complexType name="Short"><xs:sequence><xs:element name="Amt" type="Amount"/><xs:element ref="Othr" minOccurs="0"/><xs:element name="Nm"><xs:simpleType><xs:restriction base="xs:string"><xs:maxLength value="10"/></xs:restriction></xs:simpleType></xs:element></xs:sequence></xs:complexType>
<xs:complexType name="Amount"><xs:simpleContent><xs:extension base="xs:integer"><xs:attribute name="Ccy" use="required"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="[A-Z]{3}"/></xs:restriction></xs:simpleType></xs:attribute></xs:extension></xs:simpleContent></xs:complexType>
<xs:element name="Othr"><xs:complexType><xs:sequence><xs:element name="Id" maxOccurs="9"><xs:complexType><xs:sequence><xs:element name="Cd" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType><xs:unique name="u"><xs:selector xpath="m:Id"/><xs:field xpath="m:Cd"/></xs:unique></xs:element>
</xs:schema>`

const wrong: readonly (readonly [string, string])[] = [
  ['<Cd>IPAY</Cd>', '<Cd>NONE</Cd>'],
  ['.10</', '.105</'],
  ['.10</', '.x</'],
  ['E12345678', 'X12345678'],
  ['Ccy="BRL"', 'Ccy="USD"'],
  [' Ccy="BRL"', ''],
  [' Ccy="BRL"', ' Ccy="BRL" Id="a"'],
  ['<ChrgBr>SLEV</ChrgBr>', ''],
  ['</Purp>', '</Purp><Purp><Cd>IPAY</Cd></Purp>'],
  ['<Nm>', `<Nm>${'a'.repeat(141)}`],
  ['<ChrgBr>', '<ChrgBr xmlns="urn:b">'],
  ['<CdtTrfTxInf>', '<CdtTrfTxInf>text'],
  ['<CdtTrfTxInf>', '<CdtTrfTxInf xmlns="urn:b">'],
  ['<CdtTrfTxInf>', '<CdtTrfTxInf a="1">'],
]

describe('a transaction of a batch like those before it', () => {
  test('is known in every place', () => {
    const { parts, verdict } = judged(learned(), batchOf(goodOnes(40)))
    expect(parts).toBe(39)
    expect(verdict.valid).toBe(true)
  })

  test('is surely right without a thorough look', () => {
    const quick = new QuickPass(schema)
    const scanner = createMessageScanner(nativeText)
    for (const count of [40, 41, 42]) {
      expect(quick.accepts(scanner.scan(batchOf(goodOnes(count))))).toBe(true)
    }
  })

  test.each(wrong)('is judged by its own %s: %s', (from, to) => {
    for (const place of [0, 1, 6, 39]) {
      const scanner = learned()
      const bad = goodOnes(40).map((text, i) => (i === place ? text.replace(from, to) : text))
      expect(bad[place]).not.toBe(good(place))
      const bytes = batchOf(bad)
      // As it is met; and when it is known itself.
      for (let i = 0; i < 4; i++) {
        const { verdict } = judged(scanner, bytes)
        expect(verdict.valid).toBe(false)
        expect(verdict).toEqual(verdictAlone(bytes))
      }
      const all = batchOf(goodOnes(40).map((text) => text.replace(from, to)))
      for (let i = 0; i < 2; i++) expect(judged(scanner, all).verdict).toEqual(verdictAlone(all))
      // After many that fitted nothing, only some are compared until one fits.
      expect(judged(scanner, batchOf(goodOnes(39))).verdict.valid).toBe(true)
      const after = judged(scanner, batchOf(goodOnes(41)))
      expect(after.verdict.valid).toBe(true)
      expect(after.parts).toBeGreaterThan(37)
    }
  })

  test('is judged where it stands: behind, before and between what is no transaction', () => {
    const scanner = learned()
    const all = goodOnes(9).join('')
    for (const text of [
      before.replace('<GrpHdr>', `${all}<GrpHdr>`) + after,
      `${before}${all}<Purp/>${all}${after}`,
      before.replace('<Document>', `${all}<Document>`) + all + after,
      `${before.replace('pacs.008/1.13', 'other')}${all}${after}`,
      `${before.replace('<Document>', '<Document xmlns="urn:b">')}${all}${after}`,
      `${before}${all}text${all}${after}`,
    ]) {
      const bytes = utf8(text)
      const { parts, verdict } = judged(scanner, bytes)
      expect(parts).toBeGreaterThan(1)
      expect(verdict.valid).toBe(false)
      expect(verdict).toEqual(verdictAlone(bytes))
    }
  })

  test('is counted, told from one of another type, and judged by its attribute and what is unique in it', () => {
    const own = compileForSpi(parseSchema('own.xsd', () => utf8(ownSchema)))
    const quick = new QuickPass(own)
    const scanner = createMessageScanner(nativeText)
    const long = 'x'.repeat(800)
    const one = (i: number, currency: string, values: readonly number[] = []) => {
      const ids = values.map((value) => `<Id><Cd>${value}</Cd></Id>`).join('')
      const other = ids && `<Othr>${ids}</Othr>`
      return `<Tx><Amt Ccy="${currency}">${i}</Amt>${other}<Nm>${long}</Nm></Tx>`
    }
    const some = (count: number) =>
      Array.from({ length: count }, (_, i) => one(i, i % 2 === 0 ? 'BRL' : 'USD'))
    const unique = Array.from({ length: 10 }, (_, i) => one(i, 'BRL', [i, i + 10]))
    // Longer than a document whose shape as a whole is remembered.
    const rest = `<!-- ${'-x'.repeat(20_000)} -->`
    const document = (first: readonly string[], second: readonly string[]) =>
      utf8(
        `<Document xmlns="urn:t">${rest}<CdtTrfTxInf${room}>${first.join('')}</CdtTrfTxInf><TxInf${room}>${second.join('')}</TxInf></Document>`,
      )
    const short = some(20).map((text) =>
      text.replace(long, 'short').replace('</Nm>', `</Nm><!-- ${long} -->`),
    )
    const expected: readonly (readonly [readonly string[], readonly string[], boolean])[] = [
      [some(20), short, true],
      [some(20), short.slice(0, 5), true],
      [some(2), short, true],
      [some(1), short, false],
      [some(21), short, false],
      // Right as a transaction of the other kind.
      [some(20), [short[0] ?? '', ...some(19)], false],
      [[...some(10), one(5, 'real')], short, false],
      [unique, short, true],
      [[...unique, one(5, 'BRL', [7, 7])], short, false],
      [some(20), short, true],
    ]
    for (let i = 0; i < 2; i++) {
      for (const [first, second, valid] of expected) {
        const bytes = document(first, second)
        const verdict = verdictAlone(bytes, own)
        expect(verdict.valid).toBe(valid)
        const scanned = scanner.scan(bytes)
        expect(quick.accepts(scanned)).toBe(valid)
        expect(validate(own, scanned)).toEqual(verdict)
      }
    }
    expect(scanner.scan(document(some(20), short)).parts.shapes.length).toBe(38)
  })
})

/** A change may move a prefix out of its scope. */
const isWellFormed = (text: string): boolean => {
  try {
    plain.scan(utf8(text))
    return true
  } catch {
    return false
  }
}

describe('batches', () => {
  test('of changed transactions have the verdicts that they have alone', () => {
    const random = createRandom(20261121)
    let scanner = learned()
    const document = plain.scan(batchOf([good(0)]))
    const changed = (): string => {
      const text = mutate(document, random)
      const found = isWellFormed(text) ? /<CdtTrfTxInf.*<\/CdtTrfTxInf>/s.exec(text)?.[0] : ''
      return found ?? ''
    }
    let parts = 0
    let valid = 0
    for (let i = 0; i < batches; i++) {
      if (i % 50 === 0) scanner = learned()
      const oddOne = changed()
      const transactions = goodOnes(3 + random.next(12)).map((text) =>
        random.next(8) === 0 ? (random.next(2) === 0 ? oddOne : changed()) : text,
      )
      const bytes = batchOf(transactions)
      const outcome = judged(scanner, bytes)
      expect(outcome.verdict).toEqual(verdictAlone(bytes))
      parts += outcome.parts
      valid += outcome.verdict.valid ? 1 : 0
    }
    expect(parts).toBeGreaterThan(batches)
    expect(valid).toBeGreaterThan(batches / 50)
    expect(valid).toBeLessThan(batches)
  })
})

/** Some element of the document several times more, one of them changed by its first digit. */
const repeated = (document: XmlDocument, next: (below: number) => number): string => {
  const long: number[] = []
  for (let node = document.root + 1; node < document.endNode; node++) {
    const size = document.end(node) - document.start(node)
    if (document.isElement(node) && size > 130 && size < 4000) long.push(node)
  }
  const node = long[next(long.length)]
  if (node === undefined) return document.raw(0, document.bytes.length)
  const text = document.raw(document.start(node), document.end(node))
  const copies = Array.from({ length: 8 }, (_, i) => text.replace(/>(\d)/, `>${i}`))
  const rest = document.raw(document.end(node), document.bytes.length)
  return document.raw(0, document.start(node)) + copies.join('') + rest
}

describe('messages of any type whose elements repeat', () => {
  const scanner = createMessageScanner(nativeText)
  let parts = 0

  test.each(messageTypes)('%s: have the verdicts that they have alone', (type) => {
    const random = createRandom(type.length * 91 + 7)
    for (const version of knownVersions(type)) {
      const ofVersion = schemaOf(type, version)
      for (let i = 0; i < messagesPerType; i++) {
        const generated = plain.scan(utf8(generateMessage(ofVersion, random)))
        const text = repeated(generated, random.next)
        const document = plain.scan(utf8(text))
        const changes = Array.from({ length: changesPerMessage }, () => mutate(document, random))
        for (const each of [text, ...changes.filter(isWellFormed)]) {
          const bytes = utf8(each)
          const scanned = scanner.scan(bytes)
          parts += scanned.parts.shapes.length
          expect(validate(ofVersion, scanned)).toEqual(verdictAlone(bytes, ofVersion))
        }
      }
    }
  })

  test('are known in part', () => {
    expect(parts).toBeGreaterThan(messageTypes.length * messagesPerType)
  })
})
