import { steady } from '../../catalogue/revisions.ts'
import { many, messageReader, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './camt.025.xsd' with { type: 'text' }

/** camt.025, Receipt: the answers to the transactions of a trck.002. */
export const camt025 = {
  type: 'camt.025',
  revisions: steady('1.0'),
  versions: { '1.0': 'camt.025.xsd' },
  schemas: { 'camt.025.xsd': schema },
  read: messageReader('camt.025', 'Rct', {
    messageHeader,
    receipts: many('RctDtls+', {
      originalMessageId: text('OrgnlMsgId/MsgId'),
      originalTransactionId: text('OrgnlPmtId/PrtryId'),
      status: text('ReqHdlg/Sts/Cd'),
      reason: text('ReqHdlg/StsRsn?/Rsn/Prtry'),
      additionalInformation: text('ReqHdlg/StsRsn?/AddtlInf?'),
    }),
  }),
  builder: null,
  projection: null,
  facts: {
    transaction: 'RctDtls',
    checks: ['some_transaction', { accepted: ['ACPT'], refused: 'RJCT' }],
    rules: null,
    answers: { about: 'receipts' },
  },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
