import { flag, many, messageReader, money, one } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { groupHeader, mandate, processingSteps } from '../parts.ts'
import schema from './pain.009.xsd' with { type: 'text' }

/** pain.009, MandateInitiationRequest: asks payers to authorise recurring charges. */
export const pain009 = {
  ...ofOneVersion('pain.009', '1.1', schema),
  read: messageReader('pain.009', 'MndtInitnReq', {
    groupHeader,
    mandates: many('Mndt+', {
      ...mandate,
      adjustment: one('Adjstmnt?', { rule: flag('DtAdjstmntRuleInd'), amount: money('Amt') }),
      processing: many('SplmtryData/Envlp/MndtPrcgDtls+', processingSteps),
    }),
  }),
  ...onlyRead,
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'pain.012' },
} as const satisfies MessageDefinition
