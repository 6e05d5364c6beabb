import { describe, expect, test } from 'bun:test'
import {
  knownVersions,
  messageTypes,
  messageVocabulary,
  namespaceOf,
  ourCatalogue,
  revisions,
  revisionsOf,
  validateDocument,
  versionOf,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { pacs002, pacs004, pacs008, shapedSignature, utf8 } from '../../../support/messages.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const signature = shapedSignature.replaceAll('q=', 'A=')
const signed = (message: string): Uint8Array =>
  utf8(message.replace('<Sgntr></Sgntr>', `<Sgntr>${signature}</Sgntr>`))

const verdict = (type: string, version: string, message: Uint8Array) => {
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema for ${type} ${version}`)
  return validateDocument(schema, scanner.scan(message))
}

describe('the catalogue', () => {
  test('holds the 27 types, each in every revision', () => {
    expect(messageTypes.length).toBe(27)
    for (const type of messageTypes) {
      for (const revision of revisions) {
        const { version } = versionOf(type, revision)
        expect(knownVersions(type)).toContain(version)
        expect(revisionsOf(type, version)).toContain(revision)
      }
    }
    expect(versionOf('pacs.008', '5.10.1')).toEqual({ version: '1.13', certainty: 'inferred' })
    expect(revisionsOf('pacs.008', '1.16')).toEqual([])
  })

  test('compiles every version in its own namespace, all names in the vocabulary', () => {
    for (const type of messageTypes) {
      for (const version of knownVersions(type)) {
        const schema = ourCatalogue.schemaOf(type, version)
        expect(schema?.targetNamespace).toBe(namespaceOf({ type, version }))
        expect([...(schema?.otherNames.keys() ?? [])]).toEqual([])
      }
    }
  })

  test('knows no other type or version', () => {
    expect(ourCatalogue.schemaOf('pacs.009', '1.0')).toBeUndefined()
    expect(ourCatalogue.schemaOf('pacs.008', '1.1')).toBeUndefined()
    expect(ourCatalogue.schemaOf('constructor', 'constructor')).toBeUndefined()
    expect(ourCatalogue.schemaOf('pacs.008', 'constructor')).toBeUndefined()
  })
})

describe('our schemas', () => {
  test('accept valid messages', () => {
    const status = `<TxInfAndSts><OrgnlInstrId>E1234567820260302140500000000001</OrgnlInstrId><OrgnlEndToEndId>E1234567820260302140500000000001</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC03</Cd></Rsn></StsRsnInf></TxInfAndSts>`
    const messages = [
      verdict('pacs.008', '1.13', utf8(pacs008({ signature }))),
      verdict('pacs.008', '1.16', utf8(pacs008({ signature, version: '1.16', transactions: 10 }))),
      verdict('pacs.002', '1.14', signed(pacs002(status))),
      verdict('pacs.004', '1.5', signed(pacs004())),
    ]
    for (const { violations } of messages) expect(violations).toEqual([])
  })

  test('report every violation, with place and shape, and without the value', () => {
    const message = pacs008({ signature, transactions: 2 })
      .replace('<ChrgBr>SLEV</ChrgBr>', '')
      .replace('12345678909', 'Fulano de Tal')
      .replace(' Ccy="BRL"', '')
      .replace('<MsgDefIdr>', '\n<MsgDefIdr>')
    const { valid, violations } = verdict('pacs.008', '1.13', utf8(message))
    expect(valid).toBe(false)
    const transaction = '/Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf[1]'
    expect(
      violations.map(({ path, rule, got, expected, line }) => ({
        path,
        rule,
        got,
        expected,
        line,
      })),
    ).toEqual([
      {
        path: `${transaction}/IntrBkSttlmAmt/@Ccy`,
        rule: 'attribute-missing',
        got: 'nothing',
        expected: 'Ccy',
        line: 2,
      },
      {
        path: `${transaction}/MndtRltdInf`,
        rule: 'unexpected',
        got: 'MndtRltdInf',
        expected: 'ChrgBr',
        line: 2,
      },
      {
        path: `${transaction}/Dbtr/Id/PrvtId/Othr/Id`,
        rule: 'pattern',
        got: '13 characters, Aaaaaa_aa_Aaa',
        expected: '[0-9]{11}|[0-9A-Z]{12}[0-9]{2}',
        line: 2,
      },
    ])
    expect(JSON.stringify(violations)).not.toContain('Fulano')
  })

  test('count lines as XML does', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const message = pacs008({ signature }).replace(
        '<ChrgBr>SLEV</ChrgBr>',
        `${end}<ChrgBr>X</ChrgBr>`,
      )
      const { violations } = verdict('pacs.008', '1.13', utf8(message))
      expect(violations.map(({ line }) => line)).toEqual([2])
    }
  })

  test('tell of a repeated value before what is wrong behind it', () => {
    const adjustment = (reason: string, amount = '1.00') =>
      `<AdjstmntAmtAndRsn><Amt Ccy="BRL">${amount}</Amt><Rsn>${reason}</Rsn></AdjstmntAmtAndRsn>`
    const told = (...adjustments: readonly string[]) => {
      const document = `<RfrdDocInf><Tp><CdOrPrtry><Prtry>AGTEC</Prtry></CdOrPrtry><Issr>12345678</Issr></Tp></RfrdDocInf>`
      const strd = `<RmtInf><Strd>${document}<RfrdDocAmt>${adjustments.join('')}</RfrdDocAmt></Strd></RmtInf>`
      const xml = pacs008({ signature }).replace(/<RmtInf>.*<\/RmtInf>/, () => strd)
      return verdict('pacs.008', '1.13', utf8(xml)).violations.map(
        ({ rule, path }) => `${rule} ${path.slice(path.lastIndexOf('/') + 1)}`,
      )
    }
    const [one, other] = [adjustment('VLCP'), adjustment('VLDN')]
    expect(told(one, other)).toEqual([])
    expect(told(one, one)).toEqual(['unique AdjstmntAmtAndRsn[2]'])
    expect(told(one, one, other)).toEqual([
      'unique AdjstmntAmtAndRsn[2]',
      'unexpected AdjstmntAmtAndRsn[3]',
    ])
    expect(told(adjustment('VLCP', '1.234'), one)).toEqual([
      'fractionDigits Amt',
      'unique AdjstmntAmtAndRsn[2]',
    ])
  })

  test('differ between versions', () => {
    const of = (version: string, change: (message: string) => string) =>
      verdict('pacs.008', version, utf8(change(pacs008({ signature, version })))).violations.map(
        ({ rule }) => rule,
      )
    const contactless = (message: string) => message.replace('DICT', 'APES')
    const lettered = (message: string) => message.replace('<Id>500100</Id>', '<Id>50A100</Id>')
    const instructed = (message: string) =>
      message.replace('<PmtId>', '<PmtId><InstrId>E1234567820260302140500000000009</InstrId>')
    expect(of('1.13', contactless)).toEqual(['enumeration'])
    expect(of('1.15', contactless)).toEqual([])
    expect(of('1.13', lettered)).toEqual(['type'])
    expect(of('1.16', lettered)).toEqual([])
    expect(of('1.15', instructed)).toEqual(['unexpected'])
    expect(of('1.16', instructed)).toEqual([])
  })

  test('stop listing at the limit, and say so', () => {
    const broken = (transactions: number) =>
      verdict(
        'pacs.008',
        '1.13',
        utf8(pacs008({ signature, transactions }).replaceAll('<ChrgBr>SLEV', '<ChrgBr>DEBT')),
      )
    expect(broken(100)).toMatchObject({ truncated: false })
    const over = broken(101)
    expect(over.truncated).toBe(true)
    expect(over.violations.length).toBe(100)
  })
})
