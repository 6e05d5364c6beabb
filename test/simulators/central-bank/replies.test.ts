import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  knownVersions,
  type MessageType,
  messageTypes,
  messageVocabulary,
  ourCatalogue,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import {
  acceptingPsp,
  type CentralBank,
  createCentralBank,
} from '../../../src/simulators/central-bank/index.ts'
import { generateMessage } from '../../support/generated-messages.ts'
import { createRandom } from '../../support/mutations.ts'
import {
  answerTo,
  createParticipant,
  type Participant,
  payment,
  type Received,
} from '../../support/participant.ts'

const bankA = '11111111'
const bankB = '22222222'
const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const random = createRandom(7)
let bank: CentralBank
let a: Participant
let sent = 0

beforeAll(async () => {
  bank = await createCentralBank({ longPollMs: 100 })
  a = createParticipant(bank.url, bankA)
})
afterAll(() => bank.stop())

/** bankA valid message of that type, from us, its content left to chance. */
const generated = (type: MessageType, version: string, from: string, body?: string): Uint8Array => {
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema of ${type} ${version}`)
  const party = (ispb: string) =>
    `<FIId><FinInstnId><Othr><Id>${ispb}</Id></Othr></FinInstnId></FIId>`
  const id = `M${from}${String(sent++).padStart(23, '0')}`
  let content = generateMessage(schema, random)
  // Two adjustments of one reason are the one thing a walk through a schema cannot avoid.
  while (!validateDocument(schema, scanner.scan(Buffer.from(content))).valid) {
    content = generateMessage(schema, random)
  }
  const xml = content
    .replace(/<Fr>.*?<\/Fr>/, `<Fr>${party(from)}</Fr>`)
    .replace(/<To>.*?<\/To>/, `<To>${party('00038166')}</To>`)
    .replace(/<BizMsgIdr>.*?<\/BizMsgIdr>/, `<BizMsgIdr>${id}</BizMsgIdr>`)
    .replace(/<MsgDefIdr>.*?<\/MsgDefIdr>/, `<MsgDefIdr>${type}.spi.${version}</MsgDefIdr>`)
  return Buffer.from(body === undefined ? xml : xml.replace(/<Document>.*<\/Document>/s, body))
}

/** What the schema has against a message, but for a signature that is not there. */
const violations = ({ bytes, xml }: Received) => {
  const [, type = '', version = ''] = /xmlns="[^"]*\/pi\/([^/"]*)\/([^"]*)"/.exec(xml) ?? []
  const schema = ourCatalogue.schemaOf(type, version)
  if (schema === undefined) throw new Error(`no schema of ${type} ${version}`)
  return validateDocument(schema, scanner.scan(bytes)).violations.filter(
    ({ path, rule }) => !(rule === 'missing' && path === '/Envelope/AppHdr/Sgntr'),
  )
}

const counterparts: Readonly<Partial<Record<MessageType, readonly string[]>>> = {
  'pibr.001': ['pibr.002'],
  'pain.009': ['pain.012'],
  'pain.011': ['pain.012'],
  'pain.013': ['pain.014'],
  'camt.055': ['camt.029'],
  'camt.060': ['camt.052', 'camt.053', 'camt.054'],
  'reda.014': ['reda.016'],
  'reda.022': ['reda.016'],
  'reda.031': ['reda.016'],
  'trck.002': ['camt.025'],
}
const silent = ['admi.002', 'admi.004']
const settled = ['pacs.008', 'pacs.002', 'pacs.004']

describe('every other type, its content left to chance, has a valid answer', () => {
  for (const type of messageTypes) {
    if (settled.includes(type) || silent.includes(type)) continue
    test(`${type}: ${(counterparts[type] ?? ['admi.004']).join(', ')}`, async () => {
      const version = knownVersions(type).at(-1) ?? ''
      const messages = Array.from({ length: 10 }, () => generated(type, version, bankA))
      expect((await a.sendAll(messages)).status).toBe(201)
      const answers = await a.receive(messages.length)
      for (const answer of answers) {
        expect(counterparts[type] ?? ['admi.004']).toContain(answer.type)
        expect(violations(answer)).toEqual([])
      }
    })
  }

  test('refusals and notices have none', async () => {
    await a.sendAll([generated('admi.002', '1.5', bankA), generated('admi.004', '1.2', bankA)])
    await a.send(generated('pibr.001', '1.3', bankA))
    expect((await a.receive()).map(({ type }) => type)).toEqual(['pibr.002'])
  })
})

test('an accepted mandate is confirmed, its end is told, each with an id of its own', async () => {
  for (const [type, version, request, status] of [
    ['pain.009', '1.1', 'SC', 'CFDB'],
    ['pain.011', '1.3', 'IC', 'CCLD'],
  ] as const) {
    await a.send(generated(type, version, bankA))
    const [answer] = await a.receive()
    const textOf = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(answer?.xml ?? '')?.[1]
    expect(textOf('MndtReqId')).toMatch(/^IS/)
    expect(textOf('MndtRef')?.slice(0, 2)).toBe(request)
    expect(textOf('MndtSts')).toBe(status)
  }
})

test('what is between participants reaches the one it is for, if that one reads', async () => {
  const b = createParticipant(bank.url, bankB)
  await b.read(b.start)
  const body = (cancelling: string) =>
    `<Document><CstmrPmtCxlReq><Assgnmt><Id>${cancelling}</Id><Assgnr><Agt><FinInstnId><ClrSysMmbId><MmbId>${bankA}</MmbId></ClrSysMmbId></FinInstnId></Agt></Assgnr><Assgne><Agt><FinInstnId><ClrSysMmbId><MmbId>${bankB}</MmbId></ClrSysMmbId></FinInstnId></Agt></Assgne><CreDtTm>2026-03-02T14:05:09.123Z</CreDtTm></Assgnmt><Undrlyg><OrgnlPmtInfAndCxl><PmtCxlId>CA${bankA}20260302${'c'.repeat(11)}</PmtCxlId><OrgnlPmtInfId>${'r'.repeat(26)}</OrgnlPmtInfId><CxlRsnInf><Orgtr><Id><PrvtId><Othr><Id>98765432100</Id></Othr></PrvtId></Id></Orgtr><Rsn><Prtry>SLBD</Prtry></Rsn></CxlRsnInf><TxInf><OrgnlEndToEndId>E1111111120260302140500000000000</OrgnlEndToEndId><SplmtryData><Envlp><CxlPrcgDtls><CxlPrcgTp>DHSR</CxlPrcgTp><PrcgDtTm>2026-03-02T14:05:09.123Z</PrcgDtTm></CxlPrcgDtls></Envlp></SplmtryData></TxInf></OrgnlPmtInfAndCxl></Undrlyg></CstmrPmtCxlReq></Document>`
  const id = `M${bankA}${String(sent).padStart(23, '0')}`
  await a.send(generated('camt.055', '1.1', bankA, body(id)))
  const [received] = await b.receive()
  if (received === undefined) throw new Error('nothing came')
  expect(received.type).toBe('camt.055')
  expect(violations(received)).toEqual([])
  expect(received.xml).toContain(`<Fr><FIId><FinInstnId><Othr><Id>00038166<`)
  expect(received.xml).not.toContain(id)
})

test('camt.060 tells balances, entries and their number', async () => {
  const own = createParticipant(bank.url, '33333333')
  await own.send(payment(own.ispb, acceptingPsp, 2_550))
  const [settledReport] = await own.receive()
  const [, endToEndId = ''] = /<OrgnlEndToEndId>(.*?)</.exec(settledReport?.xml ?? '') ?? []
  const query = (wanted: string, period = '') =>
    generated(
      'camt.060',
      '1.9',
      own.ispb,
      `<Document><AcctRptgReq><GrpHdr><MsgId>M${own.ispb}${'q'.repeat(23)}</MsgId><CreDtTm>2026-03-02T14:05:09.123Z</CreDtTm></GrpHdr><RptgReq><Id>${endToEndId}</Id><ReqdMsgNmId>${wanted}</ReqdMsgNmId><AcctOwnr><Agt><FinInstnId><ClrSysMmbId><MmbId>${own.ispb}</MmbId></ClrSysMmbId></FinInstnId></Agt></AcctOwnr>${period}</RptgReq></AcctRptgReq></Document>`,
    )
  await own.sendAll(['camt.052', 'camt.053', 'camt.054'].map((wanted) => query(wanted)))
  const answers = await own.receive(3)
  expect(answers.flatMap(violations)).toEqual([])
  const [report, statement, entry] = answers.map(({ xml }) => xml)
  expect(report).toContain('<NbOfNtries>1</NbOfNtries>')
  expect(statement).toContain('<Amt Ccy="BRL">999999974.50</Amt>')
  expect(entry).toContain(`<Amt Ccy="BRL">25.50</Amt><CdtDbtInd>DBIT</CdtDbtInd>`)

  const [, settledAt = ''] = /<FctvIntrBkSttlmDt><DtTm>(.*?)</.exec(settledReport?.xml ?? '') ?? []
  const settledDay = new Date(Date.parse(settledAt) - 3 * 3_600_000).toISOString().slice(0, 10)
  for (const [day, entries] of [
    [settledDay, 1],
    ['2020-01-31', 0],
  ] as const) {
    const period = `<RptgPrd><FrToDt><FrDt>${day}</FrDt></FrToDt><Tp>ALLL</Tp></RptgPrd>`
    await own.send(query('camt.052', period))
    const [ofDay] = await own.receive()
    expect(ofDay?.xml).toContain(`<NbOfNtries>${entries}</NbOfNtries>`)
  }
})

test('payments, reports, rejections and refusals are valid', async () => {
  const [c, d] = ['44444444', '55555555'].map((ispb) => createParticipant(bank.url, ispb))
  if (c === undefined || d === undefined) throw new Error('no participants')
  await c.sendAll([payment(c.ispb, d.ispb, 100), payment(c.ispb, c.ispb, 100), Buffer.from('<a>')])
  const asked = await d.receive()
  await d.sendAll(asked.map((each) => answerTo(d.ispb, each)))
  bank.payIn({ to: d.ispb, amountCents: 5n })
  const all = [...asked, ...(await c.receive(3)), ...(await d.receive(2))]
  expect(all.map(({ type }) => type).sort()).toEqual([
    'admi.002',
    'pacs.002',
    'pacs.002',
    'pacs.002',
    'pacs.008',
    'pacs.008',
  ])
  expect(all.flatMap(violations)).toEqual([])
})
