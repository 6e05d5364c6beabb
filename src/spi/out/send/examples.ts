import type { BuildableMessage } from '#codecs/iso20022'

const original = 'E1234567820260302140500000000001'
const received = 'E8765432120260302140500000000001'
const reconciliation = 'CHARGE2026030001ABCDEFGHIJ'
const cancellation = 'CA123456782026030212345678901'
const cancellationOfOther = 'CA876543212026030212345678901'

const maria = {
  ispb: '12345678',
  name: 'Maria de Exemplo',
  document: '12345678909',
  account_num: '500100',
  account_type: 'CACC',
}
const shop = {
  ispb: '87654321',
  document: '98765432000198',
  account_num: '600200',
  account_type: 'CACC',
}
const agent = { agent_type: 'AGTEC', agent_ispb: '87654321' }

const params: Readonly<Record<BuildableMessage, object>> = {
  PACS008: {
    local_instrument: 'DICT',
    service_level: 'PAGPRI',
    transactions: [
      {
        amount: 12_345,
        purpose: 'IPAY',
        debtor: maria,
        creditor: {
          ispb: '87654321',
          document: '98765432100',
          account_num: '600200',
          account_type: 'TRAN',
          proxy: 'key@example.com',
        },
      },
    ],
  },
  PACS002: { original_end_to_end_id: original, status: 'ACSP' },
  PACS004: { original_end_to_end_id: received, amount: 12_345, return_reason: 'MD06' },
  PAIN013: {
    charges: [
      {
        reconciliation_id: reconciliation,
        mandate_id: 'RR123456782026030100000000001',
        amount: 4_990,
        purpose: 'AGND',
        execution_date_time: '2026-04-05T12:00:00.000Z',
        due_date: '2026-04-05',
        debtor: { ispb: '87654321', document: '98765432100' },
        creditor: { document: '12345678000195', account_num: '500100', account_type: 'CACC' },
      },
    ],
  },
  PAIN014: {
    reconciliation_id: reconciliation,
    original_end_to_end_id: original,
    status: 'RJCT',
    reason: 'AC06',
    creditor: { ispb: '12345678', document: '12345678000195' },
  },
  CAMT055: {
    cancellation_id: cancellation,
    reconciliation_id: reconciliation,
    original_end_to_end_id: original,
    counterparty_ispb: '87654321',
    requester_document: '98765432100',
    reason: 'SLBD',
    processing_type: 'DHSR',
  },
  CAMT029: {
    cancellation_id: cancellationOfOther,
    reconciliation_id: reconciliation,
    original_end_to_end_id: original,
    counterparty_ispb: '87654321',
    status: 'RJCR',
    reason: 'DENC',
  },
  CAMT054: {
    account_ispb: '12345678',
    amount: 12_345,
    direction: 'CRDT',
    status: 'BOOK',
    booking_date: '2026-03-02',
    domain: 'PMNT',
    family: 'RRCT',
    sub_family: 'DMCT',
    origin_message: 'pacs.008',
    end_to_end_id: original,
    debtor_ispb: '87654321',
    creditor_ispb: '12345678',
    service_level: 'PAGPRI',
    purpose: 'IPAY',
  },
  ADMI002: {
    reference: 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW',
    reason: 'schema',
    location: '/Envelope/Document',
    description: 'the element Cdtr is missing',
  },
}

const company = { ispb: '12345678', name: 'Exemplo Ltda', document: '12345678000195' }

