import { oldestKnown } from '../../catalogue/revisions.ts'
import { flag, many, messageReader, one, text } from '../../shape.ts'
import { type MessageDefinition, onlyRead } from '../definition.ts'
import { mandate, mandateHeader, processingSteps } from '../parts.ts'
import schema13 from './pain.012.1.3.xsd' with { type: 'text' }
import schema14 from './pain.012.1.4.xsd' with { type: 'text' }
import base from './pain.012.xsd' with { type: 'text' }

/** pain.012, MandateAcceptanceReport: authorisations, or their ends, are accepted or refused. */
export const pain012 = {
  type: 'pain.012',
  revisions: oldestKnown('1.3'),
  versions: { '1.3': 'pain.012.1.3.xsd', '1.4': 'pain.012.1.4.xsd' },
  schemas: {
    'pain.012.xsd': base,
    'pain.012.1.3.xsd': schema13,
    'pain.012.1.4.xsd': schema14,
  },
  read: messageReader('pain.012', 'MndtAccptncRpt', {
    mandateHeader,
    answers: many('UndrlygAccptncDtls+', {
      accepted: flag('AccptncRslt/Accptd'),
      reason: text('AccptncRslt/RjctRsn?/Prtry'),
      mandate: one('OrgnlMndt/OrgnlMndt', {
        ...mandate,
        mandateReference: text('MndtRef?'),
        /** The town's IBGE code. */
        debtorTown: text('Dbtr/PstlAdr?/TwnNm'),
      }),
      processing: many('SplmtryData?/Envlp/MndtPrcgDtls*', processingSteps),
      status: text('SplmtryData?/Envlp/MndtSts?'),
    }),
  }),
  ...onlyRead,
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
