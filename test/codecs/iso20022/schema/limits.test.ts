import { describe, expect, test } from 'bun:test'
import {
  compileForSpi,
  messageFromJson,
  messageToJson,
  messageVocabulary,
  ourCatalogue,
  parseSchema,
  readMessage,
  readProblemsMax,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { statesMax } from '../../../../codecs/iso20022/schema/automaton.ts'
import { occursMax } from '../../../../codecs/iso20022/schema/xsd-declarations.ts'
import { schemaDocumentsMax } from '../../../../codecs/iso20022/schema/xsd-parse.ts'
import { pacs008, utf8 } from '../../../support/messages.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })

const schema = (inner: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">${inner}</xs:schema>`
const complex = (content: string): string =>
  schema(`<xs:element name="a"><xs:complexType>${content}</xs:complexType></xs:element>`)
const many = (name: string, count: number): string =>
  `<xs:element name="${name}" type="xs:string" minOccurs="0" maxOccurs="${count}"/>`
const compile = (main: string, others: Readonly<Record<string, string>> = {}) =>
  compileForSpi(
    parseSchema('main', (name) => {
      const text = name === 'main' ? main : others[name]
      return text === undefined ? undefined : utf8(text)
    }),
  )

describe('a schema is bounded', () => {
  test('an element is counted up to 2000', () => {
    const compiled = compile(complex(`<xs:sequence>${many('b', occursMax)}</xs:sequence>`))
    const valid = (count: number) =>
      validateDocument(compiled, scanner.scan(utf8(`<a xmlns="urn:t">${'<b/>'.repeat(count)}</a>`)))
        .valid
    expect(occursMax).toBe(2000)
    expect([0, 1, 2000, 2001].map(valid)).toEqual([true, true, true, false])
    expect(() => compile(complex(`<xs:sequence>${many('b', 2001)}</xs:sequence>`))).toThrow(
      'maxOccurs is a number up to 2000',
    )
  })

  test('a content model has 20 000 states', () => {
    const model = (last: number) => {
      const full = Array.from({ length: 9 }, (_, i) => many(`b${i}`, 2000))
      return complex(
        `<xs:sequence>${full.join('')}${many('c', 2000 - 1)}${many('d', last)}</xs:sequence>`,
      )
    }
    expect(statesMax).toBe(20_000)
    expect(() => compile(model(1))).not.toThrow()
    expect(() => compile(model(2))).toThrow('more than 20000 states')
  })

  test('is made of 64 documents', () => {
    const documents = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          `${i}.xsd`,
          `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${i + 1 < count ? `<xs:include schemaLocation="${i + 1}.xsd"/>` : ''}</xs:schema>`,
        ]),
      )
    const main = schema(
      '<xs:include schemaLocation="0.xsd"/><xs:element name="a" type="xs:string"/>',
    )
    expect(schemaDocumentsMax).toBe(64)
    expect(() => compile(main, documents(63))).not.toThrow()
    expect(() => compile(main, documents(64))).toThrow('more than 64 schema documents')
  })
})

describe('what is told of a message is bounded', () => {
  const official = ourCatalogue.schemaOf('pacs.008', '1.13')
  if (official === undefined) throw new Error('no schema')

  test('reading tells a hundred problems', () => {
    const problems = (count: number) => {
      const xml = pacs008({ transactions: count }).replaceAll('<ChrgBr>SLEV</ChrgBr>', '')
      const reading = readMessage(scanner.scan(utf8(xml)), { type: 'pacs.008', version: '1.13' })
      return reading.ok ? 0 : reading.problems.length
    }
    expect(readProblemsMax).toBe(100)
    expect([1, 99, 100, 101].map(problems)).toEqual([1, 99, 100, 100])
  })

  test('a JSON message tells a hundred problems', () => {
    const json = messageToJson(official, scanner.scan(utf8(pacs008({ signature: '' }))))
    const problems = (count: number) => {
      const more = Object.fromEntries(Array.from({ length: count }, (_, i) => [`X${i}`, '']))
      const built = messageFromJson(official, {
        Envelope: { ...(json.message['Envelope'] as object), ...more },
      })
      return 'problems' in built ? built.problems.length : 0
    }
    expect([0, 1, 100, 101].map(problems)).toEqual([0, 1, 100, 100])
  })
})
