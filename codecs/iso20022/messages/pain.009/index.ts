import { steady } from '../../catalogue/revisions.ts'
import { flag, many, messageReader, money, one } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { groupHeader, mandate, processingSteps } from '../parts.ts'
import schema from './pain.009.xsd' with { type: 'text' }

/** pain.009, MandateInitiationRequest: asks payers to authorise recurring charges. */
export const pain009 = {
  type: 'pain.009',
  revisions: steady('1.1'),
  versions: { '1.1': 'pain.009.xsd' },
  schemas: { 'pain.009.xsd': schema },
  read: messageReader('pain.009', 'MndtInitnReq', {
    groupHeader,
    mandates: many('Mndt+', {
      ...mandate,
      adjustment: one('Adjstmnt?', { rule: flag('DtAdjstmntRuleInd'), amount: money('Amt') }),
      processing: many('SplmtryData/Envlp/MndtPrcgDtls+', processingSteps),
    }),
  }),
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'pain.012' },
} as const satisfies MessageDefinition
