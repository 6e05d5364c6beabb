import { many, messageReader, text } from '../shape.ts'
import { messageHeader } from './parts.ts'

/** Reads a scanned camt.025; problems are left in `reader`. */
export const readCamt025 = messageReader('camt.025', 'Rct', {
  messageHeader,
  receipts: many('RctDtls+', {
    originalMessageId: text('OrgnlMsgId/MsgId'),
    originalTransactionId: text('OrgnlPmtId/PrtryId'),
    status: text('ReqHdlg/Sts/Cd'),
    reason: text('ReqHdlg/StsRsn?/Rsn/Prtry'),
    additionalInformation: text('ReqHdlg/StsRsn?/AddtlInf?'),
  }),
})

/** camt.025, Receipt: the answers to the transactions of a trck.002. */
export type Camt025 = ReturnType<typeof readCamt025>
