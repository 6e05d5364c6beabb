import { absent, type XmlDocument } from '#codecs/xml'
import { readDefinition, readEnvelope } from '../../envelope.ts'
import { layout } from '../../layout.ts'
import type { MessageReader, Money, Slots } from '../../reader.ts'

/**
 * pacs.008, FIToFICustomerCreditTransfer, as the SPI restricts it.
 *
 * ```
 * GrpHdr      MsgId CreDtTm NbOfTxs SttlmInf/SttlmMtd PmtTpInf(InstrPrty SvcLvl/Prtry)
 * CdtTrfTxInf 1..n
 *   PmtId(InstrId? EndToEndId TxId?) IntrBkSttlmAmt@Ccy AccptncDtTm ChrgBr
 *   MndtRltdInf/Tp/LclInstrm/Prtry InitgPty/Id/OrgId/Othr/Id?
 *   Dbtr(Nm Id/PrvtId/Othr/Id) DbtrAcct(Id/Othr(Id Issr?) Tp/Cd) DbtrAgt CdtrAgt
 *   Cdtr(Id/PrvtId/Othr/Id) CdtrAcct(Id/Othr(Id Issr?) Tp/Cd Prxy/Id?) Purp/Cd
 *   Tax(RefNb Rcrd{2}(Tp Ctgy TaxAmt/TtlAmt@Ccy))?
 *   RmtInf(Ustrd? Strd(RfrdDocInf/Tp(CdOrPrtry/Prtry Issr) RfrdDocAmt/AdjstmntAmtAndRsn{1,2}(Amt@Ccy Rsn))?)?
 * ```
 *
 * Versions: `InstrId` since 1.16, `Tax` since 1.15; the others are in every version read.
 */
export type Pacs008 = ReturnType<typeof readPacs008>

/** One `CdtTrfTxInf`. Amounts are cents; date-times are the message's own text (UTC, three decimals). */
export type CreditTransfer = Pacs008['transactions'][number]

export type Account = CreditTransfer['creditorAccount']

const message = layout(
  'FIToFICstmrCdtTrf(GrpHdr(MsgId CreDtTm NbOfTxs SttlmInf/SttlmMtd PmtTpInf(InstrPrty SvcLvl/Prtry)) CdtTrfTxInf+)',
)
const header = (path: string): number => message.at(`FIToFICstmrCdtTrf/GrpHdr/${path}`)
const inMessage = {
  root: message.at('FIToFICstmrCdtTrf'),
  messageId: header('MsgId'),
  created: header('CreDtTm'),
  count: header('NbOfTxs'),
  settlementMethod: header('SttlmInf/SttlmMtd'),
  priority: header('PmtTpInf/InstrPrty'),
  serviceLevel: header('PmtTpInf/SvcLvl/Prtry'),
  transactions: message.at('FIToFICstmrCdtTrf/CdtTrfTxInf'),
} as const

