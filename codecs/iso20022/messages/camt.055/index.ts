import { steady } from '../../catalogue/revisions.ts'
import { messageReader, one, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { assignment, cancellationProcessing } from '../parts.ts'
import { builder } from './build.ts'
import schema from './camt.055.xsd' with { type: 'text' }

/** camt.055, CustomerPaymentCancellationRequest: a scheduled charge is to be cancelled, or was. */
export const camt055 = {
  type: 'camt.055',
  revisions: steady('1.1'),
  versions: { '1.1': 'camt.055.xsd' },
  schemas: { 'camt.055.xsd': schema },
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
    transaction: 'OrgnlPmtInfAndCxl',
    checks: ['some_transaction', 'end_to_end_id'],
    rules: null,
    answers: null,
  },
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'camt.029' },
} as const satisfies MessageDefinition
