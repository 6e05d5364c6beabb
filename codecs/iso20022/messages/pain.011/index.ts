import { many, messageReader, one, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { mandate, mandateHeader, processingSteps } from '../parts.ts'
import schema from './pain.011.xsd' with { type: 'text' }

/** pain.011, MandateCancellationRequest: authorisations end. */
export const pain011 = {
  ...ofOneVersion('pain.011', '1.3', schema),
  read: messageReader('pain.011', 'MndtCxlReq', {
    mandateHeader,
    cancellations: many('UndrlygCxlDtls+', {
      requesterDocument: text('CxlRsn/Orgtr/Id/PrvtId/Othr/Id'),
      reason: text('CxlRsn/Rsn/Prtry'),
      mandate: one('OrgnlMndt/OrgnlMndt', mandate),
      processing: many('SplmtryData?/Envlp/MndtPrcgDtls+', processingSteps),
    }),
  }),
  ...onlyRead,
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'pain.012' },
} as const satisfies MessageDefinition
