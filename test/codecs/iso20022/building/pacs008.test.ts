import { describe, expect, test } from 'bun:test'
import { built, problemsOf, transfer } from './support.ts'

const decoder = new TextDecoder()
const at = '/transactions/0'
const { proxy: key, ...creditor } = transfer.creditor
const debtorCompany = { ...transfer.debtor, document: '12345678000195' }
const creditorCompany = { ...creditor, document: '9876543A0001Z8'.replace('Z', '9') }

const problems = (
  transaction: object,
  message: object = { local_instrument: 'MANU' },
  version?: string,
) =>
  problemsOf(
    'PACS008',
    { transactions: [{ ...transfer, creditor, ...transaction }], ...message },
    version,
  )

const xmlOf = (transaction: object, message: object, version?: string): string => {
  const params = { transactions: [{ ...transfer, creditor, ...transaction }], ...message }
  return decoder.decode(built('PACS008', params, version).bytes)
}

describe('TxId and Prxy go by the local instrument', () => {
  const long = 'a'.repeat(26)
  const short = 'a'.repeat(25)
  type Rule = { readonly id: 'forbidden' | 'required' | 'free'; readonly proxy: boolean }
  const table: Readonly<
    Record<string, Rule & { readonly right: string; readonly wrong: string[] }>
  > = {
    MANU: { id: 'forbidden', proxy: false, right: '', wrong: [] },
    DICT: { id: 'forbidden', proxy: true, right: '', wrong: [] },
    QRES: { id: 'free', proxy: true, right: short, wrong: [long, ''] },
    APES: { id: 'free', proxy: true, right: short, wrong: [long, ''] },
    INIC: { id: 'required', proxy: true, right: short, wrong: [long, ''] },
    QRDN: { id: 'required', proxy: true, right: long, wrong: [short, 'a'.repeat(36), `${short}-`] },
    APDN: { id: 'required', proxy: true, right: 'a'.repeat(35), wrong: [short, 'a'.repeat(36)] },
    AUTO: { id: 'required', proxy: false, right: long, wrong: [short, 'a'.repeat(36)] },
  }
  for (const [instrument, { id, proxy, right, wrong }] of Object.entries(table)) {
    const message = { local_instrument: instrument }
    const initiator_document = '12345678000195'
    const complete = {
      initiator_document,
      creditor: { ...creditor, ...(proxy ? { proxy: key } : {}) },
      ...(right === '' ? {} : { transaction_id: right }),
    }
    const judge = (changes: object) => problems({ ...complete, ...changes }, message, '1.16')

    test(`${instrument}: TxId is ${id}, Prxy is ${proxy ? 'required' : 'forbidden'}`, () => {
      expect(judge({})).toEqual([])
      const absent = judge({ transaction_id: null })
      expect(absent).toEqual(id === 'required' ? [`${at}/transaction_id required`] : [])
      if (id === 'forbidden') {
        expect(judge({ transaction_id: short })).toEqual([`${at}/transaction_id forbidden`])
      }
      for (const transaction_id of wrong) {
        expect(judge({ transaction_id })).toEqual([`${at}/transaction_id format`])
      }
      const other = { ...creditor, ...(proxy ? {} : { proxy: key }) }
      const broken = `${at}/creditor/proxy ${proxy ? 'required' : 'forbidden'}`
      expect(judge({ creditor: other })).toEqual([broken])
      expect(judge({ initiator_document: null })).toEqual(
        instrument === 'INIC' ? [`${at}/initiator_document required`] : [],
      )
    })
  }

  test('a Pix key has up to 77 characters', () => {
    const keyOf = (length: number) => ({ creditor: { ...creditor, proxy: 'k'.repeat(length) } })
    const dict = { local_instrument: 'DICT' }
    expect(problems(keyOf(77), dict)).toEqual([])
    expect(problems(keyOf(78), dict)).toEqual([`${at}/creditor/proxy format`])
  })
})

test('the priority is HIGH with PAGPRI, and only then', () => {
  for (const [level, priority] of [
    [undefined, 'HIGH'],
    ['PAGPRI', 'HIGH'],
    ['PAGFRD', 'NORM'],
    ['PAGAGD', 'NORM'],
  ]) {
    const xml = xmlOf({}, { local_instrument: 'MANU', service_level: level })
    expect(xml).toContain(
      `<InstrPrty>${priority}</InstrPrty><SvcLvl><Prtry>${level ?? 'PAGPRI'}</Prtry></SvcLvl>`,
    )
  }
  expect(problems({}, { local_instrument: 'MANU', service_level: 'HIGH' })).toEqual([
    '/service_level format',
  ])
  expect(problems({}, { local_instrument: 'MANU', priority: 'NORM' })).toEqual([
    '/priority unknown',
  ])
})

