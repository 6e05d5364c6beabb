import {
  type Account,
  type CreditTransfer,
  formatCents,
  type Pacs008,
  type Party,
} from '#codecs/iso20022'
import { jsonAmount, jsonMembers, jsonText, maskDocument } from './json.ts'
import { withTransactions } from './transactions.ts'

/** `pix_payment`: one payment as the specification names its fields; `enrich` adds what a ledger needs. */
export const pixPayment = (message: Pacs008, enrich: boolean): string =>
  withTransactions(
    message.transactions.map((transaction) =>
      enrich ? enrichedPayment(message, transaction) : payment(transaction, '', ''),
    ),
  )

/**
 * The members of one payment. Written as text, not as an object: this is the hot path.
 *
 * @param debtorMore further members of the debtor, with a comma before
 */
const payment = (
  { endToEndId, amount, debtor, creditor }: CreditTransfer,
  debtorMore: string,
  creditorMore: string,
): string =>
  `"end_to_end_id":${jsonText(endToEndId)},"amount":${formatCents(amount.cents)},"currency":${jsonText(amount.currency)},"debtor":{${party(debtor)}${debtorMore}},"creditor":{${party(creditor)}${creditorMore}}`

const party = ({ name, document }: Party): string =>
  `"name":${name === null ? 'null' : jsonText(name)},"document":${jsonText(maskDocument(document))}`

const enrichedPayment = (message: Pacs008, transaction: CreditTransfer): string => {
  const { groupHeader } = message
  const debtor = { ispb: transaction.debtorAgentIspb, account: account(transaction.debtorAccount) }
  const creditor = {
    ispb: transaction.creditorAgentIspb,
    account: account(transaction.creditorAccount),
  }
  const more = {
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
  const members = payment(transaction, `,${jsonMembers(debtor)}`, `,${jsonMembers(creditor)}`)
  return `${members},${jsonMembers(more)}`
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
