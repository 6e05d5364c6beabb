import type { XmlDocument } from '#codecs/xml'
import { jsonAmount, jsonMembers } from '../../projecting/json.ts'
import { constant, type JsonWriter } from '../../projecting/json-writer.ts'
import type { Projection } from '../../projecting/projection.ts'
import { MessageReader } from '../../reader.ts'
import {
  type Account,
  type CreditTransfer,
  type Pacs008,
  type PaymentNodes,
  readPacs008,
  readPayments,
} from './read.ts'

/** The constant parts of the result, in its order. */
const parts = {
  start: constant('{'),
  endToEndId: constant('"end_to_end_id":'),
  amount: constant(',"amount":'),
  currency: constant(',"currency":"'),
  debtor: constant('","debtor":{"name":'),
  document: constant(',"document":'),
  creditor: constant('},"creditor":{"name":'),
  partyEnd: constant('}'),
  count: constant(',"transaction_count":'),
  transactions: constant(',"transactions":[{'),
  next: constant('},{'),
  transactionsEnd: constant('}]'),
  end: constant('}'),
} as const

/** The members that `enrich` adds to a payment, as JSON, each with a comma before. */
type Enrichment = {
  readonly debtor: string
  readonly creditor: string
  readonly payment: string
}

/** With several payments, the top-level fields are the first's and `transactions` holds all in the same shape. */
const writePayments = (
  document: XmlDocument,
  payments: readonly PaymentNodes[],
  enrichments: readonly Enrichment[],
  writer: JsonWriter,
): string => {
  writer.begin()
  writer.constant(parts.start)
  writePayment(document, payments[0], enrichments[0], writer)
  writer.constant(parts.count)
  writer.integer(payments.length)
  if (payments.length > 1) {
    for (let at = 0; at < payments.length; at++) {
      writer.constant(at === 0 ? parts.transactions : parts.next)
      writePayment(document, payments[at], enrichments[at], writer)
    }
    writer.constant(parts.transactionsEnd)
  }
  writer.constant(parts.end)
  return writer.end()
}

const writePayment = (
  document: XmlDocument,
  payment: PaymentNodes | undefined,
  enrichment: Enrichment | undefined,
  writer: JsonWriter,
): void => {
  if (payment === undefined) return
  writer.constant(parts.endToEndId)
  writer.text(document, payment.endToEndId)
  writer.constant(parts.amount)
  writer.cents(payment.amount.cents)
  writer.constant(parts.currency)
  writer.json(payment.amount.currency)
  writer.constant(parts.debtor)
  writer.text(document, payment.debtorName)
  writer.constant(parts.document)
  writer.masked(document, payment.debtorDocument)
  if (enrichment !== undefined) writer.json(enrichment.debtor)
  writer.constant(parts.creditor)
  writer.text(document, payment.creditorName)
  writer.constant(parts.document)
  writer.masked(document, payment.creditorDocument)
  if (enrichment !== undefined) writer.json(enrichment.creditor)
  writer.constant(parts.partyEnd)
  if (enrichment !== undefined) writer.json(enrichment.payment)
}

/** The further fields that a ledger needs. */
const enrichmentsOf = (message: Pacs008): readonly Enrichment[] =>
  message.transactions.map((transaction) => enrichment(message, transaction))

const enrichment = ({ groupHeader }: Pacs008, transaction: CreditTransfer): Enrichment => {
  const debtor = { ispb: transaction.debtorAgentIspb, account: account(transaction.debtorAccount) }
  const creditor = {
    ispb: transaction.creditorAgentIspb,
    account: account(transaction.creditorAccount),
  }
  const payment = {
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
  return {
    debtor: `,${jsonMembers(debtor)}`,
    creditor: `,${jsonMembers(creditor)}`,
    payment: `,${jsonMembers(payment)}`,
  }
}

const account = ({ id, branch, type }: Account): object => ({ number: id, branch, type })

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

/**
 * `pix_payment`: a payment as the specification names its fields. Nearly all traffic is not enriched: then only the
 * fields of the result are read.
 */
export const projection = {
  target: 'pix_payment',
  project: (document, version, enrich, writer) => {
    const reader = new MessageReader(document)
    const { messageDefinitionId, payments, enrichments } = enrich
      ? enriched(reader, document, version)
      : { ...readPayments(reader, document), enrichments: [] }
    if (reader.problems.length > 0) return { ok: false, problems: reader.problems }
    const result = writePayments(document, payments, enrichments, writer)
    return { ok: true, messageDefinitionId, result }
  },
} as const satisfies Projection

const enriched = (reader: MessageReader, document: XmlDocument, version: string) => {
  const payments: PaymentNodes[] = []
  const message = readPacs008(reader, document, version, payments)
  const { messageDefinitionId } = message.header
  return { messageDefinitionId, payments, enrichments: enrichmentsOf(message) }
}