describe('purposes', () => {
  test('AUTO is IPAY; REFU and IPRT need MANU and PAGPRI', () => {
    const auto = { transaction_id: 'a'.repeat(26), purpose: 'REFU' }
    expect(problems(auto, { local_instrument: 'AUTO' })).toEqual([
      `${at}/purpose consistency`,
      `${at}/purpose consistency`,
    ])
    for (const purpose of ['REFU', 'IPRT']) {
      const judge = (message: object) => problems({ purpose }, message, '1.15')
      expect(judge({ local_instrument: 'MANU' })).toEqual([])
      expect(judge({ local_instrument: 'MANU', service_level: 'PAGFRD' })).toEqual([
        `${at}/purpose consistency`,
      ])
    }
    expect(
      problems({ purpose: 'REFU', creditor: transfer.creditor }, { local_instrument: 'DICT' }),
    ).toEqual([`${at}/purpose consistency`])
    expect(problems({ purpose: 'IPRT' }, { local_instrument: 'MANU' }, '1.14')).toEqual([
      `${at}/purpose format`,
    ])
  })

  const withdrawal = { agent_type: 'AGTEC', agent_ispb: '87654321', cash_amount: 345 }
  const change = { ...withdrawal, purchase_amount: 12_000 }

  test('cash is of Pix Saque and Pix Troco only', () => {
    for (const purpose of ['IPAY', 'REFU', 'IPRT']) {
      expect(problems({ purpose, withdrawal }, { local_instrument: 'MANU' }, '1.15')).toEqual([
        `${at}/withdrawal forbidden`,
      ])
    }
    for (const purpose of ['GSCB', 'OTHR']) {
      expect(problems({ purpose })).toEqual([`${at}/withdrawal required`])
    }
  })

  test('Pix Troco: VLCP and VLDN add up to the amount', () => {
    const judge = (one: object) => problems({ purpose: 'GSCB', withdrawal: one })
    expect(judge(change)).toEqual([])
    expect(judge({ ...change, purchase_amount: 12_001 })).toEqual([`${at}/withdrawal sum`])
    expect(judge({ ...change, cash_amount: 344 })).toEqual([`${at}/withdrawal sum`])
    expect(judge(withdrawal)).toEqual([
      `${at}/withdrawal/purchase_amount required`,
      `${at}/withdrawal sum`,
    ])
    expect(xmlOf({ purpose: 'GSCB', withdrawal: change }, { local_instrument: 'MANU' })).toContain(
      '<RfrdDocAmt><AdjstmntAmtAndRsn><Amt Ccy="BRL">120.00</Amt><Rsn>VLCP</Rsn></AdjstmntAmtAndRsn><AdjstmntAmtAndRsn><Amt Ccy="BRL">3.45</Amt><Rsn>VLDN</Rsn></AdjstmntAmtAndRsn></RfrdDocAmt></Strd></RmtInf></CdtTrfTxInf>',
    )
  })

  test('Pix Saque: one VLDN, which is the amount', () => {
    const judge = (one: object) => problems({ purpose: 'OTHR', withdrawal: one })
    expect(judge({ ...withdrawal, cash_amount: 12_345 })).toEqual([])
    expect(judge({ ...withdrawal, cash_amount: 12_344 })).toEqual([
      `${at}/withdrawal/cash_amount sum`,
    ])
    expect(judge({ ...change, cash_amount: 12_345 })).toEqual([
      `${at}/withdrawal/purchase_amount unknown`,
    ])
    expect(judge({ ...withdrawal, cash_amount: 12_345, agent_type: 'AGXXX' })).toEqual([
      `${at}/withdrawal/agent_type format`,
    ])
  })
})

