import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  compileForSpi,
  messageVocabulary,
  parseSchema,
  SchemaError,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { utf8 } from '../../../support/messages.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })

const schema = (inner: string, attributes = 'targetNamespace="urn:t"'): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:t" xmlns:t="urn:t" ${attributes} elementFormDefault="qualified">\n${inner}\n</xs:schema>`

const compileFiles = (files: Readonly<Record<string, string>>) => {
  const source = (name: string) => (files[name] === undefined ? undefined : utf8(files[name]))
  return compileForSpi(parseSchema('main.xsd', source))
}

/** An element `a` of that content. */
const withContent = (content: string): string =>
  schema(`<xs:element name="a">${content}</xs:element>`)
const complex = (content: string): string =>
  withContent(`<xs:complexType>${content}</xs:complexType>`)
const simple = (restriction: string): string =>
  withContent(`<xs:simpleType>${restriction}</xs:simpleType>`)
const leaf = (name: string, more = ''): string =>
  `<xs:element name="${name}" type="xs:string"${more}/>`
const facets = (base: string, inner: string): string =>
  simple(`<xs:restriction base="xs:${base}">${inner}</xs:restriction>`)
const facet = (name: string, value: string): string => `<xs:${name} value="${value}"/>`

type Case = {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** Contents and attributes of the element `a`: `x="1"|<b/>`. */
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}

const one = (name: string, main: string, valid: string[], invalid: string[]): Case => ({
  name,
  files: { 'main.xsd': main },
  valid,
  invalid,
})

