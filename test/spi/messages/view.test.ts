import { expect, test } from 'bun:test'
import { messageVocabulary } from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { viewMessage } from '#src/spi/messages/view.ts'
import { endToEndId, pacs002, pacs004, pacs008, utf8 } from '../../support/messages.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const view = (xml: string) => viewMessage(scanner.scan(utf8(xml)))

const envelope = (type: string, version: string, body: string): string =>
  `<Envelope xmlns="https://www.bcb.gov.br/pi/${type}/${version}"><AppHdr><BizMsgIdr>M1</BizMsgIdr></AppHdr><Document>${body}</Document></Envelope>`

const nothing = {
  endToEndId: undefined,
  instructionId: undefined,
  amountCents: undefined,
  debtorIspb: undefined,
  creditorIspb: undefined,
  status: undefined,
  reason: undefined,
  reference: undefined,
  settlementMoment: undefined,
}

test('a payment', () => {
  expect(view(pacs008({ transactions: 2 }))).toEqual({
    identity: { type: 'pacs.008', version: '1.13' },
    fromIspb: '12345678',
    toIspb: '00038166',
    bizMsgIdr: 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW',
    definition: 'pacs.008.spi.1.13',
    createdAt: '2026-03-02T14:05:09.123Z',
    declaredCount: '2',
    reference: undefined,
    status: undefined,
    reason: undefined,
    transactions: [0, 1].map((index) => ({
      ...nothing,
      endToEndId: endToEndId(index),
      amountCents: BigInt(1000 + index) * 100n + 50n,
      debtorIspb: '12345678',
      creditorIspb: '87654321',
      path: `//CdtTrfTxInf[${index + 1}]`,
    })),
  })
})

test('an answer, its reason and the status of each payment', () => {
  const one = (index: number, status: string, reason = '') =>
    `<TxInfAndSts><OrgnlInstrId>D${index}</OrgnlInstrId><OrgnlEndToEndId>E${index}</OrgnlEndToEndId><TxSts>${status}</TxSts>${reason}</TxInfAndSts>`
  const reason =
    '<StsRsnInf><Rsn><Cd>AC03</Cd></Rsn><AddtlInf>x</AddtlInf></StsRsnInf><StsRsnInf><Rsn><Cd>AC06</Cd></Rsn></StsRsnInf>'
  const found = view(pacs002(one(1, 'ACSC') + one(2, 'RJCT', reason)))
  expect(found?.transactions).toEqual([
    {
      ...nothing,
      endToEndId: 'E1',
      instructionId: 'D1',
      status: 'ACSC',
      path: '//TxInfAndSts[1]',
    },
    {
      ...nothing,
      endToEndId: 'E2',
      instructionId: 'D2',
      status: 'RJCT',
      reason: 'AC03',
      path: '//TxInfAndSts[2]',
    },
  ])
})

test('a return', () => {
  expect(view(pacs004())?.transactions).toEqual([
    {
      ...nothing,
      endToEndId: endToEndId(0),
      instructionId: 'D8765432120260302150000000000001',
      amountCents: 1230n,
      debtorIspb: '87654321',
      creditorIspb: '12345678',
      reason: 'MD06',
      path: '//TxInf[1]',
    },
  ])
})

