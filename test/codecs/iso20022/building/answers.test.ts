import { describe, expect, test } from 'bun:test'
import { codeLists, statusesMax, statusReasonsMax } from '#codecs/iso20022'
import { built, examples, original, problemsOf } from './support.ts'

const decoder = new TextDecoder()
const xmlOf = (params: unknown): string => decoder.decode(built('PACS002', params).bytes)
const accepted = { original_end_to_end_id: original, status: 'ACSP' }
const refused = { original_end_to_end_id: original, status: 'RJCT' }
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    ...accepted,
    original_end_to_end_id: original.slice(0, -4) + String(i).padStart(4, '0'),
  }))

describe('PACS002 of several operations', () => {
  test('is one status for each, in order', () => {
    const transactions = numbered(2)
    const message = built('PACS002', { transactions })
    const [one, two] = transactions.map((item) => item.original_end_to_end_id)
    expect(message.endToEndIds).toEqual([one as string, two as string])
    expect(decoder.decode(message.bytes)).toContain(
      `</GrpHdr><TxInfAndSts><OrgnlInstrId>${one}</OrgnlInstrId><OrgnlEndToEndId>${one}</OrgnlEndToEndId><TxSts>ACSP</TxSts></TxInfAndSts><TxInfAndSts><OrgnlInstrId>${two}</OrgnlInstrId>`,
    )
  })

  test('answers as many as one payment message holds', () => {
    expect(problemsOf('PACS002', { transactions: numbered(statusesMax) })).toEqual([])
    expect(problemsOf('PACS002', { transactions: numbered(statusesMax + 1) })).toEqual([
      '/transactions count',
    ])
    expect(problemsOf('PACS002', { transactions: [] })).toEqual(['/transactions count'])
    expect(problemsOf('PACS002', { transactions: accepted })).toEqual(['/transactions type'])
    expect(problemsOf('PACS002', { ...accepted, transactions: null, reasons: null })).toEqual([])
  })

  test('names the operation whose answer is wrong', () => {
    const transactions = [accepted, { ...refused, original_end_to_end_id: 'E1' }, {}]
    expect(problemsOf('PACS002', { transactions })).toEqual([
      '/transactions/1/original_end_to_end_id format',
      '/transactions/1/reason required',
      '/transactions/2/original_end_to_end_id required',
      '/transactions/2/status required',
    ])
    expect(problemsOf('PACS002', { ...accepted, transactions: [accepted] })).toEqual([
      '/original_end_to_end_id unknown',
      '/status unknown',
    ])
  })

  test('answers no operation twice, but two returns of one payment', () => {
    const back = (id: string) => ({ ...accepted, original_instruction_id: id })
    const [one, two] = [original.replace('E', 'D'), original.replace('E1', 'D2')]
    expect(problemsOf('PACS002', { transactions: [back(one), back(two), accepted] })).toEqual([])
    expect(problemsOf('PACS002', { transactions: [back(one), accepted, back(one)] })).toEqual([
      '/transactions/2/original_end_to_end_id unique',
    ])
  })
})

describe('PACS002 with several reasons', () => {
  test('writes each with what is said about it', () => {
    const reasons = [
      { reason: 'AC03' },
      { reason: 'BE01', additional_information: ['one & two', 'três'] },
    ]
    expect(xmlOf({ ...refused, reasons })).toContain(
      '<TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC03</Cd></Rsn></StsRsnInf><StsRsnInf><Rsn><Cd>BE01</Cd></Rsn><AddtlInf>one &amp; two</AddtlInf><AddtlInf>três</AddtlInf></StsRsnInf></TxInfAndSts>',
    )
    expect(xmlOf({ ...refused, reason: 'AC03', additional_information: ['a', 'b'] })).toContain(
      '<Cd>AC03</Cd></Rsn><AddtlInf>a</AddtlInf><AddtlInf>b</AddtlInf></StsRsnInf></TxInfAndSts>',
    )
  })

  test('has up to ten, with up to ten texts of up to 105 characters each', () => {
    const judge = (reasons: unknown) => problemsOf('PACS002', { ...refused, reasons })
    const many = (count: number) => Array.from({ length: count }, () => ({ reason: 'AC03' }))
    expect(judge(many(statusReasonsMax))).toEqual([])
    expect(judge(many(statusReasonsMax + 1))).toEqual(['/reasons count'])
    expect(judge([])).toEqual(['/reasons count'])
    const texts = (additional_information: unknown) =>
      judge([{ reason: 'AC03', additional_information }])
    const at = '/reasons/0/additional_information'
    expect(texts(Array.from({ length: statusReasonsMax }, () => 'x'.repeat(105)))).toEqual([])
    expect(texts(Array.from({ length: statusReasonsMax + 1 }, () => 'x'))).toEqual([`${at} count`])
    expect(texts(['x', 'x'.repeat(106), 7])).toEqual([`${at}/1 format`, `${at}/2 type`])
    expect(texts('x'.repeat(105))).toEqual([])
    expect(texts('x'.repeat(106))).toEqual([`${at} format`])
    expect(texts({})).toEqual([`${at} type`])
  })

  test('refuses a mixture, and reasons with an acceptance', () => {
    const reasons = [{ reason: 'AC03' }]
    expect(problemsOf('PACS002', { ...refused, reasons, reason: 'AC03' })).toEqual([
      '/reasons consistency',
    ])
    expect(problemsOf('PACS002', { ...refused, reasons, additional_information: 'x' })).toEqual([
      '/reasons consistency',
    ])
    expect(problemsOf('PACS002', { ...accepted, reasons })).toEqual(['/reasons forbidden'])
    expect(problemsOf('PACS002', { ...accepted, additional_information: 'x' })).toEqual([
      '/reason forbidden',
    ])
    expect(problemsOf('PACS002', { ...refused, reasons: [{}] })).toEqual([
      '/reasons/0/reason required',
    ])
    expect(problemsOf('PACS002', { ...refused, reasons: [{ reason: 'AB03', x: 1 }] })).toEqual([
      '/reasons/0/reason format',
      '/reasons/0/x unknown',
    ])
  })
})