const structure: readonly Case[] = [
  one(
    'a sequence, its parts optional and repeated',
    complex(
      `<xs:sequence>${leaf('b')}${leaf('c', ' minOccurs="0"')}${leaf('d', ' minOccurs="2" maxOccurs="3"')}${leaf('e', ' minOccurs="0" maxOccurs="unbounded"')}</xs:sequence>`,
    ),
    ['<b/><d/><d/>', '<b/><c/><d/><d/><d/>', '<b/><d/><d/><e/><e/><e/><e/>'],
    [
      '',
      '<b/>',
      '<b/><d/>',
      '<b/><d/><d/><d/><d/>',
      '<c/><b/><d/><d/>',
      '<b/><b/><d/><d/>',
      'text',
    ],
  ),
  one(
    'a choice in a sequence, and one that repeats',
    complex(
      `<xs:sequence><xs:choice>${leaf('b')}<xs:sequence>${leaf('c')}${leaf('d')}</xs:sequence></xs:choice><xs:choice minOccurs="0" maxOccurs="2">${leaf('e')}${leaf('f')}</xs:choice></xs:sequence>`,
    ),
    ['<b/>', '<c/><d/>', '<b/><e/><f/>', '<c/><d/><f/><f/>'],
    ['', '<c/>', '<b/><c/><d/>', '<b/><e/><e/><e/>'],
  ),
  one(
    'an empty type, and one of optional parts only',
    complex(`<xs:sequence minOccurs="0">${leaf('b')}</xs:sequence>`),
    ['', '<b/>', ' \n '],
    ['<b/><b/>', 'x', '<c/>'],
  ),
  one(
    'references to elements and groups',
    schema(
      `${leaf('b')}<xs:group name="g"><xs:sequence>${leaf('c')}${leaf('d')}</xs:sequence></xs:group><xs:element name="a"><xs:complexType><xs:sequence><xs:element ref="b"/><xs:group ref="t:g" maxOccurs="2"/></xs:sequence></xs:complexType></xs:element>`,
    ),
    ['<b/><c/><d/>', '<b/><c/><d/><c/><d/>'],
    ['<b/>', '<b/><c/>', '<c/><d/>'],
  ),
  one(
    'an extension, whose parts follow those of its base',
    schema(
      `<xs:complexType name="Base"><xs:sequence>${leaf('b')}</xs:sequence><xs:attribute name="x" type="xs:int"/></xs:complexType><xs:element name="a"><xs:complexType><xs:complexContent><xs:extension base="Base"><xs:sequence>${leaf('c')}</xs:sequence><xs:attribute name="y" type="xs:date" use="required"/></xs:extension></xs:complexContent></xs:complexType></xs:element>`,
    ),
    ['y="2026-01-01"|<b/><c/>', 'x="1" y="2026-01-01"|<b/><c/>'],
    ['|<b/><c/>', 'y="2026-01-01"|<b/>', 'x="a" y="2026-01-01"|<b/><c/>', 'y="x"|<b/><c/>'],
  ),
  one(
    'a restriction, which stands for itself',
    schema(
      `<xs:complexType name="Base"><xs:sequence>${leaf('b', ' minOccurs="0"')}${leaf('c')}</xs:sequence></xs:complexType><xs:element name="a"><xs:complexType><xs:complexContent><xs:restriction base="Base"><xs:sequence>${leaf('c')}</xs:sequence></xs:restriction></xs:complexContent></xs:complexType></xs:element>`,
    ),
    ['<c/>'],
    ['<b/><c/>', ''],
  ),
  one(
    'a restriction, which keeps the attributes it does not speak of',
    schema(
      `<xs:complexType name="Base"><xs:sequence>${leaf('b', ' minOccurs="0"')}</xs:sequence><xs:attribute name="w" type="xs:int"/><xs:attribute name="x" type="xs:string"/><xs:attribute name="y" type="xs:string" use="required"/></xs:complexType><xs:complexType name="Less"><xs:complexContent><xs:restriction base="Base"><xs:sequence>${leaf('b')}</xs:sequence><xs:attribute name="w" use="prohibited"/><xs:attribute name="x" type="xs:token" use="required"/></xs:restriction></xs:complexContent></xs:complexType><xs:element name="a"><xs:complexType><xs:complexContent><xs:extension base="Less"><xs:sequence>${leaf('c')}</xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:element>`,
    ),
    ['x="1" y="1"|<b/><c/>'],
    ['y="1"|<b/><c/>', 'x="1"|<b/><c/>', 'w="1" x="1" y="1"|<b/><c/>', 'x="1" y="1"|<c/>'],
  ),
  one(
    'a restriction of anything',
    complex(
      `<xs:complexContent><xs:restriction base="xs:anyType"><xs:sequence>${leaf('b')}</xs:sequence></xs:restriction></xs:complexContent>`,
    ),
    ['<b/>'],
    ['', '<c/>', 'x="1"|<b/>'],
  ),
  one(
    'simple content derived twice',
    schema(
      `<xs:complexType name="One"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="x" type="xs:int" use="required"/></xs:extension></xs:simpleContent></xs:complexType><xs:complexType name="Two"><xs:simpleContent><xs:extension base="One"><xs:attribute name="y" type="xs:int"/></xs:extension></xs:simpleContent></xs:complexType><xs:element name="a"><xs:complexType><xs:simpleContent><xs:restriction base="Two">${facet('maxInclusive', '5')}<xs:attribute name="y" type="xs:int" use="required"/></xs:restriction></xs:simpleContent></xs:complexType></xs:element>`,
    ),
    ['x="1" y="2"|5'],
    ['x="1"|5', 'y="2"|5', 'x="1" y="2"|6', 'x="a" y="2"|5'],
  ),
  one(
    'attributes in the namespace',
    schema(
      `<xs:element name="a"><xs:complexType><xs:attribute name="x" type="xs:int"/><xs:attribute name="y" type="xs:int" form="unqualified"/></xs:complexType></xs:element>`,
      'targetNamespace="urn:t" attributeFormDefault="qualified"',
    ),
    ['xmlns:t="urn:t" t:x="1" y="1"|', '|'],
    ['x="1"|', 'xmlns:t="urn:t" t:y="1"|'],
  ),
  one(
    'any attribute',
    complex('<xs:anyAttribute processContents="skip"/>'),
    ['x="1"|', 'xmlns:z="urn:z" z:x="1"|', '|'],
    ['x="1"|<b/>'],
  ),
  one(
    'mixed content, otherwise written',
    complex(
      `<xs:complexContent mixed="1"><xs:restriction base="xs:anyType"><xs:sequence>${leaf('b')}</xs:sequence></xs:restriction></xs:complexContent>`,
    ),
    ['x<b/>y'],
    ['x'],
  ),
  one(
    'simple content with attributes, and its restriction',
    schema(
      `<xs:complexType name="Amount"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="Ccy" type="xs:string" use="required"/></xs:extension></xs:simpleContent></xs:complexType><xs:element name="a"><xs:complexType><xs:simpleContent><xs:restriction base="Amount">${facet('fractionDigits', '2')}</xs:restriction></xs:simpleContent></xs:complexType></xs:element>`,
    ),
    ['Ccy="BRL"|1.23', 'Ccy=""| 1 '],
    ['|1.23', 'Ccy="BRL"|1.234', 'Ccy="BRL"|x', 'Ccy="BRL" z="1"|1', 'Ccy="BRL"|<b/>'],
  ),
  one(
    'nested types without names',
    complex(
      `<xs:sequence><xs:element name="b"><xs:complexType><xs:sequence><xs:element name="c"><xs:simpleType><xs:restriction><xs:simpleType><xs:restriction base="xs:string">${facet('maxLength', '3')}</xs:restriction></xs:simpleType>${facet('minLength', '2')}</xs:restriction></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element></xs:sequence>`,
    ),
    ['<b><c>xx</c></b>', '<b><c>xxx</c></b>'],
    ['<b><c>x</c></b>', '<b><c>xxxx</c></b>', '<b/>'],
  ),
  one(
    'a fixed value, of elements and attributes',
    complex(
      '<xs:sequence><xs:element name="b" type="xs:decimal" fixed="1.5"/></xs:sequence><xs:attribute name="x" type="xs:string" fixed="y"/>',
    ),
    ['<b>1.5</b>', 'x="y"|<b>1.5</b>'],
    ['<b>1.6</b>', 'x="z"|<b>1.5</b>'],
  ),
  one(
    'mixed content and an attribute that may not be',
    withContent(
      `<xs:complexType mixed="true"><xs:sequence>${leaf('b')}</xs:sequence></xs:complexType>`,
    ),
    ['x<b/>y', '<b/>'],
    ['x', 'x="1"|<b/>'],
  ),
  one(
    'wildcards that look, look where they can, and do not look',
    schema(
      `${leaf('b')}<xs:element name="n" type="xs:int"/><xs:element name="a"><xs:complexType><xs:sequence><xs:element name="s" minOccurs="0"><xs:complexType><xs:sequence><xs:any/></xs:sequence></xs:complexType></xs:element><xs:element name="l" minOccurs="0"><xs:complexType><xs:sequence><xs:any processContents="lax"/></xs:sequence></xs:complexType></xs:element><xs:element name="k" minOccurs="0"><xs:complexType><xs:sequence><xs:any namespace="##other" processContents="skip"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>`,
    ),
    [
      '<s><n>1</n></s>',
      '<l><n>1</n></l>',
      '<l><z xmlns="urn:z">1</z></l>',
      '<k><z xmlns="urn:z"/></k>',
    ],
    ['<s><n>x</n></s>', '<s><z xmlns="urn:z"/></s>', '<l><n>x</n></l>', '<k><n>1</n></k>', '<s/>'],
  ),
  one(
    'xs:unique',
    withContent(
      `<xs:complexType><xs:sequence><xs:element name="b" maxOccurs="9"><xs:complexType><xs:sequence>${leaf('c', ' minOccurs="0"')}</xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType><xs:unique name="u"><xs:selector xpath="t:b"/><xs:field xpath="t:c"/></xs:unique>`,
    ),
    ['<b><c>1</c></b><b><c>2</c></b>', '<b/><b/>'],
    ['<b><c>1</c></b><b/><b><c>1</c></b>'],
  ),
  {
    name: 'what it includes, also of no namespace and in a ring, and imports',
    files: {
      'main.xsd': schema(
        `<xs:include schemaLocation="shared.xsd"/><xs:include schemaLocation="ring.xsd"/><xs:import namespace="urn:i" schemaLocation="imported.xsd"/><xs:element name="a"><xs:complexType><xs:sequence><xs:element name="b" type="Shared"/><xs:element name="c" type="Ring"/><xs:element xmlns:i="urn:i" name="d" type="i:Imported"/></xs:sequence></xs:complexType></xs:element>`,
      ),
      'shared.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"><xs:simpleType name="Shared"><xs:restriction base="Short"/></xs:simpleType><xs:simpleType name="Short"><xs:restriction base="xs:string"><xs:maxLength value="2"/></xs:restriction></xs:simpleType></xs:schema>`,
      'ring.xsd': schema(
        '<xs:include schemaLocation="main.xsd"/><xs:simpleType name="Ring"><xs:restriction base="xs:boolean"/></xs:simpleType>',
      ),
      'imported.xsd': schema(
        '<xs:simpleType name="Imported"><xs:restriction base="xs:int"/></xs:simpleType>',
        'targetNamespace="urn:i"',
      ),
    },
    valid: ['<b>xx</b><c>true</c><d>1</d>'],
    invalid: ['<b>xxx</b><c>1</c><d>1</d>', '<b/><c>x</c><d>1</d>', '<b/><c>1</c><d>x</d>'],
  },
]

