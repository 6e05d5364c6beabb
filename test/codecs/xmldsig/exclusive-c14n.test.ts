import { describe, expect, test } from 'bun:test'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { type CanonicalOptions, exclusiveC14n } from '#codecs/xmldsig'

const scanner = createXmlScanner()

/** The canonical form of the first element of that name. */
const c14n = (xml: string, name: string, options: CanonicalOptions = {}): string => {
  const document = scanner.scan(new TextEncoder().encode(xml))
  return new TextDecoder().decode(exclusiveC14n(document, nodeOf(document, name), options))
}

const nodeOf = (document: XmlDocument, name: string): number => {
  for (let node = document.root; node < document.endNode; node++) {
    if (document.kind(node) === 1 && document.qualifiedName(node) === name) return node
  }
  throw new Error(`no ${name}`)
}

describe('the examples of the recommendation (2.2)', () => {
  const one = `<n0:local xmlns:n0="foo:bar" xmlns:n3="ftp://example.org"><n1:elem2 xmlns:n1="http://example.net" xml:lang="en"><n3:stuff xmlns:n3="ftp://example.org"/></n1:elem2></n0:local>`
  const two = `<n2:pdu xmlns:n1="http://example.com" xmlns:n2="http://foo.example" xml:lang="fr" xml:space="retain"><n1:elem2 xmlns:n1="http://example.net" xml:lang="en"><n3:stuff xmlns:n3="ftp://example.org"/></n1:elem2></n2:pdu>`
  const expected = `<n1:elem2 xmlns:n1="http://example.net" xml:lang="en"><n3:stuff xmlns:n3="ftp://example.org"></n3:stuff></n1:elem2>`
  test('the same element in two contexts has one form', () => {
    expect(c14n(one, 'n1:elem2')).toBe(expected)
    expect(c14n(two, 'n1:elem2')).toBe(expected)
  })
})

describe('InclusiveNamespaces', () => {
  const xml =
    '<a xmlns="urn:d" xmlns:p="urn:p" xmlns:q="urn:q"><b><c xmlns:p="urn:other"><p:d/></c></b></a>'
  test('none: only what is visibly used', () => {
    expect(c14n(xml, 'b')).toBe('<b xmlns="urn:d"><c><p:d xmlns:p="urn:other"></p:d></c></b>')
  })
  test('listed prefixes are declared where they are in scope, and again where they change', () => {
    expect(c14n(xml, 'b', { inclusivePrefixes: ['p', 'none'] })).toBe(
      '<b xmlns="urn:d" xmlns:p="urn:p"><c xmlns:p="urn:other"><p:d></p:d></c></b>',
    )
  })
  test('#default', () => {
    const mixed = '<a xmlns="urn:d"><p:b xmlns:p="urn:p"><c/></p:b></a>'
    expect(c14n(mixed, 'p:b')).toBe('<p:b xmlns:p="urn:p"><c xmlns="urn:d"></c></p:b>')
    expect(c14n(mixed, 'p:b', { inclusivePrefixes: ['#default'] })).toBe(
      '<p:b xmlns="urn:d" xmlns:p="urn:p"><c></c></p:b>',
    )
  })
})

test('comments are left out unless asked for; an omitted element leaves its surroundings', () => {
  const xml = '<a>1<!--x-->2<b>3</b>4</a>'
  expect(c14n(xml, 'a')).toBe('<a>12<b>3</b>4</a>')
  expect(c14n(xml, 'a', { comments: true })).toBe('<a>1<!--x-->2<b>3</b>4</a>')
  const document = scanner.scan(new TextEncoder().encode(xml))
  const omit = nodeOf(document, 'b')
  expect(new TextDecoder().decode(exclusiveC14n(document, document.root, { omit }))).toBe(
    '<a>124</a>',
  )
})

test('a namespace name is escaped like any attribute value', () => {
  expect(c14n('<a xmlns="urn:a&amp;b&#10;"/>', 'a')).toBe('<a xmlns="urn:a&amp;b&#xA;"></a>')
})