/** Further parameters that some of them can have. */
const more: Readonly<Record<string, object>> = {
  'PACS008 with a tax split, since 1.15': {
    message_type: 'PACS008',
    version: '1.15',
    params: {
      local_instrument: 'MANU',
      transactions: [
        {
          amount: 12_345,
          debtor: { ...company, account_num: '500100', account_type: 'CACC' },
          creditor: shop,
          tax: { reference: 'NF0000123', cbs_amount: 109, ibs_amount: 12 },
        },
      ],
    },
  },
  'PACS008 of a Pix Troco': {
    message_type: 'PACS008',
    params: {
      local_instrument: 'QRES',
      transactions: [
        {
          amount: 15_000,
          purpose: 'GSCB',
          debtor: maria,
          creditor: { ...shop, proxy: 'key@example.com' },
          withdrawal: { ...agent, cash_amount: 5_000, purchase_amount: 10_000 },
        },
      ],
    },
  },
  'PAIN014 of several charges': {
    message_type: 'PAIN014',
    params: {
      transactions: [
        {
          reconciliation_id: reconciliation,
          original_end_to_end_id: original,
          status: 'ACSP',
          creditor: { ispb: '12345678', document: '12345678000195' },
        },
        {
          reconciliation_id: 'CHARGE2026030002ABCDEFGHIJ',
          original_end_to_end_id: 'E1234567820260302140500000000002',
          status: 'RJCT',
          reason: 'AM02',
          creditor: { ispb: '12345678', document: '12345678000195' },
        },
      ],
    },
  },
  'CAMT054 of a payment with who pays and is paid': {
    message_type: 'CAMT054',
    params: {
      notification_id: 'M12345678aB3dE5gH7jK9mN1pQ3sT5vW',
      account_ispb: '12345678',
      amount: 12_345,
      direction: 'DBIT',
      status: 'BOOK',
      booking_date: '2026-03-02',
      value_date_time: '2026-03-02T14:05:07.120Z',
      domain: 'PMNT',
      family: 'IRCT',
      sub_family: 'DMCT',
      origin_message: 'pacs.008',
      end_to_end_id: original,
      transaction_id: 'ORDER42',
      service_level: 'PAGPRI',
      priority: 'HIGH',
      debtor: {
        name: 'Maria de Exemplo',
        document: '12345678909',
        account_num: '500100',
        branch: '0001',
        account_type: 'CACC',
      },
      creditor: {
        document: '98765432000198',
        account_num: '600200',
        account_type: 'TRAN',
        proxy: 'key@example.com',
      },
      debtor_ispb: '12345678',
      creditor_ispb: '87654321',
      local_instrument: 'QRES',
      purpose: 'GSCB',
      acceptance_date_time: '2026-03-02T14:05:06.000Z',
      withdrawal: { ...agent, cash_amount: 2_345, purchase_amount: 10_000 },
    },
  },
  'CAMT054 of several entries, one a return': {
    message_type: 'CAMT054',
    params: {
      notifications: [
        {
          account_ispb: '12345678',
          amount: 500,
          direction: 'CRDT',
          status: 'BOOK',
          domain: 'PMNT',
          family: 'IRCT',
          sub_family: 'RRTN',
          origin_message: 'pacs.004',
          instruction_id: 'D8765432120260302150000000000001',
          end_to_end_id: original,
          debtor_ispb: '87654321',
          creditor_ispb: '12345678',
          return_reason: 'MD06',
          additional_information: 'paid twice',
        },
        {
          account_ispb: '12345678',
          amount: 12_345,
          direction: 'DBIT',
          status: 'BOOK',
          domain: 'PMNT',
          family: 'IRCT',
          sub_family: 'DMCT',
          origin_message: 'pacs.008',
          end_to_end_id: original,
          local_instrument: 'MANU',
          tax: { cbs_amount: 109, ibs_amount: 12 },
        },
      ],
    },
  },
  'PACS004 of several returns': {
    message_type: 'PACS004',
    params: {
      transactions: [
        { original_end_to_end_id: received, amount: 10_000, return_reason: 'MD06' },
        {
          original_end_to_end_id: 'E8765432120260302140500000000002',
          amount: 500,
          return_reason: 'BE08',
          priority: 'NORM',
          additional_information: 'paid twice',
        },
      ],
    },
  },
  'PACS002 of several operations, with several reasons': {
    message_type: 'PACS002',
    params: {
      transactions: [
        { original_end_to_end_id: original, status: 'ACSP' },
        {
          original_end_to_end_id: 'E1234567820260302140500000000002',
          status: 'RJCT',
          reasons: [
            { reason: 'AC03' },
            { reason: 'BE01', additional_information: ['holder is another', 'see the contract'] },
          ],
        },
      ],
    },
  },
}

/** A request of each message type, and more of some, as the OpenAPI document shows them. */
export const sendExamples: Readonly<Record<string, object>> = {
  ...Object.fromEntries(
    Object.entries(params).map(([type, value]) => [type, { message_type: type, params: value }]),
  ),
  ...more,
}