const values: readonly Case[] = [
  one(
    'pattern',
    facets('string', facet('pattern', '[A-Z]{2}') + facet('pattern', 'x+')),
    ['AB', 'xx'],
    ['A', 'ABC', ''],
  ),
  one(
    'enumeration',
    facets('string', facet('enumeration', 'A') + facet('enumeration', 'é')),
    ['A', 'é'],
    ['B', ' A', ''],
  ),
  one('length', facets('string', facet('length', '2')), ['ab', '😀é'], ['a', 'abc', '']),
  one(
    'minLength and maxLength',
    facets('string', facet('minLength', '1') + facet('maxLength', '2')),
    ['a', '&#10;b'],
    ['', 'abc'],
  ),
  one(
    'inclusive bounds',
    facets('decimal', facet('minInclusive', '-1.5') + facet('maxInclusive', '2')),
    ['-1.50', '2.0', '0'],
    ['-1.51', '2.01'],
  ),
  one(
    'exclusive bounds',
    facets('integer', facet('minExclusive', '0') + facet('maxExclusive', '3')),
    ['1', '+2'],
    ['0', '3', '1.0'],
  ),
  one(
    'totalDigits and fractionDigits',
    facets('decimal', facet('totalDigits', '4') + facet('fractionDigits', '2')),
    ['12.34', '0012.3400', '-999.9'],
    ['123.45', '1.234', '12345'],
  ),
  one(
    'whiteSpace',
    facets('string', facet('whiteSpace', 'collapse') + facet('maxLength', '3')),
    [' a  b ', '\na\n'],
    ['a b c'],
  ),
  one(
    'dates',
    facets('date', ''),
    ['2024-02-29', '2026-12-31Z', '2026-01-01-03:00'],
    ['2026-02-29', '2026-1-1', ''],
  ),
  one(
    'times',
    facets('time', ''),
    ['00:00:00', '23:59:59.999Z', '24:00:00'],
    ['24:00:01', '1:00:00'],
  ),
  one(
    'instants',
    facets('dateTime', ''),
    ['2026-03-02T14:05:09.123Z', '2026-03-02T14:05:09'],
    ['2026-03-02', '2026-03-02T25:00:00Z'],
  ),
  one('booleans', facets('boolean', ''), ['true', '0', ' 1 '], ['TRUE', '']),
  one('base64', facets('base64Binary', ''), ['', 'AAAA', 'AA==', 'A A A A'], ['AAA', 'AB==']),
  one(
    'integers of a size',
    facets('int', ''),
    ['2147483647', '-2147483648'],
    ['2147483648', '1.0'],
  ),
]

