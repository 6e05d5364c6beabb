import { messageReader, one, text } from '../../shape.ts'
import { type MessageDefinition, noFacts, ofOneVersion } from '../definition.ts'
import { assignment, cancellationProcessing } from '../parts.ts'
import { builder } from './build.ts'
import schema from './camt.055.xsd' with { type: 'text' }

/** camt.055, CustomerPaymentCancellationRequest: a scheduled charge is to be cancelled, or was. */
export const camt055 = {
  ...ofOneVersion('camt.055', '1.1', schema),
  read: messageReader('camt.055', 'CstmrPmtCxlReq', {
    assignment,
    cancellation: one('Undrlyg/OrgnlPmtInfAndCxl', {
      cancellationId: text('PmtCxlId'),
      reconciliationId: text('OrgnlPmtInfId'),
      requesterDocument: text('CxlRsnInf/Orgtr/Id/PrvtId/Othr/Id'),
      reason: text('CxlRsnInf/Rsn/Prtry'),
      transaction: one('TxInf', {
        originalEndToEndId: text('OrgnlEndToEndId'),
        ...cancellationProcessing,
      }),
    }),
  }),
  builder,
  projection: null,
  facts: {
    ...noFacts,
    transaction: 'OrgnlPmtInfAndCxl',
    checks: ['some_transaction', 'end_to_end_id'],
  },
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'camt.029' },
} as const satisfies MessageDefinition
