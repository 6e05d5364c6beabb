import { describe, expect, test } from 'bun:test'
import {
  knownVersions,
  type MessageType,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
  readMessage,
  validateDocument,
} from '#codecs/iso20022'
import { absent, createXmlScanner, type XmlDocument } from '#codecs/xml'
import { MessageReader } from '../../../codecs/iso20022/reader.ts'
import { messageReader, text } from '../../../codecs/iso20022/shape.ts'
import { generateMessage } from '../../support/generated-messages.ts'
import { utf8 } from '../../support/messages.ts'
import { createRandom } from '../../support/mutations.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const documentsPerVersion = process.env['TRILHO_LONG'] === '1' ? 300 : 20

/** What the elements of a document that hold no others hold: an amount as its cents and its currency. */
const leavesOf = (document: XmlDocument, node: number): readonly string[] => {
  const leaves: string[] = []
  for (let at = document.firstChild(node); at !== absent; at = document.nextSibling(at, node)) {
    const currency = document.attribute(at, 'Ccy')
    if (currency !== undefined) {
      const [whole = '', fraction = ''] = document.textOf(at).split('.')
      leaves.push(`${BigInt(whole + fraction.padEnd(2, '0'))} ${currency}`)
    } else if (document.firstChild(at) === absent && !containers.has(document.localName(at))) {
      leaves.push(document.textOf(at))
    } else leaves.push(...leavesOf(document, at))
  }
  return leaves
}

/** Elements that may be empty. */
const containers = new Set(['RltdAgts', 'RtrInf', 'RmtInf', 'Envlp', 'StsRsnInf'])

/** What a typed message holds, in the same form. */
const valuesOf = (value: unknown): readonly string[] => {
  if (value === null) return []
  if (typeof value !== 'object') return [String(value)]
  if ('cents' in value && 'currency' in value) return [`${value.cents} ${value.currency}`]
  return Object.values(value).flatMap(valuesOf)
}

const documentNode = (document: XmlDocument): number => {
  const header = document.firstChild(document.root)
  return document.nextSibling(header, document.root)
}

const contentOf = <T extends MessageType>(document: XmlDocument, type: T, version: string) => {
  const reading = readMessage(document, { type, version })
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  const { type: own, version: ownVersion, header, ...content } = reading.message
  expect([own, ownVersion]).toEqual([type, version])
  return { header, content }
}

describe('every value of a document is in its typed message, and nothing else', () => {
  for (const type of messageTypes) {
    test(type, () => {
      for (const version of knownVersions(type)) {
        const schema = ourCatalogue.schemaOf(type, version)
        if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
        const random = createRandom(type.length * 31 + version.charCodeAt(2))
        let read = 0
        for (let i = 0; i < documentsPerVersion; i++) {
          const document = scanner.scan(utf8(generateMessage(schema, random)))
          if (!validateDocument(schema, document).valid) continue
          const { content } = contentOf(document, type, version)
          expect(valuesOf(content).toSorted()).toEqual(
            leavesOf(document, documentNode(document)).toSorted(),
          )
          read++
        }
        expect(read).toBeGreaterThan(documentsPerVersion / 2)
      }
    })
  }
})

describe('what cannot be read is told', () => {
  const message = (type: MessageType, version: string, body: string): XmlDocument =>
    scanner.scan(
      utf8(
        `<Envelope xmlns="https://www.bcb.gov.br/pi/${type}/${version}"><AppHdr>${party('Fr')}${party('To')}<BizMsgIdr>M1</BizMsgIdr><MsgDefIdr>${type}.spi.${version}</MsgDefIdr><CreDt>x</CreDt></AppHdr><Document>${body}</Document></Envelope>`,
      ),
    )
  const party = (name: string): string =>
    `<${name}><FIId><FinInstnId><Othr><Id>12345678</Id></Othr></FinInstnId></FIId></${name}>`
  const problems = (type: MessageType, version: string, body: string): readonly string[] => {
    const reading = readMessage(message(type, version, body), { type, version })
    return reading.ok ? [] : reading.problems.map(({ rule, path }) => `${rule} ${path}`)
  }

  test.each(messageTypes.map((type) => [type] as const))('%s that holds nothing', (type) => {
    const [version = ''] = knownVersions(type)
    const [found, ...more] = problems(type, version, '')
    expect(found).toStartWith('required /Envelope/Document/')
    expect(more).toEqual([])
  })

  const header = '<GrpHdr><MsgId>M1</MsgId><CreDtTm>x</CreDtTm></GrpHdr>'

  test('an element that is missing, one that is there twice, a list without items', () => {
    const root = '/Envelope/Document/EchoReq'
    expect(problems('pibr.001', '1.3', `<EchoReq>${header}<EchoTxInf/></EchoReq>`)).toEqual([
      `required ${root}/EchoTxInf/Data`,
    ])
    const echo = '<EchoTxInf><Data>1</Data></EchoTxInf>'
    expect(problems('pibr.001', '1.3', `<EchoReq>${header}${echo}</EchoReq>`)).toEqual([])
    expect(problems('pibr.001', '1.3', `<EchoReq>${header}${echo}${echo}</EchoReq>`)).toEqual([
      `duplicate ${root}/EchoTxInf[2]`,
    ])
    expect(problems('camt.053', '1.4', `<BkToCstmrStmt>${header}</BkToCstmrStmt>`)).toEqual([
      'required /Envelope/Document/BkToCstmrStmt/Stmt',
    ])
  })

  test('an amount that is none, in the second of a list', () => {
    const balance = (amount: string): string =>
      `<Bal><Tp><CdOrPrtry><Prtry>SADP</Prtry></CdOrPrtry></Tp><Amt Ccy="BRL">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><DtTm>x</DtTm></Dt></Bal>`
    const statement = (amount: string): string =>
      `<BkToCstmrStmt>${header}<Stmt><Id>1</Id><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>${balance('1.00')}${balance(amount)}</Stmt></BkToCstmrStmt>`
    expect(problems('camt.053', '1.4', statement('2.50'))).toEqual([])
    const [found = ''] = problems('camt.053', '1.4', statement('2,50'))
    expect(found).toEndWith(' /Envelope/Document/BkToCstmrStmt/Stmt/Bal[2]/Amt')
  })

  test('a truth that is neither', () => {
    const schema = ourCatalogue.schemaOf('pain.012', '1.3')
    if (schema === undefined) throw new Error('no schema')
    const xml = generateMessage(schema, createRandom(7))
    const judge = (value: string) => {
      const changed = xml.replaceAll('<Accptd>true<', `<Accptd>${value}<`)
      const reading = readMessage(scanner.scan(utf8(changed)), { type: 'pain.012', version: '1.3' })
      return reading.ok ? reading.message.answers[0]?.accepted : reading.problems[0]?.rule
    }
    expect(['true', '1', ' true ', 'false', '0', 'yes', ''].map(judge)).toEqual([
      true,
      true,
      true,
      false,
      false,
      ...['boolean', 'boolean'],
    ])
  })

  test('members that mark a step differently are a mistake', () => {
    const document = message('pibr.001', '1.3', '<Tx/>')
    const read = (other: string) => {
      const fields = { date: text('RltdDts?/AccptncDtTm'), other: text(other) }
      return messageReader('pibr.001', 'Tx', fields)(new MessageReader(document), document, '1.3')
    }
    expect(() => read('RltdDts/CreDtTm')).toThrow('marks RltdDts differently')
    expect(read('RltdDts?/CreDtTm')).toMatchObject({ date: null, other: null })
  })
})