describe('reasons go by message and version', () => {
  test('PACS002: those that a participant may give, of the version', () => {
    const since: Readonly<Record<string, number>> = {
      AM23: 16,
      RR06: 16,
      DS02: 17,
      DU03: 17,
      INDT: 16,
    }
    for (const minor of [12, 14, 15, 16, 17]) {
      for (const { code, raisedBy } of codeLists.status_reason.values()) {
        const isRight = raisedBy.join() !== 'S' && minor >= (since[code] ?? 0)
        expect([
          code,
          minor,
          problemsOf('PACS002', { ...refused, reason: code }, `1.${minor}`),
        ]).toEqual([code, minor, isRight ? [] : ['/reason format']])
      }
    }
    expect(problemsOf('PACS002', { ...refused, reason: 'RR12' }, '1.17')).toEqual([
      '/reason format',
    ])
  })

  test('PACS004: four reasons', () => {
    const judge = (return_reason: string) =>
      problemsOf('PACS004', { ...examples.PACS004, return_reason })
    for (const code of ['BE08', 'FR01', 'MD06', 'SL02']) expect(judge(code)).toEqual([])
    expect(judge('AC03')).toEqual(['/return_reason format'])
  })

  const pain014 =
    'AB10 AC05 AC06 AM02 AM09 CRNC DENC DTED DTNT FCD1 FCD2 GRER IRNT MIDI MSUC NIEC NIPA NITX QUNT UDEI'
  const answers = [
    ['PAIN014', '2.4', 'RJCT', pain014, 'AG12 AM23 DS27 RR06 AC03'],
    ['PAIN014', '2.3', 'RJCT', `${pain014} AG12 AM23 DS27 RR06`, 'AC03'],
    ['CAMT029', '1.2', 'RJCR', 'AB09 AB10 CH16 CRNC DENC FBRD FF08 PRJL', 'AC03 SLBD'],
  ] as const
  test.each(answers)('%s %s', (name, version, status, right, wrong) => {
    const judge = (reason: string | null, as: string = status) =>
      problemsOf(name, { ...examples[name], status: as, reason }, version)
    for (const code of right.split(' ')) expect([code, judge(code)]).toEqual([code, []])
    for (const code of wrong.split(' ')) expect(judge(code)).toEqual(['/reason format'])
    expect(judge(null)).toEqual(['/reason required'])
    const other = name === 'PAIN014' ? 'ACSP' : 'ACCR'
    expect(judge(null, other)).toEqual([])
    expect(judge(right.slice(0, 4), other)).toEqual(['/reason forbidden'])
  })

  test('CAMT055: CCLD and FAIL are of the payer’s participant only', () => {
    const judge = (reason: string, processing_type: string) =>
      problemsOf('CAMT055', { ...examples.CAMT055, reason, processing_type })
    for (const code of ['SLBD', 'SLCR', 'ACCT', 'BLCK', 'OTHR']) {
      expect([judge(code, 'DHSR'), judge(code, 'DHIP')]).toEqual([[], []])
    }
    for (const code of ['CCLD', 'FAIL']) {
      expect([judge(code, 'DHSR'), judge(code, 'DHIP')]).toEqual([['/reason consistency'], []])
    }
    expect(judge('AC03', 'DHSR')).toEqual(['/reason format'])
  })
})

