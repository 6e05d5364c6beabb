import { describe, expect, test } from 'bun:test'
import {
  type BuildableMessage,
  buildableMessages,
  buildMessage,
  createRandomText,
  knownVersions,
  messageVocabulary,
  ourCatalogue,
  priorityTransactionsMax,
  revisions,
  scheduledTransactionsMax,
  validateDocument,
} from '#codecs/iso20022'
import { createXmlScanner } from '#codecs/xml'
import { shapedSignature } from '../../../support/messages.ts'

const scanner = createXmlScanner({ vocabulary: messageVocabulary })
const signature = shapedSignature.replaceAll('q=', 'A=')
const decoder = new TextDecoder()

let seed = 7
const random = createRandomText((bytes) => {
  for (let i = 0; i < bytes.length; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) | 0
    bytes[i] = seed >>> 16
  }
})
const nowMs = Date.UTC(2026, 2, 31, 23, 59, 58, 7)
const context = { ispb: '12345678', nowMs, random, revision: '5.11.1' } as const
const original = 'E1234567820260302140500000000001'

const transfer = {
  amount: 12345,
  purpose: 'IPAY',
  debtor: {
    ispb: '12345678',
    name: 'Conceição & Irmãos <Ltda>',
    document: '12345678909',
    account_num: '500100',
    branch: '0001',
    account_type: 'CACC',
  },
  creditor: {
    ispb: '87654321',
    name: 'not sent',
    document: '98765432100',
    account_num: '600200',
    account_type: 'TRAN',
    proxy: 'key@example.com',
  },
  remittance_information: 'Order 42',
}

const examples: Readonly<Record<BuildableMessage, object>> = {
  PACS008: { local_instrument: 'DICT', transactions: [transfer, transfer] },
  PACS002: { original_end_to_end_id: original, status: 'RJCT', reason: 'AC03' },
  PACS004: { original_end_to_end_id: original, amount: 100, return_reason: 'MD06' },
  PAIN013: {
    charges: [
      {
        reconciliation_id: 'a'.repeat(26),
        mandate_id: 'RR123456782026030100000000001',
        amount: 4990,
        purpose: 'AGND',
        execution_date_time: '2026-04-05T12:00:00.000Z',
        due_date: '2026-04-05',
        debtor: { ispb: '87654321', document: '98765432100' },
        ultimate_debtor: { name: 'Fulana', document: '98765432100' },
        creditor: { document: '12345678000195', account_num: '500100', account_type: 'CACC' },
      },
    ],
  },
  PAIN014: {
    reconciliation_id: 'a'.repeat(26),
    original_end_to_end_id: original,
    status: 'RJCT',
    reason: 'AC06',
    creditor: { ispb: '12345678', document: '12345678000195' },
  },
  CAMT055: {
    cancellation_id: 'c'.repeat(29),
    reconciliation_id: 'a'.repeat(26),
    original_end_to_end_id: original,
    counterparty_ispb: '87654321',
    requester_document: '98765432100',
    reason: 'SLBD',
    processing_type: 'DHSR',
  },
  CAMT029: {
    cancellation_id: 'c'.repeat(29),
    reconciliation_id: 'a'.repeat(26),
    original_end_to_end_id: original,
    counterparty_ispb: '12345678',
    status: 'ACCR',
  },
  CAMT054: {
    account_ispb: '12345678',
    amount: 12345,
    direction: 'CRDT',
    status: 'BOOK',
    booking_date: '2026-03-31',
    domain: 'PMNT',
    family: 'IRCT',
    sub_family: 'DMCT',
    origin_message: 'pacs.008',
    end_to_end_id: original,
    service_level: 'PAGPRI',
    debtor_ispb: '12345678',
    purpose: 'IPAY',
  },
  ADMI002: {
    reference: 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW',
    reason: 'schema',
    location: '/Envelope',
  },
}

const problemsOf = (name: BuildableMessage, params: unknown, version?: string) => {
  const built = buildMessage(
    name,
    params,
    version === undefined ? context : { ...context, version },
  )
  return built.ok ? [] : built.problems.map(({ pointer, rule }) => `${pointer} ${rule}`)
}

