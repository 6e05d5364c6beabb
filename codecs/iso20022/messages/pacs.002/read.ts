import type { XmlDocument } from '#codecs/xml'
import { type BusinessHeader, readEnvelope } from '../../envelope.ts'
import { layout } from '../../layout.ts'
import type { MessageReader } from '../../reader.ts'

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

const message = layout('FIToFIPmtStsRpt(GrpHdr(MsgId CreDtTm) TxInfAndSts+)')
const inMessage = {
  root: message.at('FIToFIPmtStsRpt'),
  messageId: message.at('FIToFIPmtStsRpt/GrpHdr/MsgId'),
  created: message.at('FIToFIPmtStsRpt/GrpHdr/CreDtTm'),
  transactions: message.at('FIToFIPmtStsRpt/TxInfAndSts'),
} as const

const transaction = layout(
  'OrgnlInstrId OrgnlEndToEndId TxSts StsRsnInf* FctvIntrBkSttlmDt?/DtTm OrgnlTxRef?/IntrBkSttlmDt',
)
const inTransaction = {
  instructionId: transaction.at('OrgnlInstrId'),
  endToEndId: transaction.at('OrgnlEndToEndId'),
  status: transaction.at('TxSts'),
  reasons: transaction.at('StsRsnInf'),
  settlementDateTime: transaction.at('FctvIntrBkSttlmDt/DtTm'),
  settlementDate: transaction.at('OrgnlTxRef/IntrBkSttlmDt'),
} as const

const reason = layout('Rsn?/Cd AddtlInf*')
const inReason = { code: reason.at('Rsn/Cd'), additional: reason.at('AddtlInf') } as const

/** Reads a scanned pacs.002; problems are left in `reader`. */
export const readPacs002 = (reader: MessageReader, xml: XmlDocument, version: string): Pacs002 => {
  const { header, document } = readEnvelope(reader, xml)
  const found = reader.find(document, message)
  return {
    type: 'pacs.002',
    version,
    header,
    groupHeader: {
      messageId: reader.text(found[inMessage.messageId]),
      creationDateTime: reader.text(found[inMessage.created]),
    },
    transactions: reader.each(found[inMessage.root], found[inMessage.transactions], (node) =>
      readStatus(reader, node),
    ),
  }
}

const readStatus = (reader: MessageReader, node: number): PaymentStatus => {
  const found = reader.find(node, transaction)
  return {
    originalInstructionId: reader.text(found[inTransaction.instructionId]),
    originalEndToEndId: reader.text(found[inTransaction.endToEndId]),
    status: reader.text(found[inTransaction.status]),
    reasons: reader.each(node, found[inTransaction.reasons], (information) => {
      const foundInReason = reader.find(information, reason)
      return {
        code: reader.optionalText(foundInReason[inReason.code]),
        additionalInformation: reader.each(
          information,
          foundInReason[inReason.additional],
          (text) => reader.text(text),
        ),
      }
    }),
    settlementDateTime: reader.optionalText(found[inTransaction.settlementDateTime]),
    settlementDate: reader.optionalText(found[inTransaction.settlementDate]),
  }
}
