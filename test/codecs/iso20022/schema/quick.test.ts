import { describe, expect, test } from 'bun:test'
import {
  compileForSpi,
  createSchemaValidator,
  knownVersions,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
  parseSchema,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { QuickPass, quickDepthMax } from '../../../../codecs/iso20022/schema/quick.ts'
import { generateMessage } from '../../../support/generated-messages.ts'
import { pacs008, shapedSignature, utf8 } from '../../../support/messages.ts'
import { createRandom, mutate } from '../../../support/mutations.ts'

const validate = createSchemaValidator()

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const documentsPerVersion = process.env['TRILHO_LONG'] === '1' ? 200 : 8
const changesPerDocument = 12

const schemaOf = (type: string, version: string) => {
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
  return schema
}

/** A change may move a prefix out of its scope. */
const scanned = (text: string): XmlDocument | undefined => {
  try {
    return scanner.scan(utf8(text))
  } catch {
    return undefined
  }
}

const signature = shapedSignature.replaceAll('q=', 'A=')
const schema = schemaOf('pacs.008', '1.13')
const quick = new QuickPass(schema)
const sure = (text: string): boolean => quick.accepts(scanner.scan(utf8(text)))

describe('the quick pass', () => {
  for (const type of messageTypes) {
    test(`${type}: is sure of valid documents, and of them alone`, () => {
      let changedAndValid = 0
      let changed = 0
      for (const version of knownVersions(type)) {
        const ofVersion = schemaOf(type, version)
        const pass = new QuickPass(ofVersion)
        const random = createRandom(type.length * 77 + version.charCodeAt(2))
        for (let i = 0; i < documentsPerVersion; i++) {
          const text = generateMessage(ofVersion, random)
          const document = scanner.scan(utf8(text))
          expect(pass.accepts(document)).toBe(validateDocument(ofVersion, document).valid)
          for (let j = 0; j < changesPerDocument; j++) {
            const other = scanned(mutate(document, random))
            if (other === undefined) continue
            const { valid } = validateDocument(ofVersion, other)
            if (pass.accepts(other)) expect(valid).toBe(true)
            expect(validate(ofVersion, other).valid).toBe(valid)
            changed++
            if (valid) changedAndValid++
          }
        }
      }
      expect(changed).toBeGreaterThan(documentsPerVersion)
      expect(changedAndValid).toBeLessThan(changed)
    })
  }

  test('is sure of a signed message, of references in it and of white space between elements', () => {
    const text = pacs008({ signature, transactions: 3 })
    expect(sure(text)).toBe(true)
    expect(sure(text.replaceAll('><', '>\n<').replaceAll(/>\n<\//g, '></'))).toBe(true)
    expect(sure(text.replaceAll('chave@', 'chave&#x40;'))).toBe(true)
    expect(sure(text.replace('<Document>', '<!-- a comment --><Document>'))).toBe(true)
    expect(sure(text.replaceAll('Ccy="BRL"', 'Ccy="&#66;RL"'))).toBe(true)
    expect(
      sure(
        text
          .replace('<Envelope', '<p:Envelope')
          .replace('xmlns=', 'xmlns:p=')
          .replace('</Envelope', '</p:Envelope'),
      ),
    ).toBe(false)
  })

  test('is sure of every prefix', () => {
    const prefixed = pacs008({ signature })
      .replaceAll(/<(\/?)([A-Z])/g, '<$1p:$2')
      .replace('xmlns=', 'xmlns:p=')
    expect(sure(prefixed)).toBe(true)
  })

  test('is not sure of what is wrong in structure', () => {
    const text = pacs008({ signature })
    for (const wrong of [
      text.replace('<ChrgBr>SLEV</ChrgBr>', ''),
      text.replace('<ChrgBr>', '<Chrg>').replace('</ChrgBr>', '</Chrg>'),
      text.replace(' Ccy="BRL"', ''),
      text.replace(' Ccy="BRL"', ' Ccy="BRL" Id="a"'),
      text.replace(' Ccy="BRL"', ' xmlns:p="urn:p" p:Ccy="BRL"'),
      text.replace('<Document>', '<Document>text'),
      text.replace('<Document>', '<Document><![CDATA[ ]]>'),
      text.replace('<Document>', '<Document xmlns="urn:other">'),
      text.replace('http://www.w3.org/2000/09/xmldsig#"', 'urn:other"'),
      text.replace('</Purp>', '</Purp><Purp><Cd>IPAY</Cd></Purp>'),
      text.replace('<ChrgBr>SLEV', '<ChrgBr><Nm/>SLEV'),
      text.replaceAll('Envelope', 'Umschlag'),
    ]) {
      expect(wrong).not.toBe(text)
      expect(sure(wrong)).toBe(false)
    }
  })

  test('is sure up to a depth, and leaves deeper documents to the thorough pass', () => {
    const text = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:t" targetNamespace="urn:t" elementFormDefault="qualified"><xs:element name="Document" type="D"/><xs:complexType name="D"><xs:sequence><xs:element name="Document" type="D" minOccurs="0"/></xs:sequence></xs:complexType></xs:schema>`
    const nested = compileForSpi(parseSchema('nested.xsd', () => utf8(text)))
    const deepScanner = createXmlScanner({
      vocabulary: messageVocabulary,
      limits: { depthMax: 80 },
    })
    const deep = (depth: number) =>
      deepScanner.scan(
        utf8(
          `<Document xmlns="urn:t">${'<Document>'.repeat(depth - 1)}${'</Document>'.repeat(depth)}`,
        ),
      )
    const pass = new QuickPass(nested)
    expect(pass.accepts(deep(quickDepthMax))).toBe(true)
    expect(pass.accepts(deep(quickDepthMax + 1))).toBe(false)
    expect(validate(nested, deep(quickDepthMax + 1)).valid).toBe(true)
  })
})
