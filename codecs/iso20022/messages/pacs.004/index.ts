import { confirmed, seenAt510 } from '../../catalogue/revisions.ts'
import { codeLists } from '../../codes/lists.ts'
import { jsonAmount, jsonMembers } from '../../projecting/json.ts'
import { wholeProjection, withTransactions } from '../../projecting/projection.ts'
import { many, messageReader, money, one, text } from '../../shape.ts'
import { type MessageDefinition, noFacts } from '../definition.ts'
import { builder } from './build.ts'
import schema from './pacs.004.xsd' with { type: 'text' }

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

const giveBack = (transaction: PaymentReturn): object => {
  const { code, additionalInformation } = transaction.reason
  return {
    return_id: transaction.returnId,
    original_end_to_end_id: transaction.originalEndToEndId,
    amount: jsonAmount(transaction.amount.cents),
    currency: transaction.amount.currency,
    reason: {
      code,
      meaning: codeLists.return_reason.get(code)?.meaning?.en ?? null,
      additional_information: additionalInformation,
    },
    returning_ispb: transaction.debtorAgentIspb,
    receiving_ispb: transaction.creditorAgentIspb,
  }
}

const enrichment = ({ groupHeader }: Pacs004, transaction: PaymentReturn): object => ({
  message_id: groupHeader.messageId,
  creation_date_time: groupHeader.creationDateTime,
  priority: transaction.settlementPriority,
  remittance_information: transaction.remittanceUnstructured,
})

/** `pix_return`: money given back; the returning participant is `DbtrAgt`, the receiving one `CdtrAgt`. */
const pixReturn = (message: Pacs004, enrich: boolean): string =>
  withTransactions(
    message.transactions.map((transaction) =>
      jsonMembers(
        enrich
          ? { ...giveBack(transaction), ...enrichment(message, transaction) }
          : giveBack(transaction),
      ),
    ),
  )

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
    ...noFacts,
    transaction: 'TxInf',
    checks: ['some_transaction', 'count', 'end_to_end_id', 'return_id', 'amount', 'return_reason'],
  },
  exchange: { role: 'moves_money', tokens: null, answeredWith: 'pacs.002' },
} as const satisfies MessageDefinition
