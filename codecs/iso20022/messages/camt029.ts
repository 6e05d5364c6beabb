import { messageReader, text } from '../shape.ts'
import { assignment, cancellationProcessing } from './parts.ts'

/** Reads a scanned camt.029; problems are left in `reader`. */
export const readCamt029 = messageReader('camt.029', 'RsltnOfInvstgtn', {
  assignment,
  confirmation: text('Sts/Conf'),
  cancellationId: text('CxlDtls/OrgnlPmtInfAndSts/OrgnlPmtInfCxlId'),
  reconciliationId: text('CxlDtls/OrgnlPmtInfAndSts/OrgnlPmtInfId'),
  status: text('CxlDtls/OrgnlPmtInfAndSts/PmtInfCxlSts'),
  reason: text('CxlDtls/OrgnlPmtInfAndSts/CxlStsRsnInf?/Rsn/Prtry'),
  originalEndToEndId: text('CxlDtls/OrgnlPmtInfAndSts/TxInfAndSts/OrgnlEndToEndId'),
  ...cancellationProcessing,
})

/** camt.029, ResolutionOfInvestigation: the answer to a camt.055. */
export type Camt029 = ReturnType<typeof readCamt029>
