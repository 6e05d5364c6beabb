import type { XmlDocument } from '#codecs/xml'
import { type BusinessHeader, readEnvelope } from '../../envelope.ts'
import { layout } from '../../layout.ts'
import type { MessageReader, Money } from '../../reader.ts'

/**
 * pacs.004, PaymentReturn, as the SPI restricts it.
 *
 * ```
 * GrpHdr MsgId CreDtTm NbOfTxs SttlmInf/SttlmMtd
 * TxInf  1..n
 *   RtrId OrgnlEndToEndId RtrdIntrBkSttlmAmt@Ccy SttlmPrty ChrgBr
 *   RtrRsnInf(Rsn/Cd AddtlInf?) OrgnlTxRef(RmtInf/Ustrd? DbtrAgt CdtrAgt)
 * ```
 *
 * `DbtrAgt` is the participant debited by the return, the one that gives the money back, and `CdtrAgt` the
 * one credited by it (the central bank's field sheet for 1.5, and its example).
 */
export type Pacs004 = {
  readonly type: 'pacs.004'
  readonly version: string
  readonly header: BusinessHeader
  readonly groupHeader: {
    readonly messageId: string
    readonly creationDateTime: string
    readonly numberOfTransactions: string
    readonly settlementMethod: string
  }
  readonly transactions: readonly PaymentReturn[]
}

/** One `TxInf`. Amounts are cents. */
export type PaymentReturn = {
  readonly returnId: string
  readonly originalEndToEndId: string
  readonly amount: Money
  readonly settlementPriority: string
  readonly chargeBearer: string
  readonly reason: { readonly code: string; readonly additionalInformation: string | null }
  readonly remittanceUnstructured: string | null
  readonly debtorAgentIspb: string
  readonly creditorAgentIspb: string
}

const message = layout('PmtRtr(GrpHdr(MsgId CreDtTm NbOfTxs SttlmInf/SttlmMtd) TxInf+)')
const inMessage = {
  root: message.at('PmtRtr'),
  messageId: message.at('PmtRtr/GrpHdr/MsgId'),
  created: message.at('PmtRtr/GrpHdr/CreDtTm'),
  count: message.at('PmtRtr/GrpHdr/NbOfTxs'),
  settlementMethod: message.at('PmtRtr/GrpHdr/SttlmInf/SttlmMtd'),
  transactions: message.at('PmtRtr/TxInf'),
} as const

const transaction = layout(
  `RtrId OrgnlEndToEndId RtrdIntrBkSttlmAmt SttlmPrty ChrgBr RtrRsnInf(Rsn/Cd AddtlInf?)
OrgnlTxRef(RmtInf?/Ustrd DbtrAgt/FinInstnId/ClrSysMmbId/MmbId CdtrAgt/FinInstnId/ClrSysMmbId/MmbId)`,
)
const inTransaction = {
  returnId: transaction.at('RtrId'),
  endToEndId: transaction.at('OrgnlEndToEndId'),
  amount: transaction.at('RtrdIntrBkSttlmAmt'),
  priority: transaction.at('SttlmPrty'),
  chargeBearer: transaction.at('ChrgBr'),
  reason: transaction.at('RtrRsnInf/Rsn/Cd'),
  additional: transaction.at('RtrRsnInf/AddtlInf'),
  unstructured: transaction.at('OrgnlTxRef/RmtInf/Ustrd'),
  debtorAgent: transaction.at('OrgnlTxRef/DbtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
  creditorAgent: transaction.at('OrgnlTxRef/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
} as const

/** Reads a scanned pacs.004; problems are left in `reader`. */
export const readPacs004 = (reader: MessageReader, xml: XmlDocument, version: string): Pacs004 => {
  const { header, document } = readEnvelope(reader, xml)
  const found = reader.find(document, message)
  return {
    type: 'pacs.004',
    version,
    header,
    groupHeader: {
      messageId: reader.text(found[inMessage.messageId]),
      creationDateTime: reader.text(found[inMessage.created]),
      numberOfTransactions: reader.text(found[inMessage.count]),
      settlementMethod: reader.text(found[inMessage.settlementMethod]),
    },
    transactions: reader.each(found[inMessage.root], found[inMessage.transactions], (node) =>
      readReturn(reader, node),
    ),
  }
}

const readReturn = (reader: MessageReader, node: number): PaymentReturn => {
  const found = reader.find(node, transaction)
  return {
    returnId: reader.text(found[inTransaction.returnId]),
    originalEndToEndId: reader.text(found[inTransaction.endToEndId]),
    amount: reader.money(found[inTransaction.amount]),
    settlementPriority: reader.text(found[inTransaction.priority]),
    chargeBearer: reader.text(found[inTransaction.chargeBearer]),
    reason: {
      code: reader.text(found[inTransaction.reason]),
      additionalInformation: reader.optionalText(found[inTransaction.additional]),
    },
    remittanceUnstructured: reader.optionalText(found[inTransaction.unstructured]),
    debtorAgentIspb: reader.text(found[inTransaction.debtorAgent]),
    creditorAgentIspb: reader.text(found[inTransaction.creditorAgent]),
  }
}
