import { describe, expect, test } from 'bun:test'
import {
  knownVersions,
  messageFromJson,
  messageToJson,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { generateMessage } from '../../../support/generated-messages.ts'
import { pacs008, utf8 } from '../../../support/messages.ts'
import { createRandom } from '../../../support/mutations.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const decoder = new TextDecoder()

const schemaOf = (type: string, version: string) => {
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
  return schema
}

// biome-ignore lint/suspicious/noExplicitAny: a message of any type
type Loose = any

const documentsPerVersion = process.env['TRILHO_LONG'] === '1' ? 300 : 12

describe('generated documents survive the way to JSON and back, byte for byte', () => {
  for (const type of messageTypes) {
    test(type, () => {
      for (const version of knownVersions(type)) {
        const schema = schemaOf(type, version)
        const random = createRandom(type.length * 31 + version.charCodeAt(2))
        let survived = 0
        for (let i = 0; i < documentsPerVersion; i++) {
          const xml = generateMessage(schema, random)
          const document = scanner.scan(utf8(xml))
          const { violations } = validateDocument(schema, document)
          // Two adjustments of one reason are the one thing a walk cannot avoid.
          if (violations.some(({ rule }) => rule === 'unique')) continue
          expect(violations).toEqual([])
          const json = messageToJson(schema, document)
          expect(json.violations).toEqual([])
          const back = messageFromJson(schema, JSON.parse(JSON.stringify(json.message)))
          if (!back.ok) throw new Error(JSON.stringify(back))
          expect(decoder.decode(back.bytes)).toBe(xml)
          survived++
        }
        expect(survived).toBeGreaterThan(documentsPerVersion / 2)
      }
    })
  }
})

test('what a signature may hold beside ours survives too', () => {
  const schema = schemaOf('pibr.001', '1.3')
  const random = createRandom(11)
  const contents = [
    '<ds:Object Id="o">two <note xmlns="urn:other" k="1 &quot;"><a>1</a><a>2</a></note></ds:Object>',
    '<ds:Object><ds:Manifest><ds:Reference><ds:DigestMethod Algorithm="urn:a"></ds:DigestMethod><ds:DigestValue></ds:DigestValue></ds:Reference></ds:Manifest></ds:Object>',
  ]
  const xml = generateMessage(schema, random)
    .replace('</ds:Signature>', () => `${contents.join('')}</ds:Signature>`)
    .replace('<ds:X509IssuerSerial>', '<ds:X509Certificate>Zm9v</ds:X509Certificate>$&')
  const document = scanner.scan(utf8(xml))
  expect(validateDocument(schema, document).violations).toEqual([])
  const json = messageToJson(schema, document)
  expect(json.violations).toEqual([])
  const { Signature } = (json.message['Envelope'] as Loose).AppHdr.Sgntr
  expect(Signature.Object[0]).toEqual({
    '@Id': 'o',
    '#text': 'two ',
    note: { '@xmlns': 'urn:other', '@k': '1 "', a: ['1', '2'] },
  })
  const back = messageFromJson(schema, json.message)
  if (!back.ok) throw new Error(JSON.stringify(back))
  const issuer = /<ds:X509IssuerSerial>.*<\/ds:X509IssuerSerial>/.exec(xml)?.[0] ?? ''
  const certificate = '<ds:X509Certificate>Zm9v</ds:X509Certificate>'
  // Members of one choice are written in the order of the schema.
  expect(decoder.decode(back.bytes)).toBe(xml.replace(certificate + issuer, issuer + certificate))
})

describe('JSON to XML', () => {
  const schema = schemaOf('pacs.008', '1.13')
  const message = () => {
    const json = messageToJson(schema, scanner.scan(utf8(pacs008({ signature: '' }))))
    expect(json.violations).toEqual([])
    return structuredClone(json.message) as { Envelope: Loose }
  }

  test('writes children in the order of the schema, whatever the order of the members', () => {
    const { Envelope } = message()
    const { AppHdr, Document } = Envelope
    const turned = {
      Envelope: { Document, AppHdr: Object.fromEntries(Object.entries(AppHdr).reverse()) },
    }
    expect(messageFromJson(schema, turned)).toEqual(messageFromJson(schema, message()))
  })

  test.each([
    ['/Envelope/Extra', ['Envelope'], 'Extra', '1'],
    ['', [], 'Other', 1],
    ['/Envelope/a~1b~0c', ['Envelope'], 'a/b~c', '1'],
    [`/Envelope/${'x'.repeat(63)}\u{1f600}`, ['Envelope'], `${'x'.repeat(63)}\u{1f600}y`, '1'],
    ['/Envelope/AppHdr/CreDt', ['Envelope', 'AppHdr'], 'CreDt', 5],
    ['/Envelope/AppHdr/CreDt', ['Envelope', 'AppHdr'], 'CreDt', '\u0000'],
    [
      '/Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf',
      ['Envelope', 'Document', 'FIToFICstmrCdtTrf'],
      'CdtTrfTxInf',
      {},
    ],
  ])('refuses what has no place: %s, case %#', (pointer, path, name, value) => {
    const json = message()
    const parent = path.reduce((at: Loose, step) => at[step], json)
    parent[name] = value
    const built = messageFromJson(schema, json)
    expect('problems' in built && built.problems[0]?.pointer).toBe(pointer)
  })

  test('refuses what is beside the text of an amount', () => {
    const at = '/Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf/0/IntrBkSttlmAmt'
    const problemsWith = (more: object) => {
      const json = message()
      const transfer = json.Envelope.Document.FIToFICstmrCdtTrf.CdtTrfTxInf[0]
      transfer.IntrBkSttlmAmt = { ...transfer.IntrBkSttlmAmt, ...more }
      const built = messageFromJson(schema, json)
      return 'problems' in built ? built.problems.map(({ pointer }) => pointer) : []
    }
    expect(problemsWith({})).toEqual([])
    expect(problemsWith({ '@Xx': '1', Amt: '1' })).toEqual([`${at}/@Xx`, `${at}/Amt`])
    expect(problemsWith({ '@Ccy': 1, '#text': 10 })).toEqual([`${at}/@Ccy`, `${at}/#text`])
  })

  test('tells what the schema misses', () => {
    const json = message()
    json.Envelope.AppHdr.CreDt = undefined
    const built = messageFromJson(schema, json)
    expect('violations' in built && built.violations[0]).toMatchObject({
      path: '/Envelope/AppHdr/Sgntr',
      rule: 'unexpected',
      expected: 'CreDt',
    })
  })
})