const document = (content: string): string => {
  const bar = content.indexOf('|')
  const attributes = bar === -1 ? '' : ` ${content.slice(0, bar)}`
  return `<a xmlns="urn:t"${attributes}>${content.slice(bar + 1)}</a>`
}

const xmllint = Bun.which('xmllint')
let directory = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'compile-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Verdicts of libxml2, so that our table says what XML Schema says; none where it is not installed. */
const theirs = async ({ files, valid, invalid }: Case): Promise<readonly boolean[]> => {
  if (xmllint === null) return [...valid.map(() => true), ...invalid.map(() => false)]
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const names = [...valid, ...invalid].map((content, index) => {
    const name = join(directory, `${index}.xml`)
    writeFileSync(name, document(content))
    return name
  })
  const command = [xmllint, '--noout', '--schema', join(directory, 'main.xsd'), ...names]
  const run = Bun.spawn(command, { stderr: 'pipe', stdout: 'ignore' })
  const report = await new Response(run.stderr).text()
  return names.map((name) => report.includes(`${name} validates\n`))
}

describe('a schema is compiled and judges', () => {
  for (const each of [...structure, ...values]) {
    test(each.name, async () => {
      const compiled = compileFiles(each.files)
      const ours = [...each.valid, ...each.invalid].map(
        (content) => validateDocument(compiled, scanner.scan(utf8(document(content)))).valid,
      )
      expect(ours).toEqual([...each.valid.map(() => true), ...each.invalid.map(() => false)])
      expect(await theirs(each)).toEqual(ours)
    })
  }
})

