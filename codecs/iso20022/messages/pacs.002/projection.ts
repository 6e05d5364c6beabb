import { statusReason } from '../../codes/reasons.ts'
import { jsonMembers } from '../../projecting/json.ts'
import { withTransactions } from '../../projecting/projection.ts'
import type { Pacs002, PaymentStatus } from './index.ts'

const rejected = 'RJCT'

const status = (transaction: PaymentStatus): object => ({
  original_end_to_end_id: transaction.originalEndToEndId,
  original_instruction_id: transaction.originalInstructionId,
  status: transaction.status,
  accepted: transaction.status !== rejected,
  reasons: transaction.reasons.map(({ code, additionalInformation }) => ({
    code,
    meaning: code === null ? null : (statusReason(code)?.meaning?.en ?? null),
    additional_information: additionalInformation,
  })),
  settlement_date_time: transaction.settlementDateTime,
  settlement_date: transaction.settlementDate,
})

const messageFields = ({ groupHeader, header }: Pacs002): object => ({
  message_id: groupHeader.messageId,
  creation_date_time: groupHeader.creationDateTime,
  source_ispb: header.fromIspb,
  destination_ispb: header.toIspb,
})

/** `pix_status`: what became of a payment or of a return. */
export const pixStatus = (message: Pacs002, enrich: boolean): string =>
  withTransactions(
    message.transactions.map((transaction) =>
      jsonMembers(
        enrich ? { ...status(transaction), ...messageFields(message) } : status(transaction),
      ),
    ),
  )
