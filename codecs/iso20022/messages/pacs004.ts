import { ABSENT, type XmlDocument } from '#codecs/xml'
import { type BusinessHeader, readEnvelope } from '../envelope.ts'
import { chain, type MessageReader, type Money, shape } from '../reader.ts'

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

const documentShape = shape('PmtRtr')
const messageShape = shape('GrpHdr TxInf+')
const groupHeaderShape = shape('MsgId CreDtTm NbOfTxs SttlmInf')
const transactionShape = shape(
  'RtrId OrgnlEndToEndId RtrdIntrBkSttlmAmt SttlmPrty ChrgBr RtrRsnInf OrgnlTxRef',
)
const reasonShape = shape('Rsn AddtlInf?')
const originalShape = shape('RmtInf? DbtrAgt CdtrAgt')

const settlementMethod = chain('SttlmMtd')
const code = chain('Cd')
const unstructured = chain('Ustrd')
const memberId = chain('FinInstnId/ClrSysMmbId/MmbId')

/** Reads a scanned pacs.004; problems are left in `reader`. */
export const readPacs004 = (reader: MessageReader, xml: XmlDocument, version: string): Pacs004 => {
  const { header, document } = readEnvelope(reader, xml)
  const [root = ABSENT] = reader.slots(document, documentShape)
  const [groupHeader = ABSENT, first = ABSENT] = reader.slots(root, messageShape)
  const [messageId, created, count, settlement] = reader.slots(groupHeader, groupHeaderShape)
  return {
    type: 'pacs.004',
    version,
    header,
    groupHeader: {
      messageId: reader.text(messageId),
      creationDateTime: reader.text(created),
      numberOfTransactions: reader.text(count),
      settlementMethod: reader.leaf(settlement, settlementMethod),
    },
    transactions: reader.each(root, first, (node) => readReturn(reader, node)),
  }
}

const readReturn = (reader: MessageReader, node: number): PaymentReturn => {
  const [returnId, endToEndId, amount, priority, bearer, reason = ABSENT, original = ABSENT] =
    reader.slots(node, transactionShape)
  const [reasonCode, additional] = reader.slots(reason, reasonShape)
  const [remittance, debtorAgent, creditorAgent] = reader.slots(original, originalShape)
  return {
    returnId: reader.text(returnId),
    originalEndToEndId: reader.text(endToEndId),
    amount: reader.money(amount),
    settlementPriority: reader.text(priority),
    chargeBearer: reader.text(bearer),
    reason: {
      code: reader.leaf(reasonCode, code),
      additionalInformation: reader.optionalText(additional),
    },
    remittanceUnstructured: reader.optionalLeaf(remittance, unstructured),
    debtorAgentIspb: reader.leaf(debtorAgent, memberId),
    creditorAgentIspb: reader.leaf(creditorAgent, memberId),
  }
}
