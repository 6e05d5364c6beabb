import { describe, expect, test } from 'bun:test'
import {
  buildableVersions,
  messageVocabulary,
  notificationsMax,
  ourCatalogue,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { shapedSignature } from '../../../support/messages.ts'
import { built, examples, original, problemsOf } from './support.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const decoder = new TextDecoder()
const plain = examples.CAMT054
const judge = (changes: object) => problemsOf('CAMT054', { ...plain, ...changes })

/** The message, which is valid in every version that is built. */
const xmlOf = (params: object): string => {
  for (const version of buildableVersions('CAMT054')) {
    const schema = ourCatalogue.schemaOf('camt.054', version)
    if (schema === undefined) throw new Error('no schema')
    const { bytes } = built('CAMT054', params, version)
    const signed = decoder.decode(bytes).replace('<Sgntr>', `<Sgntr>${shapedSignature}`)
    const document = scanner.scan(new TextEncoder().encode(signed.replaceAll('q=', 'A=')))
    expect(validateDocument(schema, document).violations).toEqual([])
  }
  return decoder.decode(built('CAMT054', params).bytes)
}

const parties = {
  debtor: {
    name: 'Ana & Cia',
    document: '12345678000195',
    account_num: '5001A',
    branch: '1',
    account_type: 'SLRY',
  },
  creditor: { document: '98765432000198', account_num: '600200', account_type: 'OTHR' },
}
const asked = (digit: string): string => `M12345678${digit.repeat(23)}`
const withdrawal = { agent_type: 'AGFSS', agent_ispb: '87654321', cash_amount: 12_345 }

describe('CAMT054 with all that it may tell', () => {
  test('has it in the order of the schema', () => {
    const xml = xmlOf({
      ...plain,
      ...parties,
      notification_id: asked('1'),
      value_date_time: '2026-03-31T12:00:00.000Z',
      error_code: 'E1',
      error_description: 'not <found>',
      instruction_id: original.replace('E', 'D'),
      transaction_id: 'T1',
      clearing_system_reference: 'STR20260331000000001',
      priority: 'HIGH',
      initiator_document: '11111111000191',
      creditor: { ...parties.creditor, branch: '2', proxy: 'key@example.com' },
      creditor_ispb: '12345678',
      counterparty: { type: 'ContraparteSTR', ispb: '87654321' },
      local_instrument: 'QRES',
      purpose: 'OTHR',
      remittance_information: 'Order 42',
      acceptance_date_time: '2026-03-31T11:59:59.000Z',
      withdrawal,
      tax: { reference: 'NF1', cbs_amount: 100, ibs_amount: 0 },
      sub_family: 'RRTN',
      return_reason: 'SL02',
      additional_information: 'no cash',
    })
    for (const part of [
      `<Ntfctn><Id>${asked('1')}</Id>`,
      '<BookgDt><Dt>2026-03-31</Dt></BookgDt><ValDt><DtTm>2026-03-31T12:00:00.000Z</DtTm></ValDt><BkTxCd>',
      '<TxId>T1</TxId><ClrSysRef>STR20260331000000001</ClrSysRef><Prtry><Tp>ServiceLevel</Tp><Ref>PAGPRI</Ref></Prtry></Refs>',
      '<RltdPties><InitgPty><Pty><Id><OrgId><Othr><Id>11111111000191</Id></Othr></OrgId></Id></Pty></InitgPty><Dbtr><Pty><Nm>Ana &amp; Cia</Nm><Id><PrvtId><Othr><Id>12345678000195</Id></Othr></PrvtId></Id></Pty></Dbtr><DbtrAcct><Id><Othr><Id>5001A</Id><Issr>1</Issr></Othr></Id><Tp><Cd>SLRY</Cd></Tp></DbtrAcct><Cdtr><Pty><Id><PrvtId><Othr><Id>98765432000198</Id></Othr></PrvtId></Id></Pty></Cdtr><CdtrAcct><Id><Othr><Id>600200</Id><Issr>2</Issr></Othr></Id><Tp><Cd>OTHR</Cd></Tp><Prxy><Id>key@example.com</Id></Prxy></CdtrAcct></RltdPties><RltdAgts>',
      '<Prtry><Tp>ContraparteSTR</Tp><Agt><FinInstnId><ClrSysMmbId><MmbId>87654321</MmbId></ClrSysMmbId></FinInstnId></Agt></Prtry></RltdAgts>',
      '<RmtInf><Ustrd>Order 42</Ustrd><Strd><RfrdDocInf><Tp><CdOrPrtry><Prtry>AGFSS</Prtry></CdOrPrtry><Issr>87654321</Issr></Tp></RfrdDocInf><RfrdDocAmt><AdjstmntAmtAndRsn><Amt Ccy="BRL">123.45</Amt><Rsn>VLDN</Rsn></AdjstmntAmtAndRsn></RfrdDocAmt></Strd></RmtInf><RltdDts><AccptncDtTm>2026-03-31T11:59:59.000Z</AccptncDtTm></RltdDts><Tax><RefNb>NF1</RefNb><Rcrd>',
      '</Tax><RtrInf><Rsn><Cd>SL02</Cd></Rsn><AddtlInf>no cash</AddtlInf></RtrInf><AddtlTxInf>HIGH</AddtlTxInf></TxDtls></NtryDtls><AddtlNtryInf>E1</AddtlNtryInf></Ntry><AddtlNtfctnInf>not &lt;found&gt;</AddtlNtfctnInf></Ntfctn></BkToCstmrDbtCdtNtfctn>',
    ]) {
      expect(xml).toContain(part)
    }
  })

  test('leaves out what is not told', () => {
    const {
      booking_date: _,
      service_level: __,
      debtor_ispb: ___,
      purpose: ____,
      ...bare
    } = plain as Readonly<Record<string, unknown>>
    expect(xmlOf(bare)).toContain(
      `</AddtlInfInd><NtryDtls><TxDtls><Refs><EndToEndId>${original}</EndToEndId></Refs><RltdAgts></RltdAgts></TxDtls></NtryDtls></Ntry></Ntfctn></BkToCstmrDbtCdtNtfctn>`,
    )
    expect(xmlOf({ ...bare, tax: { cbs_amount: 0, ibs_amount: 0 } })).toContain('<Tax><Rcrd>')
  })
})

describe('CAMT054 refuses', () => {
  test('one party without the other, and an initiator without both', () => {
    const { debtor, creditor } = parties
    expect(judge(parties)).toEqual([])
    expect(judge({ debtor })).toEqual(['/creditor required'])
    expect(judge({ creditor })).toEqual(['/debtor required'])
    expect(judge({ initiator_document: '1'.repeat(14) })).toEqual([
      '/debtor required',
      '/creditor required',
    ])
    expect(judge({ debtor: {}, creditor: { ...creditor, name: 'x' } })).toEqual([
      '/debtor/name required',
      '/debtor/document required',
      '/debtor/account_num required',
      '/debtor/account_type required',
      '/creditor/name unknown',
    ])
    expect(judge({ ...parties, initiator_document: '12345678909' })).toEqual([
      '/initiator_document format',
    ])
  })

  test('a priority that its service level does not have', () => {
    for (const service_level of ['PAGPRI', 'PAGFRD', 'PAGAGD']) {
      const isHigh = service_level === 'PAGPRI'
      const refused = ['/priority consistency']
      expect(judge({ service_level, priority: 'HIGH' })).toEqual(isHigh ? [] : refused)
      expect(judge({ service_level, priority: 'NORM' })).toEqual(isHigh ? refused : [])
    }
    for (const priority of ['HIGH', 'NORM']) {
      expect(judge({ service_level: null, priority })).toEqual([])
    }
    expect(judge({ service_level: 'X', priority: 'HIGH' })).toEqual(['/service_level format'])
  })

  test('a withdrawal without its purpose, or that does not add up', () => {
    const troco = { ...withdrawal, cash_amount: 345, purchase_amount: 12_000 }
    expect(judge({ purpose: 'OTHR', withdrawal })).toEqual([])
    expect(judge({ purpose: 'OTHR' })).toEqual([])
    expect(judge({ purpose: 'GSCB', withdrawal: troco })).toEqual([])
    expect(judge({ purpose: 'GSCB', withdrawal: { ...troco, cash_amount: 346 } })).toEqual([
      '/withdrawal sum',
    ])
    expect(judge({ purpose: 'OTHR', withdrawal: { ...withdrawal, cash_amount: 12_344 } })).toEqual([
      '/withdrawal/cash_amount sum',
    ])
    for (const purpose of ['IPAY', 'REFU', null]) {
      expect(judge({ purpose, withdrawal })).toEqual(['/withdrawal forbidden'])
    }
  })

  test('a tax of more than the amount, of people, or of an instrument without it', () => {
    const tax = { cbs_amount: 12_000, ibs_amount: 345 }
    expect(judge({ tax })).toEqual([])
    expect(judge({ tax, ...parties, local_instrument: 'DICT' })).toEqual([])
    expect(judge({ tax: { ...tax, ibs_amount: 346 } })).toEqual(['/tax sum'])
    expect(judge({ tax, local_instrument: 'AUTO' })).toEqual(['/tax forbidden'])
    const person = { ...parties.creditor, document: '12345678909' }
    expect(judge({ tax, ...parties, creditor: person })).toEqual(['/tax consistency'])
    expect(judge({ tax: { reference: '-' } })).toEqual([
      '/tax/reference format',
      '/tax/cbs_amount required',
      '/tax/ibs_amount required',
    ])
  })

  test('a reason for what is no return, and what is said of a return without its reason', () => {
    const back = { sub_family: 'RRTN', return_reason: 'MD06' }
    expect(judge(back)).toEqual([])
    expect(judge({ sub_family: 'RRTN' })).toEqual([])
    for (const sub_family of ['DMCT', 'NTAV']) {
      expect(judge({ ...back, sub_family })).toEqual(['/return_reason forbidden'])
    }
    expect(judge({ ...back, return_reason: 'AC03' })).toEqual(['/return_reason format'])
    expect(judge({ additional_information: 'x' })).toEqual(['/return_reason required'])
  })
})

describe('CAMT054 of several entries', () => {
  test('is one notification for each, in order, each with an id of its own', () => {
    const second = {
      ...plain,
      end_to_end_id: original.replace('E1', 'E2'),
      notification_id: asked('2'),
    }
    const notifications = [plain, second, plain]
    const xml = xmlOf({ notifications })
    const ids = [...xml.matchAll(/<Ntfctn><Id>([^<]*)</g)].map(([, id]) => id)
    expect(ids).toEqual([
      expect.stringMatching(/^M12345678[0-9a-zA-Z]{23}$/),
      asked('2'),
      expect.stringMatching(/^M12345678[0-9a-zA-Z]{23}$/),
    ])
    expect(new Set(ids).size).toBe(3)
    expect(built('CAMT054', { notifications }).endToEndIds).toEqual([
      original,
      second.end_to_end_id,
      original,
    ])
  })

  test('has 500 at most, names the one that is wrong, and is no mixture', () => {
    const many = (count: number) =>
      problemsOf('CAMT054', { notifications: Array.from({ length: count }, () => plain) })
    expect(notificationsMax).toBe(500)
    expect(many(500)).toEqual([])
    for (const count of [0, 501]) expect(many(count)).toEqual(['/notifications count'])
    expect(
      problemsOf('CAMT054', { notifications: [plain, { ...plain, amount: 0, surprise: 1 }] }),
    ).toEqual(['/notifications/1/amount minimum', '/notifications/1/surprise unknown'])
    expect(problemsOf('CAMT054', { amount: 1, notifications: [plain] })).toEqual([
      '/amount unknown',
    ])
  })
})