describe('PAIN014 of several charges', () => {
  const answer = { ...examples.PAIN014, status: 'ACSP', reason: null }
  const answers = (count: number) =>
    numbered(count).map(({ original_end_to_end_id }) => ({ ...answer, original_end_to_end_id }))

  test('is one answer for each, in order', () => {
    const transactions = answers(2)
    const message = built('PAIN014', { transactions })
    const [one, two] = transactions.map((item) => item.original_end_to_end_id)
    expect(message.endToEndIds).toEqual([one as string, two as string])
    const xml = decoder.decode(message.bytes)
    expect(xml.split('<OrgnlPmtInfAndSts>').length).toBe(3)
    expect(xml).toContain(`</OrgnlPmtInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>`)
    expect(xml.indexOf(`>${one}<`)).toBeLessThan(xml.indexOf(`>${two}<`))
  })

  test('answers 500 at most, none twice, and names the one that is wrong', () => {
    const judge = (transactions: unknown) => problemsOf('PAIN014', { transactions })
    expect(judge(answers(500))).toEqual([])
    for (const count of [0, 501]) expect(judge(answers(count))).toEqual(['/transactions count'])
    const [one, two] = answers(2)
    expect(judge([one, two, one])).toEqual(['/transactions/2/original_end_to_end_id unique'])
    expect(judge([one, { ...two, status: 'RJCT', surprise: 1 }])).toEqual([
      '/transactions/1/reason required',
      '/transactions/1/surprise unknown',
    ])
    expect(problemsOf('PAIN014', { status: 'ACSP', transactions: [one] })).toEqual([
      '/status unknown',
    ])
  })
})

test('PAIN013: AGND has an execution date-time, NTAG and RIFL have none', () => {
  const [charge] = (examples.PAIN013 as { charges: object[] }).charges
  const judge = (changes: object) => problemsOf('PAIN013', { charges: [{ ...charge, ...changes }] })
  expect(judge({})).toEqual([])
  expect(judge({ execution_date_time: null })).toEqual(['/charges/0/execution_date_time required'])
  for (const purpose of ['NTAG', 'RIFL']) {
    expect(judge({ purpose })).toEqual(['/charges/0/execution_date_time forbidden'])
    expect(judge({ purpose, execution_date_time: null })).toEqual([])
  }
  const end_to_end_id = original
  expect(
    problemsOf('PAIN013', {
      charges: [
        { ...charge, end_to_end_id },
        { ...charge, end_to_end_id },
      ],
    }),
  ).toEqual(['/charges/1/end_to_end_id unique'])
})

test('PAIN013: the tax of a company, corrected or not, is no more than the amount', () => {
  const [one] = (examples.PAIN013 as { readonly charges: readonly object[] }).charges
  const debtor = { ispb: '87654321', document: '98765432000198' }
  const charge = (tax: object, more: object = {}) => ({
    charges: [{ ...one, debtor, tax, ...more }],
  })
  const judge = (tax: object, more?: object) => problemsOf('PAIN013', charge(tax, more))
  const tax = { cbs_amount: 4_900, ibs_amount: 90 }
  const at = '/charges/0/tax'
  expect(judge(tax)).toEqual([])
  expect(judge({ ...tax, ibs_amount: 91 })).toEqual([`${at} sum`])
  expect(judge({ ...tax, ibs_amount: 91, corrected_ibs_amount: 90 })).toEqual([])
  expect(judge({ ...tax, corrected_cbs_amount: 4_901 })).toEqual([`${at} sum`])
  expect(judge({ ...tax, corrected_cbs_amount: null, reference: 'NF1' })).toEqual([])
  expect(judge({ ...tax, corrected_cbs_amount: '1', reference: '-' })).toEqual([
    `${at}/reference format`,
    `${at}/corrected_cbs_amount type`,
  ])
  const person = { debtor: { ...debtor, document: '98765432100' } }
  expect(judge(tax, person)).toEqual([`${at} consistency`])
  const xml = (changes: object) =>
    decoder.decode(built('PAIN013', charge({ ...tax, ...changes })).bytes)
  expect(xml({ corrected_ibs_amount: 0 })).toContain(
    '</Purp><Tax><Rcrd><Tp>CBSSPLIT</Tp><Ctgy>INF</Ctgy><TaxAmt><TtlAmt Ccy="BRL">49.00</TtlAmt></TaxAmt></Rcrd><Rcrd><Tp>IBSSPLIT</Tp><Ctgy>INF</Ctgy><TaxAmt><TtlAmt Ccy="BRL">0.90</TtlAmt></TaxAmt></Rcrd><Rcrd><Tp>IBSSPLIT</Tp><Ctgy>COR</Ctgy><TaxAmt><TtlAmt Ccy="BRL">0.00</TtlAmt></TaxAmt></Rcrd></Tax></CdtTrfTx>',
  )
  expect(xml({ reference: 'NF1' })).toContain('<Tax><RefNb>NF1</RefNb><Rcrd>')
})
