import type { Account, CreditTransfer, Pacs008, Party } from '#codecs/iso20022'
import { jsonAmount, maskDocument } from './json.ts'
import { withTransactions } from './transactions.ts'

/** `pix_payment`: one payment as the specification names its fields; `enrich` adds what a ledger needs. */
export const pixPayment = (message: Pacs008, enrich: boolean): object => {
  return withTransactions(
    message.transactions.map((transaction) =>
      enrich ? enrichedPayment(message, transaction) : payment(transaction),
    ),
  )
}

const payment = (transaction: CreditTransfer): object => {
  return {
    end_to_end_id: transaction.endToEndId,
    amount: jsonAmount(transaction.amount.cents),
    currency: transaction.amount.currency,
    debtor: party(transaction.debtor),
    creditor: party(transaction.creditor),
  }
}

const enrichedPayment = (message: Pacs008, transaction: CreditTransfer): object => {
  const { groupHeader } = message
  return {
    ...payment(transaction),
    debtor: {
      ...party(transaction.debtor),
      ispb: transaction.debtorAgentIspb,
      account: account(transaction.debtorAccount),
    },
    creditor: {
      ...party(transaction.creditor),
      ispb: transaction.creditorAgentIspb,
      account: account(transaction.creditorAccount),
    },
    message_id: groupHeader.messageId,
    creation_date_time: groupHeader.creationDateTime,
    acceptance_date_time: transaction.acceptanceDateTime,
    priority: groupHeader.instructionPriority,
    service_level: groupHeader.serviceLevel,
    local_instrument: transaction.localInstrument,
    purpose: transaction.purpose,
    tx_id: transaction.transactionId,
    pix_key: transaction.creditorAccount.proxyId,
    remittance_information: transaction.remittance?.unstructured ?? null,
    withdrawal: withdrawal(transaction),
    initiator_document: transaction.initiatingPartyDocument,
    tax: tax(transaction),
  }
}

const party = ({ name, document }: Party): object => {
  return { name, document: maskDocument(document) }
}

const account = ({ id, branch, type }: Account): object => {
  return { number: id, branch, type }
}

/** The structured remittance of Pix Saque and Pix Troco: who hands out the cash, and how the amount splits. */
const withdrawal = ({ remittance }: CreditTransfer): object | null => {
  const structured = remittance?.structured
  if (!structured) return null
  return {
    agent_type: structured.documentType,
    facilitator_ispb: structured.issuerIspb,
    amounts: structured.adjustments.map(({ amount, reason }) => ({
      reason,
      amount: jsonAmount(amount.cents),
    })),
  }
}

const tax = (transaction: CreditTransfer): object | null => {
  if (transaction.tax === null) return null
  return {
    reference_number: transaction.tax.referenceNumber,
    records: transaction.tax.records.map(({ type, category, amount }) => ({
      type,
      category,
      amount: jsonAmount(amount.cents),
    })),
  }
}