/** The schema requires the debtor's name, but a payment without one is still a payment: it reads as null. */
const transaction = layout(
  `PmtId(InstrId? EndToEndId TxId?) IntrBkSttlmAmt AccptncDtTm ChrgBr MndtRltdInf/Tp/LclInstrm/Prtry
InitgPty?/Id/OrgId/Othr/Id Dbtr(Nm? Id/PrvtId/Othr/Id) DbtrAcct(Id/Othr(Id Issr?) Tp/Cd)
DbtrAgt/FinInstnId/ClrSysMmbId/MmbId CdtrAgt/FinInstnId/ClrSysMmbId/MmbId Cdtr(Nm? Id/PrvtId/Othr/Id)
CdtrAcct(Id/Othr(Id Issr?) Tp/Cd Prxy?/Id) Purp/Cd Tax? RmtInf?(Ustrd? Strd?)`,
)
const inTransaction = {
  instructionId: transaction.at('PmtId/InstrId'),
  endToEndId: transaction.at('PmtId/EndToEndId'),
  transactionId: transaction.at('PmtId/TxId'),
  amount: transaction.at('IntrBkSttlmAmt'),
  accepted: transaction.at('AccptncDtTm'),
  chargeBearer: transaction.at('ChrgBr'),
  localInstrument: transaction.at('MndtRltdInf/Tp/LclInstrm/Prtry'),
  initiator: transaction.at('InitgPty/Id/OrgId/Othr/Id'),
  debtorName: transaction.at('Dbtr/Nm'),
  debtorDocument: transaction.at('Dbtr/Id/PrvtId/Othr/Id'),
  debtorAccount: transaction.at('DbtrAcct/Id/Othr/Id'),
  debtorBranch: transaction.at('DbtrAcct/Id/Othr/Issr'),
  debtorAccountType: transaction.at('DbtrAcct/Tp/Cd'),
  debtorAgent: transaction.at('DbtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
  creditorAgent: transaction.at('CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
  creditorName: transaction.at('Cdtr/Nm'),
  creditorDocument: transaction.at('Cdtr/Id/PrvtId/Othr/Id'),
  creditorAccount: transaction.at('CdtrAcct/Id/Othr/Id'),
  creditorBranch: transaction.at('CdtrAcct/Id/Othr/Issr'),
  creditorAccountType: transaction.at('CdtrAcct/Tp/Cd'),
  proxy: transaction.at('CdtrAcct/Prxy/Id'),
  purpose: transaction.at('Purp/Cd'),
  tax: transaction.at('Tax'),
  remittance: transaction.at('RmtInf'),
  unstructured: transaction.at('RmtInf/Ustrd'),
  structured: transaction.at('RmtInf/Strd'),
} as const

const taxLayout = layout('RefNb Rcrd+')
const inTax = { reference: taxLayout.at('RefNb'), records: taxLayout.at('Rcrd') } as const
const recordLayout = layout('Tp Ctgy TaxAmt/TtlAmt')
const inRecord = {
  type: recordLayout.at('Tp'),
  category: recordLayout.at('Ctgy'),
  amount: recordLayout.at('TaxAmt/TtlAmt'),
} as const
const structuredLayout = layout(
  'RfrdDocInf/Tp(CdOrPrtry/Prtry Issr) RfrdDocAmt(AdjstmntAmtAndRsn+)',
)
const inStructured = {
  documentType: structuredLayout.at('RfrdDocInf/Tp/CdOrPrtry/Prtry'),
  issuer: structuredLayout.at('RfrdDocInf/Tp/Issr'),
  amounts: structuredLayout.at('RfrdDocAmt'),
  adjustments: structuredLayout.at('RfrdDocAmt/AdjstmntAmtAndRsn'),
} as const
const adjustmentLayout = layout('Amt Rsn')
const inAdjustment = { amount: adjustmentLayout.at('Amt'), reason: adjustmentLayout.at('Rsn') }

/** A payment for readers who only pass it on: the nodes of its texts, -1 for an absent one. */
export type PaymentNodes = {
  readonly endToEndId: number
  readonly amount: Money
  readonly debtorName: number
  readonly debtorDocument: number
  readonly creditorName: number
  readonly creditorDocument: number
}

/** Finds the nodes of payments in a scanned pacs.008, after the same checks; leaves problems in `reader`. */
export const readPayments = (
  reader: MessageReader,
  xml: XmlDocument,
): { readonly messageDefinitionId: string; readonly payments: readonly PaymentNodes[] } => {
  const { messageDefinitionId, document } = readDefinition(reader, xml)
  const found = reader.find(document, message)
  return {
    messageDefinitionId,
    payments: reader.each(found[inMessage.root], found[inMessage.transactions], (node) => {
      const foundInTransaction = reader.find(node, transaction)
      // Their amounts are checked as well.
      readTax(reader, foundInTransaction)
      readRemittance(reader, foundInTransaction)
      const amount = reader.money(foundInTransaction[inTransaction.amount])
      return nodesOf(foundInTransaction, amount)
    }),
  }
}

const nodesOf = (foundInTransaction: Slots, amount: Money): PaymentNodes => ({
  endToEndId: at(foundInTransaction, inTransaction.endToEndId),
  amount,
  debtorName: at(foundInTransaction, inTransaction.debtorName),
  debtorDocument: at(foundInTransaction, inTransaction.debtorDocument),
  creditorName: at(foundInTransaction, inTransaction.creditorName),
  creditorDocument: at(foundInTransaction, inTransaction.creditorDocument),
})

const at = (found: Slots, item: number): number => found[item] ?? absent

/** Reads a scanned pacs.008; leaves problems in `reader`, and in `payments` the result of {@link readPayments}. */
export const readPacs008 = (
  reader: MessageReader,
  xml: XmlDocument,
  version: string,
  payments?: PaymentNodes[],
) => {
  const { header, document } = readEnvelope(reader, xml)
  const found = reader.find(document, message)
  return {
    type: 'pacs.008' as const,
    version,
    header,
    groupHeader: {
      messageId: reader.text(found[inMessage.messageId]),
      creationDateTime: reader.text(found[inMessage.created]),
      numberOfTransactions: reader.text(found[inMessage.count]),
      settlementMethod: reader.text(found[inMessage.settlementMethod]),
      instructionPriority: reader.text(found[inMessage.priority]),
      serviceLevel: reader.text(found[inMessage.serviceLevel]),
    },
    transactions: reader.each(found[inMessage.root], found[inMessage.transactions], (node) => {
      const foundInTransaction = reader.find(node, transaction)
      const read = readTransaction(reader, foundInTransaction)
      payments?.push(nodesOf(foundInTransaction, read.amount))
      return read
    }),
  }
}

const readTransaction = (reader: MessageReader, found: Slots) => ({
  instructionId: reader.optionalText(found[inTransaction.instructionId]),
  endToEndId: reader.text(found[inTransaction.endToEndId]),
  transactionId: reader.optionalText(found[inTransaction.transactionId]),
  amount: reader.money(found[inTransaction.amount]),
  acceptanceDateTime: reader.text(found[inTransaction.accepted]),
  chargeBearer: reader.text(found[inTransaction.chargeBearer]),
  localInstrument: reader.text(found[inTransaction.localInstrument]),
  initiatingPartyDocument: reader.optionalText(found[inTransaction.initiator]),
  debtor: {
    name: reader.optionalText(found[inTransaction.debtorName]),
    document: reader.text(found[inTransaction.debtorDocument]),
  },
  debtorAccount: {
    id: reader.text(found[inTransaction.debtorAccount]),
    branch: reader.optionalText(found[inTransaction.debtorBranch]),
    type: reader.text(found[inTransaction.debtorAccountType]),
    proxyId: null,
  },
  debtorAgentIspb: reader.text(found[inTransaction.debtorAgent]),
  creditorAgentIspb: reader.text(found[inTransaction.creditorAgent]),
  creditor: {
    /** Null if the message gives none. The SPI's `Cdtr` never has one. */
    name: reader.optionalText(found[inTransaction.creditorName]),
    document: reader.text(found[inTransaction.creditorDocument]),
  },
  creditorAccount: {
    id: reader.text(found[inTransaction.creditorAccount]),
    branch: reader.optionalText(found[inTransaction.creditorBranch]),
    type: reader.text(found[inTransaction.creditorAccountType]),
    /** The PIX key; only a creditor's account has one. */
    proxyId: reader.optionalText(found[inTransaction.proxy]),
  },
  purpose: reader.text(found[inTransaction.purpose]),
  tax: readTax(reader, found),
  remittance: readRemittance(reader, found),
})

/** The tax split of a payment between two companies (catalogue 5.12 and later). */
const readTax = (reader: MessageReader, foundInTransaction: Slots) => {
  const node = foundInTransaction[inTransaction.tax] ?? absent
  if (node === absent) return null
  const found = reader.find(node, taxLayout)
  return {
    referenceNumber: reader.text(found[inTax.reference]),
    records: reader.each(node, found[inTax.records], (record) => {
      const foundInRecord = reader.find(record, recordLayout)
      return {
        type: reader.text(foundInRecord[inRecord.type]),
        category: reader.text(foundInRecord[inRecord.category]),
        amount: reader.money(foundInRecord[inRecord.amount]),
      }
    }),
  }
}

const readRemittance = (reader: MessageReader, found: Slots) => {
  if (found[inTransaction.remittance] === absent) return null
  const structured = found[inTransaction.structured] ?? absent
  return {
    unstructured: reader.optionalText(found[inTransaction.unstructured]),
    structured: structured === absent ? null : readStructured(reader, structured),
  }
}

const readStructured = (reader: MessageReader, node: number) => {
  const found = reader.find(node, structuredLayout)
  return {
    documentType: reader.text(found[inStructured.documentType]),
    issuerIspb: reader.text(found[inStructured.issuer]),
    adjustments: reader.each(
      found[inStructured.amounts],
      found[inStructured.adjustments],
      (adjustment) => {
        const foundInAdjustment = reader.find(adjustment, adjustmentLayout)
        return {
          amount: reader.money(foundInAdjustment[inAdjustment.amount]),
          reason: reader.text(foundInAdjustment[inAdjustment.reason]),
        }
      },
    ),
  }
}