describe('the tax split', () => {
  const tax = { reference: 'NF0000123', cbs_amount: 12_000, ibs_amount: 345 }
  const companies = { debtor: debtorCompany, creditor: creditorCompany }
  const judge = (
    changes: object,
    message: object = { local_instrument: 'MANU' },
    version = '1.15',
  ) => problems({ ...companies, tax, ...changes }, message, version)

  test('is written behind the purpose, CBS first', () => {
    const xml = xmlOf({ ...companies, tax }, { local_instrument: 'MANU' }, '1.16')
    expect(xml).toContain(
      '</Purp><Tax><RefNb>NF0000123</RefNb><Rcrd><Tp>CBSSPLIT</Tp><Ctgy>INF</Ctgy><TaxAmt><TtlAmt Ccy="BRL">120.00</TtlAmt></TaxAmt></Rcrd><Rcrd><Tp>IBSSPLIT</Tp><Ctgy>INF</Ctgy><TaxAmt><TtlAmt Ccy="BRL">3.45</TtlAmt></TaxAmt></Rcrd></Tax><RmtInf>',
    )
  })

  test('came with 1.15', () => {
    expect(judge({}, undefined, '1.16')).toEqual([])
    expect(
      judge({ creditor: { ...creditor, document: '98765432000198' } }, undefined, '1.14'),
    ).toEqual([`${at}/tax version`])
  })

  test('is no more than the amount, and of two companies', () => {
    expect(judge({})).toEqual([])
    expect(judge({ tax: { ...tax, ibs_amount: 346 } })).toEqual([`${at}/tax sum`])
    expect(judge({ tax: { ...tax, ibs_amount: 0 } })).toEqual([])
    expect(judge({ tax: { ...tax, ibs_amount: -1 } })).toEqual([`${at}/tax/ibs_amount minimum`])
    expect(judge({ debtor: transfer.debtor })).toEqual([`${at}/tax consistency`])
    expect(judge({ creditor })).toEqual([`${at}/tax consistency`])
    expect(judge({ tax: { reference: 'x'.repeat(51) } })).toEqual([
      `${at}/tax/reference format`,
      `${at}/tax/cbs_amount required`,
      `${at}/tax/ibs_amount required`,
    ])
    expect(judge({ tax: { ...tax, reference: 'x'.repeat(50) } })).toEqual([])
  })

  test.each([
    ['QRES', true],
    ['APES', true],
    ['MANU', true],
    ['DICT', true],
    ['QRDN', false],
    ['APDN', false],
    ['INIC', false],
    ['AUTO', false],
  ])('with %s: %p', (local_instrument, isAllowed) => {
    const withKey = !['MANU', 'AUTO'].includes(local_instrument)
    const ids = { QRDN: 26, APDN: 26, AUTO: 26, INIC: 25 } as Readonly<Record<string, number>>
    const length = ids[local_instrument]
    const changes = {
      initiator_document: '12345678000195',
      creditor: { ...creditorCompany, ...(withKey ? { proxy: key } : {}) },
      ...(length === undefined ? {} : { transaction_id: 'a'.repeat(length) }),
    }
    expect(judge(changes, { local_instrument })).toEqual(isAllowed ? [] : [`${at}/tax forbidden`])
  })
})

test('InstrId came with 1.16', () => {
  const instruction_id = 'E1234567820260302140500000000009'
  const manual = { local_instrument: 'MANU' }
  expect(xmlOf({ instruction_id }, manual, '1.16')).toContain(
    `<PmtId><InstrId>${instruction_id}</InstrId><EndToEndId>`,
  )
  expect(problems({ instruction_id: 'x' }, manual, '1.16')).toEqual([`${at}/instruction_id format`])
  expect(problems({ instruction_id }, manual, '1.15')).toEqual([`${at}/instruction_id version`])
})

test('an EndToEndId is given to one transaction only', () => {
  const end_to_end_id = 'E1234567820260302140500000000009'
  const one = { ...transfer, creditor, end_to_end_id }
  const params = { local_instrument: 'MANU', transactions: [one, transfer, one] }
  expect(problemsOf('PACS008', { ...params, transactions: [one] })).toEqual([])
  expect(
    problemsOf('PACS008', {
      ...params,
      transactions: [one, { ...one, end_to_end_id: undefined }, one],
    }),
  ).toEqual(['/transactions/2/end_to_end_id unique'])
})

test('what versions differ in is judged by the version sent', () => {
  const judge = (version: string, changes: object, local_instrument = 'MANU') =>
    problems(changes, { local_instrument }, version)
  const lettered = { creditor: { ...creditor, account_num: 'A1' } }
  const account = { creditor: { ...creditor, account_type: 'OTHR' } }
  for (const [version, isNew] of [
    ['1.13', false],
    ['1.14', false],
    ['1.15', true],
    ['1.16', true],
  ] as const) {
    const only = (pointer: string) => (isNew ? [] : [pointer])
    expect(judge(version, lettered)).toEqual(only(`${at}/creditor/account_num format`))
    expect(judge(version, account)).toEqual(only(`${at}/creditor/account_type format`))
    const tap = { creditor: { ...creditor, proxy: key } }
    expect(judge(version, tap, 'APES')).toEqual(only('/local_instrument format'))
  }
})