describe('every message', () => {
  for (const name of buildableMessages) {
    test(`${name} is valid in every version, and its slices are its parts`, () => {
      const [{ type }] = [built(name, examples[name])]
      for (const version of knownVersions(type)) {
        const message = built(name, examples[name], version)
        const signed =
          decoder.decode(message.bytes.subarray(0, message.signatureAt)) +
          signature +
          decoder.decode(message.bytes.subarray(message.signatureAt))
        const schema = ourCatalogue.schemaOf(type, version)
        if (schema === undefined) throw new Error('no schema')
        const document = scanner.scan(new TextEncoder().encode(signed))
        expect(validateDocument(schema, document).violations).toEqual([])
        const slice = ({ from, to }: { from: number; to: number }) =>
          decoder.decode(message.bytes.subarray(from, to))
        expect(slice(message.appHdr)).toMatch(/^<AppHdr>.*<Sgntr><\/Sgntr><\/AppHdr>$/)
        expect(slice(message.document)).toMatch(/^<Document>.*<\/Document>$/)
        expect(decoder.decode(message.bytes)).not.toMatch(/\/>|\n|> </)
      }
    })
  }

  test('is sent in the version of the revision', () => {
    for (const revision of revisions) {
      const build = buildMessage('PACS002', examples.PACS002, { ...context, revision })
      expect(build.ok && build.message.namespace).toEndWith(
        { '5.08.1': '1.12', '5.09.2': '1.13', '5.10.1': '1.14', '5.11.1': '1.15' }[revision],
      )
    }
    expect(() => problemsOf('PACS002', {}, '9.9')).toThrow(RangeError)
  })

  test('refuses what it does not know, in every object', () => {
    const pointersOf = (value: unknown, pointer: string): readonly string[] =>
      typeof value !== 'object' || value === null
        ? []
        : [
            ...(Array.isArray(value) ? [] : [pointer]),
            ...Object.entries(value).flatMap(([key, one]) => pointersOf(one, `${pointer}/${key}`)),
          ]
    for (const name of buildableMessages) {
      for (const pointer of pointersOf(examples[name], '')) {
        const params: unknown = JSON.parse(JSON.stringify(examples[name]))
        let at = params as Record<string, unknown>
        for (const key of pointer.split('/').slice(1)) at = at[key] as Record<string, unknown>
        at['surprise'] = null
        expect(problemsOf(name, params)).toEqual([`${pointer}/surprise unknown`])
      }
    }
  })

  test('has identifiers of its own, from the ISPB and the minute in UTC', () => {
    const [one, two] = [built('PACS008', examples.PACS008), built('PACS008', examples.PACS008)]
    expect(one.businessMessageId).toMatch(/^M12345678[0-9a-zA-Z]{23}$/)
    expect(one.businessMessageId).not.toBe(two.businessMessageId)
    expect(new Set([...one.endToEndIds, ...two.endToEndIds]).size).toBe(4)
    for (const id of one.endToEndIds) expect(id).toMatch(/^E12345678202603312359[0-9a-zA-Z]{11}$/)
    expect(one.creationDateTime).toBe('2026-03-31T23:59:58.007Z')
  })
})

const built = (name: BuildableMessage, params: unknown, version?: string) => {
  const build = buildMessage(
    name,
    params,
    version === undefined ? context : { ...context, version },
  )
  if (!build.ok) throw new Error(JSON.stringify(build.problems))
  return build.message
}

