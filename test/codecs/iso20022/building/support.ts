import { type BuildableMessage, buildMessage, createRandomText } from '#codecs/iso20022'

let seed = 7
const random = createRandomText((bytes) => {
  for (let i = 0; i < bytes.length; i++) {
    seed = (Math.imul(seed, 1103515245) + 12345) | 0
    bytes[i] = seed >>> 16
  }
})
const nowMs = Date.UTC(2026, 2, 31, 23, 59, 58, 7)
export const context = { ispb: '12345678', nowMs, random, revision: '5.11.1' } as const
export const original = 'E1234567820260302140500000000001'
const ofOther = original.replace('12345678', '87654321')

export const transfer = {
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

/** Parameters of each message, of the oldest version on. */
export const examples: Readonly<Record<BuildableMessage, object>> = {
  PACS008: { local_instrument: 'DICT', transactions: [transfer, transfer] },
  PACS002: { original_end_to_end_id: original, status: 'RJCT', reason: 'AC03' },
  PACS004: { original_end_to_end_id: ofOther, amount: 100, return_reason: 'MD06' },
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
    cancellation_id: 'CA123456782026030100000000001',
    reconciliation_id: 'a'.repeat(26),
    original_end_to_end_id: original,
    counterparty_ispb: '87654321',
    requester_document: '98765432100',
    reason: 'SLBD',
    processing_type: 'DHSR',
  },
  CAMT029: {
    cancellation_id: 'CA999990102026030100000000001',
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
    family: 'RRCT',
    sub_family: 'DMCT',
    origin_message: 'pacs.008',
    end_to_end_id: original,
    service_level: 'PAGPRI',
    debtor_ispb: '87654321',
    purpose: 'IPAY',
  },
  ADMI002: {
    reference: 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW',
    reason: 'schema',
    location: '/Envelope',
  },
}

/** Pointer and rule of each problem. */
export const problemsOf = (name: BuildableMessage, params: unknown, version?: string) => {
  const built = buildMessage(
    name,
    params,
    version === undefined ? context : { ...context, version },
  )
  return built.ok ? [] : built.problems.map(({ pointer, rule }) => `${pointer} ${rule}`)
}

export const built = (name: BuildableMessage, params: unknown, version?: string) => {
  const build = buildMessage(
    name,
    params,
    version === undefined ? context : { ...context, version },
  )
  if (!build.ok) throw new Error(JSON.stringify(build.problems))
  return build.message
}
