import { describe, expect, test } from 'bun:test'
import {
  identifyMessage,
  isPaymentMessageType,
  type MessageReading,
  messageVocabulary,
  type Pacs008,
  readMessage,
} from '#codecs/iso20022'
import { createXmlScanner, type XmlDocument } from '#codecs/xml'
import { variedBy } from '../../../bench/messages.ts'
import { pacs002, pacs004, pacs008, utf8 } from '../../support/messages.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })

const read = (xml: string): MessageReading => readDocument(scanner.scan(utf8(xml)))

const readDocument = (document: XmlDocument): MessageReading => {
  const identity = identifyMessage(document)
  if (identity === undefined || !isPaymentMessageType(identity.type)) throw new Error('not typed')
  return readMessage(document, { type: identity.type, version: identity.version })
}

const problems = (xml: string): readonly string[] => {
  const reading = read(xml)
  return reading.ok ? [] : reading.problems.map(({ path, rule }) => `${rule} ${path}`)
}

const typed = (xml: string): Pacs008 => {
  const reading = read(xml)
  if (!reading.ok || reading.message.type !== 'pacs.008') throw new Error('not a pacs.008')
  return reading.message
}

describe('pacs.008', () => {
  test('every element is in the type', () => {
    const xml = pacs008({ version: '1.16' })
      .replace('<PmtId>', '<PmtId><InstrId>E12345678202603021405INSTRUCTIO1</InstrId>')
      .replace('</EndToEndId>', '</EndToEndId><TxId>pedido42</TxId>')
      .replace(
        '<Dbtr>',
        '<InitgPty><Id><OrgId><Othr><Id>11222333000181</Id></Othr></OrgId></Id></InitgPty><Dbtr>',
      )
      .replace(
        '<RmtInf>',
        '<Tax><RefNb>NF1</RefNb><Rcrd><Tp>CBSSPLIT</Tp><Ctgy>INF</Ctgy><TaxAmt><TtlAmt Ccy="BRL">1.00</TtlAmt></TaxAmt></Rcrd><Rcrd><Tp>IBSSPLIT</Tp><Ctgy>INF</Ctgy><TaxAmt><TtlAmt Ccy="BRL">2.00</TtlAmt></TaxAmt></Rcrd></Tax><RmtInf>',
      )
      .replace(
        '</Ustrd>',
        '</Ustrd><Strd><RfrdDocInf><Tp><CdOrPrtry><Prtry>AGTEC</Prtry></CdOrPrtry><Issr>01234567</Issr></Tp></RfrdDocInf><RfrdDocAmt><AdjstmntAmtAndRsn><Amt Ccy="BRL">1000.00</Amt><Rsn>VLCP</Rsn></AdjstmntAmtAndRsn><AdjstmntAmtAndRsn><Amt Ccy="BRL">0.50</Amt><Rsn>VLDN</Rsn></AdjstmntAmtAndRsn></RfrdDocAmt></Strd>',
      )
    expect(typed(xml)).toEqual({
      type: 'pacs.008',
      version: '1.16',
      header: {
        fromIspb: '12345678',
        toIspb: '00038166',
        businessMessageId: 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW',
        messageDefinitionId: 'pacs.008.spi.1.16',
        creationDateTime: '2026-03-02T14:05:09.123Z',
        signed: true,
      },
      groupHeader: {
        messageId: 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW',
        creationDateTime: '2026-03-02T14:05:09.123Z',
        numberOfTransactions: '1',
        settlementMethod: 'CLRG',
        instructionPriority: 'HIGH',
        serviceLevel: 'PAGPRI',
      },
      transactions: [
        {
          instructionId: 'E12345678202603021405INSTRUCTIO1',
          endToEndId: 'E1234567820260302140500000000000',
          transactionId: 'pedido42',
          amount: { cents: 100_050n, currency: 'BRL' },
          acceptanceDateTime: '2026-03-02T14:05:00.000Z',
          chargeBearer: 'SLEV',
          localInstrument: 'DICT',
          initiatingPartyDocument: '11222333000181',
          debtor: { name: 'Conceição & Irmãos', document: '12345678909' },
          debtorAccount: { id: '500100', branch: '0001', type: 'CACC', proxyId: null },
          debtorAgentIspb: '12345678',
          creditorAgentIspb: '87654321',
          creditor: { name: null, document: '98765432100' },
          creditorAccount: {
            id: '600200',
            branch: '0001',
            type: 'CACC',
            proxyId: 'chave@exemplo.com.br',
          },
          purpose: 'IPAY',
          tax: {
            referenceNumber: 'NF1',
            records: [
              { type: 'CBSSPLIT', category: 'INF', amount: { cents: 100n, currency: 'BRL' } },
              { type: 'IBSSPLIT', category: 'INF', amount: { cents: 200n, currency: 'BRL' } },
            ],
          },
          remittance: {
            unstructured: 'Pedido 42',
            structured: {
              documentType: 'AGTEC',
              issuerIspb: '01234567',
              adjustments: [
                { amount: { cents: 100_000n, currency: 'BRL' }, reason: 'VLCP' },
                { amount: { cents: 50n, currency: 'BRL' }, reason: 'VLDN' },
              ],
            },
          },
        },
      ],
    })
  })

  test.each(['1.4', '1.7', '1.13', '1.17'])('version %s', (version) => {
    expect(typed(pacs008({ version })).version).toBe(version)
  })

  test('the same message pretty-printed, prefixed, with comments and CDATA reads the same', () => {
    const plain = pacs008({ transactions: 2, signature: '' })
    const expected = typed(plain)
    const pretty = plain.replaceAll('><', '>\n  <')
    const prefixed = plain.replaceAll(/<(\/?)([A-Z])/g, '<$1n:$2').replace('xmlns=', 'xmlns:n=')
    const commented = plain
      .replaceAll('<Nm>', '<!-- who --><Nm><!-- x -->')
      .replaceAll('Pedido 42', '<![CDATA[Pedido]]> 42')
    for (const variant of [pretty, prefixed, commented]) expect(typed(variant)).toEqual(expected)
  })

  test('all transactions of a batch, in order', () => {
    const { transactions } = typed(pacs008({ transactions: 10 }))
    expect(transactions.map(({ amount }) => amount.cents)).toEqual(
      Array.from({ length: 10 }, (_, index) => BigInt(100_050 + index * 100)),
    )
  })
})

