import { steady } from '../../catalogue/revisions.ts'
import { many, messageReader, one, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { mandate, mandateHeader, processingSteps } from '../parts.ts'
import schema from './pain.011.xsd' with { type: 'text' }

/** pain.011, MandateCancellationRequest: authorisations end. */
export const pain011 = {
  type: 'pain.011',
  revisions: steady('1.3'),
  versions: { '1.3': 'pain.011.xsd' },
  schemas: { 'pain.011.xsd': schema },
  read: messageReader('pain.011', 'MndtCxlReq', {
    mandateHeader,
    cancellations: many('UndrlygCxlDtls+', {
      requesterDocument: text('CxlRsn/Orgtr/Id/PrvtId/Othr/Id'),
      reason: text('CxlRsn/Rsn/Prtry'),
      mandate: one('OrgnlMndt/OrgnlMndt', mandate),
      processing: many('SplmtryData?/Envlp/MndtPrcgDtls+', processingSteps),
    }),
  }),
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'pain.012' },
} as const satisfies MessageDefinition
