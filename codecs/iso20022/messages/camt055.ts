import { messageReader, one, text } from '../shape.ts'
import { assignment, cancellationProcessing } from './parts.ts'

/** Reads a scanned camt.055; problems are left in `reader`. */
export const readCamt055 = messageReader('camt.055', 'CstmrPmtCxlReq', {
  assignment,
  cancellation: one('Undrlyg/OrgnlPmtInfAndCxl', {
    cancellationId: text('PmtCxlId'),
    reconciliationId: text('OrgnlPmtInfId'),
    requesterDocument: text('CxlRsnInf/Orgtr/Id/PrvtId/Othr/Id'),
    reason: text('CxlRsnInf/Rsn/Prtry'),
    transaction: one('TxInf', {
      originalEndToEndId: text('OrgnlEndToEndId'),
      ...cancellationProcessing,
    }),
  }),
})

/** camt.055, CustomerPaymentCancellationRequest: a scheduled charge is to be cancelled, or was. */
export type Camt055 = ReturnType<typeof readCamt055>