describe('pacs.002 and pacs.004', () => {
  test('a refusal with two reasons, one without code', () => {
    const reading = read(
      pacs002(
        '<TxInfAndSts><OrgnlInstrId>E1</OrgnlInstrId><OrgnlEndToEndId>E1</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC03</Cd></Rsn><AddtlInf>a</AddtlInf><AddtlInf>b</AddtlInf></StsRsnInf><StsRsnInf><AddtlInf>c</AddtlInf></StsRsnInf></TxInfAndSts>',
      ),
    )
    expect(reading).toMatchObject({
      ok: true,
      message: {
        transactions: [
          {
            status: 'RJCT',
            reasons: [
              { code: 'AC03', additionalInformation: ['a', 'b'] },
              { code: null, additionalInformation: ['c'] },
            ],
            settlementDateTime: null,
          },
        ],
      },
    })
  })

  test('a return', () => {
    expect(read(pacs004())).toMatchObject({
      ok: true,
      message: {
        transactions: [
          {
            amount: { cents: 1230n, currency: 'BRL' },
            reason: { code: 'MD06' },
            debtorAgentIspb: '87654321',
            creditorAgentIspb: '12345678',
          },
        ],
      },
    })
  })
})

describe('problems are all reported, each once, where it is', () => {
  test('missing elements', () => {
    const xml = pacs008({ transactions: 2 })
      .replace(/<EndToEndId>[^<]*<\/EndToEndId>/, '')
      .replace('<CreDt>2026-03-02T14:05:09.123Z</CreDt>', '')
      .replace(
        '<Cdtr><Id><PrvtId><Othr><Id>98765432100</Id></Othr></PrvtId></Id></Cdtr>',
        '<Cdtr><Id/></Cdtr>',
      )
    const root = '/Envelope/Document/FIToFICstmrCdtTrf'
    expect(problems(xml)).toEqual([
      'required /Envelope/AppHdr/CreDt',
      `required ${root}/CdtTrfTxInf[1]/PmtId/EndToEndId`,
      `required ${root}/CdtTrfTxInf[1]/Cdtr/Id/PrvtId/Othr/Id`,
    ])
  })

  test('an element given twice is refused, not guessed', () => {
    const xml = pacs008().replace('</EndToEndId>', '</EndToEndId><EndToEndId>E2</EndToEndId>')
    expect(problems(xml)).toEqual([
      'duplicate /Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf/PmtId/EndToEndId[2]',
    ])
  })

  test('a foreign namespace does not supply a missing element', () => {
    const xml = pacs008().replace(
      /<EndToEndId>([^<]*)<\/EndToEndId>/,
      '<EndToEndId xmlns="urn:other">$1</EndToEndId>',
    )
    expect(problems(xml)).toEqual([
      'required /Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf/PmtId/EndToEndId',
    ])
  })

  test.each([
    ['Ccy="BRL">1000.50', '>1000.50', 'required', '/@Ccy'],
    ['Ccy="BRL">1000.50', 'Ccy="real">1000.50', 'currency', '/@Ccy'],
    ['>1000.50', '>1,000.50', 'amount_syntax', ''],
    ['>1000.50', '>-1.00', 'amount_negative', ''],
    ['>1000.50', '>0.001', 'amount_fraction_digits', ''],
  ])('amount %p as %p: %s', (from, to, rule, suffix) => {
    const path = '/Envelope/Document/FIToFICstmrCdtTrf/CdtTrfTxInf/IntrBkSttlmAmt'
    expect(problems(pacs008().replace(from, to))).toEqual([`${rule} ${path}${suffix}`])
  })

  test('at most a hundred', () => {
    const empty = pacs008().replace(/<CdtTrfTxInf>.*<\/CdtTrfTxInf>/, '<CdtTrfTxInf/>'.repeat(50))
    expect(problems(empty)).toHaveLength(100)
  })
})

describe('messages of a known shape', () => {
  const [whole, empty] = [pacs008(), pacs008().replace(/<EndToEndId>[^<]*<.EndToEndId>/, '')]
  const twice = pacs008().replace(/<EndToEndId>[^<]*<.EndToEndId>/, '$&$&')

  test.each([
    ['in order', whole],
    ['without a required element', empty],
    ['with an element too many', twice],
    ['of two transactions', whole.replace(/<CdtTrfTxInf>.*<.CdtTrfTxInf>/, '$&$&')],
    ['an answer', pacs002('<TxInfAndSts><OrgnlInstrId>E1</OrgnlInstrId></TxInfAndSts>')],
    ['a return', pacs004()],
  ])('read as if it were the first: %s', (_, xml) => {
    const learning = createXmlScanner({ vocabulary: messageVocabulary, reuse: true })
    let known = 0
    for (let index = 0; index < 24; index++) {
      const one = variedBy(xml, index)
      const document = learning.scan(utf8(one))
      if (document.shape !== undefined) known++
      expect(readDocument(document)).toEqual(read(one))
    }
    expect(known).toBeGreaterThan(8)
  })
})
