import { returnReason } from '../../codes/reasons.ts'
import { jsonAmount, jsonMembers } from '../../projecting/json.ts'
import { withTransactions } from '../../projecting/projection.ts'
import type { Pacs004, PaymentReturn } from './index.ts'

const giveBack = (transaction: PaymentReturn): object => {
  const { code, additionalInformation } = transaction.reason
  return {
    return_id: transaction.returnId,
    original_end_to_end_id: transaction.originalEndToEndId,
    amount: jsonAmount(transaction.amount.cents),
    currency: transaction.amount.currency,
    reason: {
      code,
      meaning: returnReason(code)?.meaning?.en ?? null,
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
export const pixReturn = (message: Pacs004, enrich: boolean): string =>
  withTransactions(
    message.transactions.map((transaction) =>
      jsonMembers(
        enrich
          ? { ...giveBack(transaction), ...enrichment(message, transaction) }
          : giveBack(transaction),
      ),
    ),
  )