describe('what is not supported, or wrong, is refused with file and line', () => {
  const type = (inner: string): string =>
    schema(`<xs:simpleType name="T">\n${inner}\n</xs:simpleType>`)
  test.each([
    ['<xs:schema', 0, 'not well-formed'],
    ['<a xmlns="http://www.w3.org/2001/XMLSchema"/>', 1, 'the root is not <schema>'],
    ['<schema/>', 1, 'no XSD element'],
    [schema('<xs:attributeGroup name="g"/>'), 2, '<attributeGroup> is not supported'],
    [schema('<xs:redefine schemaLocation="x"/>'), 2, '<redefine> is not supported'],
    [type('<xs:union memberTypes="xs:int"/>'), 2, 'only a restriction is supported'],
    [type('<xs:list itemType="xs:int"/>'), 2, 'only a restriction is supported'],
    [facets('string', '\n<xs:assertion test="1"/>'), 3, '<assertion> is not supported here'],
    [facets('string', '\n<xs:maxLength value="x"/>'), 3, 'maxLength is a number'],
    [facets('string', '\n<xs:pattern value="[a"/>'), 3, 'of the pattern'],
    [facets('string', '\n<xs:pattern value="\\p{IsGreek}"/>'), 3, 'IsGreek} is not supported'],
    [facets('string', '\n<xs:minInclusive value="1"/>'), 3, 'supported for numbers only'],
    [facets('decimal', '\n<xs:minInclusive value="x"/>'), 3, 'is no number'],
    [facets('string', '\n<xs:whiteSpace value="x"/>'), 3, 'preserve, replace or collapse'],
    [facets('duration', ''), 2, 'xs:duration is not supported'],
    [complex('\n<xs:all/>'), 3, '<all> is not supported'],
    [complex(`<xs:sequence>\n${leaf('b', ' nillable="true"')}</xs:sequence>`), 3, 'nillable of'],
    [complex(`<xs:sequence>\n${leaf('b', ' maxOccurs="2001"')}</xs:sequence>`), 3, 'number up to'],
    [
      complex(`<xs:sequence>\n${leaf('b', ' minOccurs="2"')}</xs:sequence>`),
      3,
      'maxOccurs is below minOccurs',
    ],
    [
      complex(`<xs:sequence>${leaf('b', ' minOccurs="0"')}${leaf('b')}</xs:sequence>`),
      2,
      'ambiguous',
    ],
    [complex('<xs:sequence>\n<xs:element ref="z"/></xs:sequence>'), 3, 'no element {urn:t}z'],
    [complex('<xs:sequence>\n<xs:group ref="z"/></xs:sequence>'), 3, 'no group {urn:t}z'],
    [schema('<xs:element name="a" type="Z"/>'), 2, 'no type {urn:t}Z'],
    [schema('<xs:element name="a" type="p:Z"/>'), 2, 'prefix p is not bound'],
    [schema('<xs:element name="a"/>'), 2, 'either a type attribute or one type'],
    [
      complex('\n<xs:anyAttribute namespace="##other" processContents="lax"/>'),
      3,
      '<anyAttribute> is supported',
    ],
    [complex('\n<xs:anyAttribute/>'), 3, '<anyAttribute> is supported'],
    [complex('\n<xs:attribute ref="x"/>'), 3, 'ref of <attribute> is not supported'],
    [complex('\n<xs:attributeGroup ref="x"/>'), 3, '<attributeGroup> is not supported'],
    [withContent('\n<xs:complexType mixed="yes"/>'), 3, 'mixed is true or false'],
    [complex('<xs:complexContent>\n<xs:list/></xs:complexContent>'), 3, '<list> is not supported'],
    [
      complex('<xs:complexContent><xs:extension base="xs:string"/></xs:complexContent>'),
      2,
      'cannot be extended',
    ],
    [withContent(`<xs:complexType/>\n<xs:key name="k"/>`), 3, '<key> is not supported here'],
    [
      schema(`${'<xs:group name="g"><xs:sequence/></xs:group>'.repeat(2)}`),
      2,
      '{urn:t}g is declared twice',
    ],
    [schema(`${leaf('a')}\n${leaf('a')}`), 3, '{urn:t}a is declared twice'],
    [schema(`${leaf('a')}\r${leaf('a')}`), 3, '{urn:t}a is declared twice'],
    [
      schema(
        '<xs:simpleType name="T"><xs:restriction base="T"/></xs:simpleType><xs:element name="a" type="T"/>',
      ),
      2,
      'derived from itself',
    ],
    [schema('<xs:include schemaLocation="absent.xsd"/>'), 0, 'no such schema document'],
  ] as const)('%s', (main, line, message) => {
    let error: unknown
    try {
      compileFiles({ 'main.xsd': main })
    } catch (caught) {
      error = caught
    }
    expect(error).toBeInstanceOf(SchemaError)
    expect((error as SchemaError).line).toBe(line)
    expect((error as SchemaError).message).toContain(message)
  })

  test('an include of another namespace, and an import of another than it says', () => {
    const other = schema(leaf('z'), 'targetNamespace="urn:other"')
    const including = schema('<xs:include schemaLocation="other.xsd"/>')
    expect(() => compileFiles({ 'main.xsd': including, 'other.xsd': other })).toThrow(
      'is not urn:t',
    )
    const importing = schema('<xs:import namespace="urn:i" schemaLocation="other.xsd"/>')
    expect(() => compileFiles({ 'main.xsd': importing, 'other.xsd': other })).toThrow(
      'has the namespace urn:other',
    )
  })
})
