import { flag, many, messageReader, one, text } from '../shape.ts'
import { mandate, mandateHeader, processingSteps } from './parts.ts'

/** Reads a scanned pain.012; problems are left in `reader`. */
export const readPain012 = messageReader('pain.012', 'MndtAccptncRpt', {
  mandateHeader,
  answers: many('UndrlygAccptncDtls+', {
    accepted: flag('AccptncRslt/Accptd'),
    reason: text('AccptncRslt/RjctRsn?/Prtry'),
    mandate: one('OrgnlMndt/OrgnlMndt', {
      ...mandate,
      mandateReference: text('MndtRef?'),
      /** Its code of the IBGE. */
      debtorTown: text('Dbtr/PstlAdr?/TwnNm'),
    }),
    processing: many('SplmtryData?/Envlp/MndtPrcgDtls*', processingSteps),
    status: text('SplmtryData?/Envlp/MndtSts?'),
  }),
})

/** pain.012, MandateAcceptanceReport: authorisations, or their ends, are accepted or refused. */
export type Pain012 = ReturnType<typeof readPain012>