describe('refusals name the field and the rule', () => {
  const one = (changes: object, more: object = {}) => ({
    local_instrument: 'DICT',
    transactions: [{ ...transfer, ...changes }],
    ...more,
  })
  const creditor = (changes: object) => ({ creditor: { ...transfer.creditor, ...changes } })
  const none = { creditor: { ...transfer.creditor, proxy: undefined } }
  const at = '/transactions/0'

  test.each([
    [{}, ['/local_instrument required', '/transactions required']],
    [null, [' type', '/local_instrument required', '/transactions required']],
    [one({ amount: 0 }), [`${at}/amount minimum`]],
    [one({ amount: 1.5 }), [`${at}/amount type`]],
    [one({ amount: '100' }), [`${at}/amount type`]],
    [one({ surprise: 1 }), [`${at}/surprise unknown`]],
    [one(none), [`${at}/creditor/proxy required`]],
    [one({ transaction_id: 'abc' }), [`${at}/transaction_id forbidden`]],
    [one({}, { local_instrument: 'MANU' }), [`${at}/creditor/proxy forbidden`]],
    [one({}, { local_instrument: 'QRDN' }), [`${at}/transaction_id required`]],
    [
      one({ transaction_id: 'a'.repeat(25) }, { local_instrument: 'QRDN' }),
      [`${at}/transaction_id format`],
    ],
    [one({ transaction_id: 'a'.repeat(26) }, { local_instrument: 'QRDN' }), []],
    [one({ transaction_id: 'a'.repeat(25) }, { local_instrument: 'QRES' }), []],
    [
      one({ transaction_id: 'a' }, { local_instrument: 'INIC' }),
      [`${at}/initiator_document required`],
    ],
    [
      one(
        { ...none, purpose: 'OTHR', transaction_id: 'a'.repeat(26) },
        { local_instrument: 'AUTO' },
      ),
      [`${at}/purpose consistency`, `${at}/withdrawal required`],
    ],
    [one({ purpose: 'REFU' }), [`${at}/purpose consistency`]],
    [one(creditor({ account_type: 'SLRY' })), [`${at}/creditor/account_type format`]],
    [one(creditor({ document: '123' })), [`${at}/creditor/document format`]],
    [
      one({ acceptance_date_time: '2026-02-30T00:00:00.000Z' }),
      [`${at}/acceptance_date_time format`],
    ],
    [one({ remittance_information: 'x'.repeat(141) }), [`${at}/remittance_information format`]],
    [one({ remittance_information: '\ud800' }), [`${at}/remittance_information format`]],
    [one({ remittance_information: '😀'.repeat(140) }), []],
  ])('%j', (params, expected) => {
    expect(problemsOf('PACS008', params)).toEqual(expected)
  })

  test('of cash: the parts are those of the purpose, and add up', () => {
    const withdrawal = { agent_type: 'AGTEC', agent_ispb: '87654321', cash_amount: 345 }
    expect(problemsOf('PACS008', one({ withdrawal }))).toEqual([`${at}/withdrawal forbidden`])
    expect(problemsOf('PACS008', one({ purpose: 'OTHR', withdrawal }))).toEqual([])
    const change = { ...withdrawal, purchase_amount: 12000 }
    expect(problemsOf('PACS008', one({ purpose: 'GSCB', withdrawal: change }))).toEqual([])
    const wrong = { ...withdrawal, purchase_amount: 12001 }
    expect(problemsOf('PACS008', one({ purpose: 'GSCB', withdrawal: wrong }))).toEqual([
      `${at}/withdrawal sum`,
    ])
  })

  test('of too many transactions, by service level', () => {
    const many = (count: number, service_level: string) =>
      problemsOf('PACS008', {
        local_instrument: 'DICT',
        service_level,
        transactions: Array.from({ length: count }, () => transfer),
      })
    expect(many(priorityTransactionsMax, 'PAGPRI')).toEqual([])
    expect(many(priorityTransactionsMax + 1, 'PAGPRI')).toEqual(['/transactions count'])
    expect(many(priorityTransactionsMax + 1, 'PAGFRD')).toEqual(['/transactions count'])
    expect(many(scheduledTransactionsMax, 'PAGAGD')).toEqual([])
    expect(many(scheduledTransactionsMax + 1, 'PAGAGD')).toEqual(['/transactions count'])
    expect(many(0, 'PAGPRI')).toEqual(['/transactions count'])
  })

  test('of answers: a refusal has a reason that a participant may give, an acceptance none', () => {
    const answer = (changes: object) =>
      problemsOf('PACS002', { original_end_to_end_id: original, ...changes })
    expect(answer({ status: 'RJCT' })).toEqual(['/reason required'])
    expect(answer({ status: 'ACSP', reason: 'AC03' })).toEqual(['/reason forbidden'])
    expect(answer({ status: 'RJCT', reason: 'AB03' })).toEqual(['/reason format'])
    expect(answer({ status: 'ACSC' })).toEqual(['/status format'])
    expect(problemsOf('CAMT029', { ...examples.CAMT029, status: 'RJCR' })).toEqual([
      '/reason required',
    ])
    expect(problemsOf('PAIN014', { ...examples.PAIN014, status: 'ACSP' })).toEqual([
      '/reason forbidden',
    ])
    expect(problemsOf('CAMT055', { ...examples.CAMT055, reason: 'CCLD' })).toEqual([
      '/reason consistency',
    ])
  })
})
