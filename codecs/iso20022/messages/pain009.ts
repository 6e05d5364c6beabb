import { flag, many, messageReader, money, one } from '../shape.ts'
import { groupHeader, mandate, processingSteps } from './parts.ts'

/** Reads a scanned pain.009; problems are left in `reader`. */
export const readPain009 = messageReader('pain.009', 'MndtInitnReq', {
  groupHeader,
  mandates: many('Mndt+', {
    ...mandate,
    adjustment: one('Adjstmnt?', { rule: flag('DtAdjstmntRuleInd'), amount: money('Amt') }),
    processing: many('SplmtryData/Envlp/MndtPrcgDtls+', processingSteps),
  }),
})

/** pain.009, MandateInitiationRequest: asks payers to authorise recurring charges. */
export type Pain009 = ReturnType<typeof readPain009>
