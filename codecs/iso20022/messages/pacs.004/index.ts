import { confirmed, seenAt510 } from '../../catalogue/revisions.ts'
import { wholeProjection } from '../../projecting/projection.ts'
import { many, messageReader, money, one, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { builder } from './build.ts'
import schema from './pacs.004.xsd' with { type: 'text' }
import { pixReturn } from './projection.ts'

/** Reads a scanned pacs.004; problems are left in `reader`. */
const read = messageReader('pacs.004', 'PmtRtr', {
  groupHeader: one('GrpHdr', {
    messageId: text('MsgId'),
    creationDateTime: text('CreDtTm'),
    numberOfTransactions: text('NbOfTxs'),
    settlementMethod: text('SttlmInf/SttlmMtd'),
  }),
  transactions: many('TxInf+', {
    returnId: text('RtrId'),
    originalEndToEndId: text('OrgnlEndToEndId'),
    amount: money('RtrdIntrBkSttlmAmt'),
    settlementPriority: text('SttlmPrty'),
    chargeBearer: text('ChrgBr'),
    reason: one('RtrRsnInf', { code: text('Rsn/Cd'), additionalInformation: text('AddtlInf?') }),
    remittanceUnstructured: text('OrgnlTxRef/RmtInf?/Ustrd'),
    debtorAgentIspb: text('OrgnlTxRef/DbtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
    creditorAgentIspb: text('OrgnlTxRef/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
  }),
})

export type Pacs004 = ReturnType<typeof read>

/** One `TxInf`. */
export type PaymentReturn = Pacs004['transactions'][number]

/**
 * pacs.004, PaymentReturn: money is given back. `DbtrAgt` is the participant debited by the return, the one that
 * gives the money back, and `CdtrAgt` the one credited by it (the central bank's field sheet for 1.5, and its
 * example).
 */
export const pacs004 = {
  type: 'pacs.004',
  revisions: { ...seenAt510('1.5'), '5.11.1': confirmed('1.5') },
  versions: { '1.5': 'pacs.004.xsd' },
  schemas: { 'pacs.004.xsd': schema },
  read,
  builder,
  projection: wholeProjection('pix_return', read, pixReturn),
  facts: {
    transaction: 'TxInf',
    checks: ['some_transaction', 'count', 'end_to_end_id', 'return_id', 'amount', 'return_reason'],
    rules: null,
    answers: null,
  },
  exchange: { role: 'moves_money', tokens: null, answeredWith: 'pacs.002' },
} as const satisfies MessageDefinition
