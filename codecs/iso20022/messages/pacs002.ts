import { ABSENT, type XmlDocument } from '#codecs/xml'
import { type BusinessHeader, readEnvelope } from '../envelope.ts'
import { chain, type MessageReader, shape } from '../reader.ts'

/**
 * pacs.002, FIToFIPaymentStatusReport, as the SPI restricts it.
 *
 * ```
 * GrpHdr      MsgId CreDtTm
 * TxInfAndSts 1..n
 *   OrgnlInstrId OrgnlEndToEndId TxSts StsRsnInf*(Rsn/Cd? AddtlInf*)
 *   FctvIntrBkSttlmDt/DtTm? OrgnlTxRef/IntrBkSttlmDt?
 * ```
 */
export type Pacs002 = {
  readonly type: 'pacs.002'
  readonly version: string
  readonly header: BusinessHeader
  readonly groupHeader: { readonly messageId: string; readonly creationDateTime: string }
  readonly transactions: readonly PaymentStatus[]
}

/** One `TxInfAndSts`. */
export type PaymentStatus = {
  /** EndToEndId of the pacs.008, or RtrId of the pacs.004, that this answers. */
  readonly originalInstructionId: string
  readonly originalEndToEndId: string
  readonly status: string
  readonly reasons: readonly StatusReason[]
  /** When the SPI settled: only in reports the SPI itself writes. */
  readonly settlementDateTime: string | null
  readonly settlementDate: string | null
}

export type StatusReason = {
  readonly code: string | null
  readonly additionalInformation: readonly string[]
}

const documentShape = shape('FIToFIPmtStsRpt')
const messageShape = shape('GrpHdr TxInfAndSts+')
const groupHeaderShape = shape('MsgId CreDtTm')
const transactionShape = shape(
  'OrgnlInstrId OrgnlEndToEndId TxSts StsRsnInf* FctvIntrBkSttlmDt? OrgnlTxRef?',
)
const reasonShape = shape('Rsn? AddtlInf*')

const code = chain('Cd')
const dateTime = chain('DtTm')
const settlementDate = chain('IntrBkSttlmDt')

/** Reads a scanned pacs.002; problems are left in `reader`. */
export const readPacs002 = (reader: MessageReader, xml: XmlDocument, version: string): Pacs002 => {
  const { header, document } = readEnvelope(reader, xml)
  const [root = ABSENT] = reader.slots(document, documentShape)
  const [groupHeader = ABSENT, first = ABSENT] = reader.slots(root, messageShape)
  const [messageId, created] = reader.slots(groupHeader, groupHeaderShape)
  return {
    type: 'pacs.002',
    version,
    header,
    groupHeader: { messageId: reader.text(messageId), creationDateTime: reader.text(created) },
    transactions: reader.each(root, first, (node) => readStatus(reader, node)),
  }
}

const readStatus = (reader: MessageReader, node: number): PaymentStatus => {
  const [instructionId, endToEndId, status, reason = ABSENT, settled, original] = reader.slots(
    node,
    transactionShape,
  )
  return {
    originalInstructionId: reader.text(instructionId),
    originalEndToEndId: reader.text(endToEndId),
    status: reader.text(status),
    reasons: reader.each(node, reason, (information) => {
      const [codeNode, additional = ABSENT] = reader.slots(information, reasonShape)
      return {
        code: reader.optionalLeaf(codeNode, code),
        additionalInformation: reader.each(information, additional, (text) => reader.text(text)),
      }
    }),
    settlementDateTime: reader.optionalLeaf(settled, dateTime),
    settlementDate: reader.optionalLeaf(original, settlementDate),
  }
}
