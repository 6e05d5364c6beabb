import { type Pacs004, type PaymentReturn, returnReason } from '#codecs/iso20022'
import { jsonAmount, jsonMembers } from './json.ts'
import { withTransactions } from './transactions.ts'

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
