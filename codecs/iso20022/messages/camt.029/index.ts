import { oldestKnown } from '../../catalogue/revisions.ts'
import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, noFacts } from '../definition.ts'
import { assignment, cancellationProcessing } from '../parts.ts'
import { builder } from './build.ts'
import schema11 from './camt.029.1.1.xsd' with { type: 'text' }
import schema12 from './camt.029.1.2.xsd' with { type: 'text' }
import base from './camt.029.xsd' with { type: 'text' }

/** camt.029, ResolutionOfInvestigation: the answer to a camt.055. */
export const camt029 = {
  type: 'camt.029',
  revisions: oldestKnown('1.1'),
  versions: { '1.1': 'camt.029.1.1.xsd', '1.2': 'camt.029.1.2.xsd' },
  schemas: {
    'camt.029.xsd': base,
    'camt.029.1.1.xsd': schema11,
    'camt.029.1.2.xsd': schema12,
  },
  read: messageReader('camt.029', 'RsltnOfInvstgtn', {
    assignment,
    confirmation: text('Sts/Conf'),
    cancellationId: text('CxlDtls/OrgnlPmtInfAndSts/OrgnlPmtInfCxlId'),
    reconciliationId: text('CxlDtls/OrgnlPmtInfAndSts/OrgnlPmtInfId'),
    status: text('CxlDtls/OrgnlPmtInfAndSts/PmtInfCxlSts'),
    reason: text('CxlDtls/OrgnlPmtInfAndSts/CxlStsRsnInf?/Rsn/Prtry'),
    originalEndToEndId: text('CxlDtls/OrgnlPmtInfAndSts/TxInfAndSts/OrgnlEndToEndId'),
    ...cancellationProcessing,
  }),
  builder,
  projection: null,
  facts: {
    ...noFacts,
    transaction: 'OrgnlPmtInfAndSts',
    checks: ['some_transaction', 'end_to_end_id', { accepted: ['ACCR'], refused: 'RJCR' }],
    answers: { about: 'transaction', to: ['camt.055'] },
  },
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
