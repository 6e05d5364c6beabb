import { many, messageReader, one, text } from '../shape.ts'
import { mandate, mandateHeader, processingSteps } from './parts.ts'

/** Reads a scanned pain.011; problems are left in `reader`. */
export const readPain011 = messageReader('pain.011', 'MndtCxlReq', {
  mandateHeader,
  cancellations: many('UndrlygCxlDtls+', {
    requesterDocument: text('CxlRsn/Orgtr/Id/PrvtId/Othr/Id'),
    reason: text('CxlRsn/Rsn/Prtry'),
    mandate: one('OrgnlMndt/OrgnlMndt', mandate),
    processing: many('SplmtryData?/Envlp/MndtPrcgDtls+', processingSteps),
  }),
})

/** pain.011, MandateCancellationRequest: authorisations end. */
export type Pain011 = ReturnType<typeof readPain011>
