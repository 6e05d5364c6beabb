import { afterAll, describe, expect, test } from 'bun:test'
import { knownVersions, type MessageType, messageTypes } from '#codecs/iso20022'
import { acceptingPsp, createCentralBank } from '../../../src/simulators/central-bank/index.ts'
import { entryNotification } from '../../../src/simulators/central-bank/replies.ts'
import { answerTo, createParticipant, payment } from '../../support/participant.ts'
import { generated, violations } from './support.ts'

const bankA = '11111111'
const bankB = '22222222'

const bank = await createCentralBank({ longPollMs: 100 })
const a = createParticipant(bank.url, bankA)
afterAll(() => bank.stop())

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
      // A mandate is received first, and then confirmed.
      const each = type === 'pain.009' ? 2 : 1
      const answers = await a.receive(messages.length * each)
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

test('what is between participants reaches the one it is for, if that one reads', async () => {
  const b = createParticipant(bank.url, bankB)
  await b.read(b.start)
  const body = (cancelling: string) =>
    `<Document><CstmrPmtCxlReq><Assgnmt><Id>${cancelling}</Id><Assgnr><Agt><FinInstnId><ClrSysMmbId><MmbId>${bankA}</MmbId></ClrSysMmbId></FinInstnId></Agt></Assgnr><Assgne><Agt><FinInstnId><ClrSysMmbId><MmbId>${bankB}</MmbId></ClrSysMmbId></FinInstnId></Agt></Assgne><CreDtTm>2026-03-02T14:05:09.123Z</CreDtTm></Assgnmt><Undrlyg><OrgnlPmtInfAndCxl><PmtCxlId>CA${bankA}20260302${'c'.repeat(11)}</PmtCxlId><OrgnlPmtInfId>${'r'.repeat(26)}</OrgnlPmtInfId><CxlRsnInf><Orgtr><Id><PrvtId><Othr><Id>98765432100</Id></Othr></PrvtId></Id></Orgtr><Rsn><Prtry>SLBD</Prtry></Rsn></CxlRsnInf><TxInf><OrgnlEndToEndId>E1111111120260302140500000000000</OrgnlEndToEndId><SplmtryData><Envlp><CxlPrcgDtls><CxlPrcgTp>DHSR</CxlPrcgTp><PrcgDtTm>2026-03-02T14:05:09.123Z</PrcgDtTm></CxlPrcgDtls></Envlp></SplmtryData></TxInf></OrgnlPmtInfAndCxl></Undrlyg></CstmrPmtCxlReq></Document>`
  let id = ''
  const message = generated('camt.055', '1.1', bankA, (own) => {
    id = own
    return body(own)
  })
  await a.send(message)
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
      () =>
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

test('what settles in the evening is booked on that day of Brazil', () => {
  const endToEndId = `E${bankA}202603030130abcdefghijk`
  const settledAtMs = Date.parse('2026-03-03T01:30:00.000Z')
  const entry = entryNotification(
    bankB,
    { askedBy: 'M', asked: endToEndId },
    {
      id: endToEndId,
      endToEndId,
      kind: 'payment',
      payer: bankA,
      receiver: bankB,
      cents: 100n,
      channel: 'primary',
      receivedAtMs: settledAtMs,
      state: 'settled',
      code: undefined,
      settledAtMs,
      dueAtMs: settledAtMs,
      returnedCents: 0n,
    },
  )
  expect(entry.content({ id: 'M', created: '2026-03-03T01:30:01.000Z' })).toContain(
    '<BookgDt><Dt>2026-03-02</Dt></BookgDt><ValDt><DtTm>2026-03-03T01:30:00.000Z</DtTm></ValDt>',
  )
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
