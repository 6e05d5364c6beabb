import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import {
  breachesOf,
  knownVersions,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
  readMessage,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { viewMessage } from '#src/spi/messages/view.ts'
import { validate, warningsMax } from '../../../../src/spi/in/worker/validators/index.ts'
import { generateMessage } from '../../../support/generated-messages.ts'
import { createRandom } from '../../../support/mutations.ts'
import { hasSharedData, readSharedData, sharedDataPath } from '../../../support/shared-data.ts'
import {
  envelope,
  fresh,
  ispb,
  type PaymentParts,
  payment,
  paymentReturn,
  refusal,
  report,
} from './support.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const now = Date.now()
const samples = hasSharedData
  ? readdirSync(sharedDataPath('spi/pacs008')).filter((name) => name.endsWith('.xml'))
  : []

/** `rule path` of each warning. */
const warningsOf = (xml: string, learnedVersions: ReadonlySet<string> = new Set()): string[] => {
  const document = scanner.scan(Buffer.from(xml))
  const view = viewMessage(document)
  if (view === undefined) throw new Error('no SPI message')
  const subject = { view, document, ispb, nowMs: now, learnedVersions }
  return validate(subject).map(({ rule, path }) => `${rule} ${path}`)
}
const rules = (xml: string): string[] => warningsOf(xml).map((text) => text.split(' ')[0] ?? '')

const txId = (length: number): string => `<TxId>${'a'.repeat(length)}</TxId>`

const part = (reason: string, amount: string): string =>
  `<AdjstmntAmtAndRsn><Amt Ccy="BRL">${amount}</Amt><Rsn>${reason}</Rsn></AdjstmntAmtAndRsn>`
const withCash = (...parts: readonly string[]): string =>
  `<RmtInf><Strd><RfrdDocInf><Tp><CdOrPrtry><Prtry>AGTEC</Prtry></CdOrPrtry><Issr>01234567</Issr></Tp></RfrdDocInf><RfrdDocAmt>${parts.join('')}</RfrdDocAmt></Strd></RmtInf>`
const purchase = withCash(part('VLCP', '10.00'), part('VLDN', '0.50'))
const split = (amount: string): string =>
  `<Tax><RefNb>NF1</RefNb><Rcrd><Tp>CBSSPLIT</Tp><Ctgy>INF</Ctgy><TaxAmt><TtlAmt Ccy="BRL">${amount}</TtlAmt></TaxAmt></Rcrd></Tax>`
const ofCompanies = (xml: string): string =>
  xml.replaceAll('<PrvtId><Othr><Id>12345678909<', '<PrvtId><Othr><Id>11222333000181<')

/** The findings without those of documents that are too short to read whole. */
const besides = (all: readonly string[]): readonly string[] =>
  all.filter((text) => !text.startsWith('Structure'))

const created = (offsetMs: number): string => new Date(now + offsetMs).toISOString()
const header = '/Envelope/AppHdr'

describe('the header of every message', () => {
  const echo = (over: Parameters<typeof envelope>[3] = {}): string =>
    envelope('pibr.002', '1.3', '<EchoRpt></EchoRpt>', { created: created(0), ...over })

  const found = (...of: Parameters<typeof warningsOf>) => besides(warningsOf(...of))

  test('without fault gives no warning', () => {
    expect(found(echo())).toEqual([])
    expect(found(echo({ to: '00038166' }))).toEqual([])
  })

  test('ISPB', () => {
    expect(found(echo({ from: '1234567a', id: fresh.businessId() }))).toEqual([
      `ISPB ${header}/Fr`,
      `BizMsgIdr ${header}/BizMsgIdr`,
    ])
    expect(found(echo({ to: '99999999' }))).toEqual([`ISPB ${header}/To`])
    expect(found(echo({ to: '1234567' }))).toEqual([`ISPB ${header}/To`, `ISPB ${header}/To`])
  })

  test('BizMsgIdr', () => {
    const path = `BizMsgIdr ${header}/BizMsgIdr`
    for (const id of ['M1', `m00038166${'a'.repeat(23)}`, `M00038166${'a'.repeat(24)}`, '']) {
      expect(found(echo({ id }))).toEqual([path])
    }
    expect(found(echo({ id: fresh.businessId('99999999') }))).toEqual([path])
  })

  test('CreDt: at the limits nothing, one millisecond past them a warning', () => {
    const day = 24 * 3_600_000
    const path = `CreDt ${header}/CreDt`
    expect(found(echo({ created: created(5 * 60_000) }))).toEqual([])
    expect(found(echo({ created: created(5 * 60_000 + 1) }))).toEqual([path])
    expect(found(echo({ created: created(-day) }))).toEqual([])
    expect(found(echo({ created: created(-day - 1) }))).toEqual([path])
    for (const text of ['2026-03-02T14:05:09Z', '2026-13-02T14:05:09.123Z', 'now', '']) {
      expect(found(echo({ created: text }))).toEqual([path])
    }
  })

  test('MsgDefIdr', () => {
    expect(found(echo({ definition: 'pibr.002.spi.1.4' }))).toEqual([
      `MsgDefIdr ${header}/MsgDefIdr`,
    ])
    const fresher = envelope('pibr.002', '9.9', '', { created: created(0) })
    expect(found(fresher)).toEqual(['MsgDefIdr /Envelope'])
    expect(found(fresher, new Set(['pibr.002 9.9']))).toEqual([])
    const other = envelope('abcd.001', '1.1', '', { created: created(0) })
    expect(warningsOf(other, new Set(['abcd.001 1.1']))).toEqual([])
    expect(warningsOf(other)).toEqual(['MsgDefIdr /Envelope'])
  })
})

describe('pacs.008', () => {
  test('without fault gives no warning', () => {
    expect(rules(payment())).toEqual([])
    expect(rules(payment({}, {}, { priority: 'NORM', level: 'PAGFRD' }))).toEqual([])
  })

  test('each rule of its own', () => {
    expect(rules(payment({ endToEndId: 'E1' }))).toEqual(['EndToEndId'])
    expect(rules(payment({ endToEndId: 'E12345678202602301405aaaaaaaaaaa' }))).toEqual([
      'EndToEndId',
    ])
    expect(rules(payment({ endToEndId: 'E12345678202602282405aaaaaaaaaaa' }))).toEqual([
      'EndToEndId',
    ])
    expect(rules(payment({ amount: '0.00' }))).toEqual(['Amount'])
    expect(rules(payment({ amount: 'ten' }))).toEqual(['Structure', 'Amount'])
    expect(rules(payment({}, {}, { count: '2' }))).toEqual(['NbOfTxs'])
    expect(rules(payment({}, {}, { level: 'PAGAGD' }))).toEqual(['PmtTpInf'])
    expect(rules(payment({}, {}, { level: 'PAGXXX' }))).toEqual(['PmtTpInf'])
    expect(rules(payment({ instrument: 'XXXX' }))).toEqual(['LclInstrm'])
    expect(rules(payment({ purpose: 'XXXX' }))).toEqual(['Purp'])
    expect(rules(payment({ proxy: '' }))).toEqual(['Prxy'])
    expect(rules(payment({ transactionId: '<TxId>T1</TxId>' }))).toEqual(['TxId'])
    expect(rules(payment({ instrument: 'QRDN' }))).toEqual(['TxId'])
  })

  const manual = { instrument: 'MANU', proxy: '' }
  const recurring = { instrument: 'AUTO', proxy: '', transactionId: txId(26) }

  test.each([
    [manual, []],
    [{ ...manual, proxy: undefined }, ['Prxy']],
    [recurring, []],
    [{ ...recurring, proxy: undefined }, ['Prxy']],
    [{ ...recurring, purpose: 'REFU' }, ['Purp']],
    [{ ...recurring, transactionId: '' }, ['TxId']],
    [{ instrument: 'QRDN', transactionId: txId(35) }, []],
    [{ instrument: 'QRDN', transactionId: txId(23) }, []],
    [{ instrument: 'QRES', transactionId: txId(25) }, []],
    [{ instrument: 'QRES', transactionId: txId(26) }, ['TxId']],
    [{ instrument: 'INIC', transactionId: txId(25) }, ['InitgPty']],
    [{ ...manual, purpose: 'REFU' }, []],
    [{ purpose: 'REFU' }, ['Purp']],
    [{ purpose: 'GSCB', remittance: purchase }, []],
    [{ purpose: 'GSCB' }, ['Strd']],
    [{ purpose: 'GSCB', remittance: withCash(part('VLDN', '10.50')) }, ['Strd']],
    [{ purpose: 'GSCB', remittance: purchase, amount: '10.51' }, ['Strd']],
    [{ purpose: 'OTHR', remittance: withCash(part('VLDN', '10.50')) }, []],
    [{ purpose: 'OTHR', remittance: withCash(part('VLDN', '10.49')) }, ['Strd']],
    [{ purpose: 'OTHR', remittance: purchase }, ['Strd']],
    [{ remittance: purchase }, ['Strd']],
    [{ ...manual, purpose: 'REFU', remittance: purchase }, ['Strd']],
    [{ remittance: split('1.00') }, ['Tax']],
  ])('what the sheet asks for and forbids, %#: %p', (parts, broken) => {
    expect(rules(payment(parts as PaymentParts))).toEqual(broken)
  })

  test('a refund goes with priority, and a tax is split between companies', () => {
    const refund = { ...manual, purpose: 'REFU' }
    expect(rules(payment(refund, {}, { priority: 'NORM', level: 'PAGAGD' }))).toEqual(['Purp'])
    for (const [amount, broken] of [
      ['10.50', []],
      ['10.51', ['Tax']],
    ] as const) {
      expect(rules(ofCompanies(payment({ remittance: split(amount) })))).toEqual([...broken])
    }
    const charged = { instrument: 'QRDN', transactionId: txId(26), remittance: split('1.00') }
    expect(rules(ofCompanies(payment(charged)))).toEqual(['Tax'])
  })

  test('no sample of the central bank breaks one', () => {
    for (const name of samples) {
      const document = scanner.scan(readSharedData(`spi/pacs008/${name}`))
      const reading = readMessage(document, { type: 'pacs.008', version: '1.13' })
      expect([name, reading.ok && breachesOf(reading.message)]).toEqual([name, []])
    }
    expect(rules(payment([]))).toEqual(['Structure', 'Transactions'])
  })

  test('ten priority payments are allowed, eleven are not; warnings are bounded', () => {
    const many = (count: number) => Array.from({ length: count }, () => ({}))
    expect(rules(payment(many(10)))).toEqual([])
    expect(rules(payment(many(11)))).toEqual(['NbOfTxs'])
    const hopeless = many(60).map(() => ({ endToEndId: 'E1' }))
    expect(rules(payment(hopeless)).length).toBe(warningsMax)
  })

  test('names the transaction that breaks a rule, and never its values', () => {
    const xml = payment([{}, { amount: '0.00', endToEndId: 'secret' }])
    expect(warningsOf(xml)).toEqual(['EndToEndId //CdtTrfTxInf[2]', 'Amount //CdtTrfTxInf[2]'])
    const document = scanner.scan(Buffer.from(xml))
    const view = viewMessage(document)
    if (view === undefined) throw new Error('no SPI message')
    expect(
      JSON.stringify(validate({ view, document, ispb, nowMs: now, learnedVersions: new Set() })),
    ).not.toContain('secret')
  })
})

test('pacs.002', () => {
  const endToEndId = fresh.endToEndId()
  expect(rules(report([{ endToEndId, status: 'ACSC' }]))).toEqual([])
  expect(rules(report([{ endToEndId, status: 'RJCT', reason: 'AB03' }]))).toEqual([])
  expect(rules(report([{ endToEndId, status: 'PDNG' }]))).toEqual(['Status'])
  expect(rules(report([{ endToEndId, status: 'RJCT' }]))).toEqual(['Reason'])
  expect(rules(report([{ endToEndId, status: 'RJCT', reason: 'ZZ99' }]))).toEqual(['Reason'])
  expect(rules(report([{ endToEndId, status: 'ACSC', instructionId: 'X' }]))).toEqual([
    'OrgnlInstrId',
  ])
  expect(rules(report([]))).toEqual(['Structure', 'Transactions'])
})

test('pacs.004', () => {
  const endToEndId = fresh.endToEndId()
  expect(rules(paymentReturn(endToEndId, fresh.returnId()))).toEqual([])
  expect(rules(paymentReturn(endToEndId, fresh.endToEndId()))).toEqual(['RtrId'])
  expect(rules(paymentReturn('E1', fresh.returnId(), 'ZZ99'))).toEqual(['EndToEndId', 'Reason'])
})

test('the other types with rules of their own', () => {
  const make = (type: string, version: string, body: string) =>
    besides(rules(envelope(type, version, body, { created: created(0) })))
  expect(rules(refusal(fresh.businessId()))).toEqual([])
  expect(make('admi.002', '1.5', '<admi.002.001.01></admi.002.001.01>')).toEqual(['RltdRef', 'Rsn'])
  expect(make('reda.016', '1.5', '<PtyStsAdvc></PtyStsAdvc>')).toEqual(['OrgnlBizInstr', 'Status'])
  const schedule = (status: string) =>
    `<CdtrPmtActvtnReqStsRpt><OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>${fresh.endToEndId()}</OrgnlEndToEndId><TxSts>${status}</TxSts></TxInfAndSts></OrgnlPmtInfAndSts></CdtrPmtActvtnReqStsRpt>`
  expect(make('pain.014', '2.3', schedule('ACSP'))).toEqual([])
  expect(make('pain.014', '2.3', schedule('RJCT'))).toEqual(['Reason'])
  expect(make('camt.029', '1.1', '<RsltnOfInvstgtn></RsltnOfInvstgtn>')).toEqual(['Transactions'])
  expect(make('camt.025', '1.0', '<Rct><RctDtls></RctDtls></Rct>')).toEqual(['Status'])
  expect(make('camt.054', '1.15', '<Ntry><Amt>1.00</Amt></Ntry>')).toEqual(['EndToEndId'])
  const booked = (id: string) => `<Ntry><EndToEndId>${id}</EndToEndId><Amt>1.00</Amt></Ntry>`
  const id = fresh.endToEndId().slice(1)
  for (const letter of 'EL') expect(make('camt.054', '1.15', booked(letter + id))).toEqual([])
  for (const letter of 'DX') {
    expect(make('camt.054', '1.15', booked(letter + id))).toEqual(['EndToEndId'])
  }
  expect(make('camt.055', '1.1', '<OrgnlPmtInfAndCxl></OrgnlPmtInfAndCxl>')).toEqual(['EndToEndId'])
  expect(make('pain.013', '2.2', '<GrpHdr><NbOfTxs>1</NbOfTxs></GrpHdr>')).toEqual([
    'Transactions',
    'NbOfTxs',
  ])
})

test.each(messageTypes)('%s: what is missing is told, and nothing of a whole message', (type) => {
  const version = knownVersions(type).at(-1) ?? ''
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema of ${type}`)
  const random = createRandom(11)
  for (let count = 0; count < 20; count++) {
    expect(rules(generateMessage(schema, random))).not.toContain('Structure')
  }
  const empty = envelope(type, version, '')
  expect(rules(empty)).toContain('Structure')
})

test('a report tells of nothing that comes after it', () => {
  const at = created(0)
  const day = (offsetMs: number) =>
    new Date(Date.parse(at) + offsetMs - 3 * 3_600_000).toISOString()
  const whole = (type: 'camt.053' | 'camt.054', offsetMs: number) => {
    const schema = ourCatalogue.schemaOf(type, knownVersions(type).at(-1) ?? '')
    if (schema === undefined) throw new Error(`no schema of ${type}`)
    const random = createRandom(5)
    for (;;) {
      const xml = generateMessage(schema, random)
      if (!/<(BookgDt|Bal)>/.test(xml)) continue
      return xml
        .replace(/<CreDt>[^<]*/, `<CreDt>${at}`)
        .replaceAll(/(<BookgDt><Dt>)[^<]*/g, `$1${day(offsetMs).slice(0, 10)}`)
        .replaceAll(/(<(?:ValDt|Dt)><DtTm>)[^<]*/g, `$1${created(offsetMs)}`)
    }
  }
  for (const type of ['camt.053', 'camt.054'] as const) {
    expect(rules(whole(type, 0))).not.toContain('Moment')
    expect(rules(whole(type, 86_400_000))).toContain('Moment')
  }
})

test('a confirmation names an EndToEndId or none', () => {
  const confirm = (id: string) =>
    besides(
      rules(
        envelope('trck.002', knownVersions('trck.002').at(-1) ?? '', `<Tx>${id}</Tx>`, {
          created: created(0),
        }),
      ),
    )
  expect(confirm('')).toEqual([])
  expect(confirm(`<EndToEndId>${fresh.endToEndId()}</EndToEndId>`)).toEqual([])
  expect(confirm('<EndToEndId>E1</EndToEndId>')).toEqual(['EndToEndId'])
})

describe('values that cannot be what they stand for', () => {
  const about = (xml: string) =>
    besides(warningsOf(xml)).map((text) => text.replace(/\/Envelope.*\//, ''))
  const at = { created: created(0) }
  const unreal = 'E12345678202602301405aaaaaaaaaaa'

  test('are told of in every type, by element', () => {
    const echo = envelope(
      'reda.014',
      '1.3',
      '<A><OrgId><Othr><Id>11222333000182</Id></Othr></OrgId></A>',
      at,
    )
    expect(about(echo)).toEqual(['Id Id'])
    const fine = '<A><OrgId><Othr><Id>12ABC34501DE35</Id></Othr></OrgId><Nm>Ana</Nm></A>'
    expect(about(envelope('reda.014', '1.3', fine, at))).toEqual([])
    const none = '<Id><OrgId><Othr><Id>00000000000000</Id></Othr></OrgId></Id>'
    const initiated = `<A><GrpHdr><InitgPty>${none}</InitgPty></GrpHdr></A>`
    expect(about(envelope('pain.009', '1.1', initiated, at))).toEqual([])
    const paid = `<A><InitgPty>${none}</InitgPty><Cdtr>${none.replaceAll('Org', 'Prvt')}</Cdtr></A>`
    expect(about(envelope('pain.009', '1.1', paid, at))).toEqual(['Id Id', 'Id Id'])
    const texts = '<A><Nm>\u00a0</Nm><Ustrd>a\u202eb</Ustrd></A>'
    expect(about(envelope('pain.012', '1.4', texts, at))).toEqual(['Nm Nm', 'Ustrd Ustrd'])
    const mandate = '<A><MndtId>RR1234567820260230aaaaaaaaaaa</MndtId></A>'
    expect(about(envelope('pain.011', '1.3', mandate, at))).toEqual(['MndtId MndtId'])
    const cancelled = `<A><OrgnlPmtInfCxlId>CA1234567820260230aaaaaaaaaaa</OrgnlPmtInfCxlId><OrgnlEndToEndId>${unreal}</OrgnlEndToEndId></A>`
    expect(about(envelope('abcd.001', '1.1', cancelled, at))).toEqual([
      'MsgDefIdr /Envelope',
      'OrgnlPmtInfCxlId OrgnlPmtInfCxlId',
      'OrgnlEndToEndId OrgnlEndToEndId',
    ])
  })

  test('a payment is made when its id says, and goes to another institution', () => {
    const half = 12 * 3_600_000
    const idAt = (offsetMs: number) =>
      `E${ispb}${created(offsetMs).replace(/\D/g, '').slice(0, 12)}aaaaaaaaaaa`
    expect(rules(payment({ endToEndId: idAt(-half + 120_000) }))).toEqual([])
    expect(rules(payment({ endToEndId: idAt(-half - 120_000) }))).toEqual(['EndToEndId'])
    const recurring = { instrument: 'AUTO', proxy: '', transactionId: txId(26) }
    expect(rules(payment({ endToEndId: idAt(-20 * half), ...recurring }))).toEqual([])
    expect(rules(payment().replaceAll('99999010', ispb))).toEqual(['Settlement'])
    const returned = paymentReturn(fresh.endToEndId(), fresh.returnId())
    expect(rules(returned.replaceAll('99999010', ispb))).toEqual(['Settlement'])
  })
})