test('a refusal, receipts, the answers to a schedule and to a cancellation', () => {
  const refusal =
    '<admi.002.001.01><RltdRef><Ref>M9</Ref></RltdRef><Rsn><RjctgPtyRsn>schema</RjctgPtyRsn><RsnDesc>long</RsnDesc></Rsn></admi.002.001.01>'
  expect(view(envelope('admi.002', '1.5', refusal))).toMatchObject({
    reference: 'M9',
    reason: 'schema',
    transactions: [],
  })
  const receipt = (id: string, status: string, reason: string) =>
    `<RctDtls><OrgnlMsgId><MsgId>${id}</MsgId></OrgnlMsgId><OrgnlPmtId><PrtryId>P</PrtryId></OrgnlPmtId><ReqHdlg><Sts><Cd>${status}</Cd></Sts>${reason}</ReqHdlg></RctDtls>`
  const receipts = `<Rct><MsgHdr><MsgId>M1</MsgId></MsgHdr>${receipt('M7', 'ACPT', '')}${receipt('M8', 'RJCT', '<StsRsn><Rsn><Prtry>AM01</Prtry></Rsn></StsRsn>')}</Rct>`
  expect(view(envelope('camt.025', '1.0', receipts))?.transactions).toMatchObject([
    { reference: 'M7', status: 'ACPT', reason: undefined },
    { reference: 'M8', status: 'RJCT', reason: 'AM01', instructionId: 'P' },
  ])
  const schedule =
    '<CdtrPmtActvtnReqStsRpt><OrgnlGrpInfAndSts><OrgnlMsgId>0</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>P1</OrgnlPmtInfId><TxInfAndSts><OrgnlEndToEndId>E1</OrgnlEndToEndId><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Prtry>FCD1</Prtry></Rsn></StsRsnInf><OrgnlTxRef><CdtrAgt><FinInstnId><ClrSysMmbId><MmbId>87654321</MmbId></ClrSysMmbId></FinInstnId></CdtrAgt></OrgnlTxRef></TxInfAndSts></OrgnlPmtInfAndSts></CdtrPmtActvtnReqStsRpt>'
  expect(view(envelope('pain.014', '2.3', schedule))?.transactions).toMatchObject([
    {
      endToEndId: 'E1',
      instructionId: 'P1',
      status: 'RJCT',
      reason: 'FCD1',
      creditorIspb: '87654321',
    },
  ])
  const resolution =
    '<RsltnOfInvstgtn><CxlDtls><OrgnlPmtInfAndSts><OrgnlPmtInfCxlId>C1</OrgnlPmtInfCxlId><OrgnlPmtInfId>P1</OrgnlPmtInfId><PmtInfCxlSts>RJCR</PmtInfCxlSts><CxlStsRsnInf><Rsn><Prtry>PRJL</Prtry></Rsn></CxlStsRsnInf><TxInfAndSts><OrgnlEndToEndId>E1</OrgnlEndToEndId></TxInfAndSts></OrgnlPmtInfAndSts></CxlDtls></RsltnOfInvstgtn>'
  expect(view(envelope('camt.029', '1.1', resolution))?.transactions).toMatchObject([
    { endToEndId: 'E1', instructionId: 'C1', status: 'RJCR', reason: 'PRJL' },
  ])
  const advice =
    '<PtyStsAdvc><MsgHdr><MsgId>M1</MsgId><OrgnlBizInstr><MsgId>M6</MsgId></OrgnlBizInstr></MsgHdr><PtySts><Sts>REJT</Sts><StsRsn><Rsn><Prtry>CP10</Prtry></Rsn></StsRsn></PtySts></PtyStsAdvc>'
  expect(view(envelope('reda.016', '1.5', advice))).toMatchObject({
    reference: 'M6',
    status: 'REJT',
    reason: 'CP10',
  })
})

test('ids over the limit and amounts that are none read as absent; other documents are no message', () => {
  const fits = 'E'.repeat(64)
  const one = (id: string, amount: string) =>
    `<CdtTrfTxInf><PmtId><EndToEndId>${id}</EndToEndId></PmtId><IntrBkSttlmAmt>${amount}</IntrBkSttlmAmt></CdtTrfTxInf>`
  const body = `<FIToFICstmrCdtTrf>${one(fits, '1.00')}${one(`${fits}E`, '1,00')}</FIToFICstmrCdtTrf>`
  expect(view(envelope('pacs.008', '1.13', body))?.transactions).toMatchObject([
    { endToEndId: fits, amountCents: 100n },
    { endToEndId: undefined, amountCents: undefined },
  ])
  expect(view('<Envelope/>')).toBeUndefined()
  expect(view('<a xmlns="https://www.bcb.gov.br/pi/pacs.008/1.13"/>')).toBeUndefined()
})
