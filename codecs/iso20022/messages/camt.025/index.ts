import { many, messageReader, text } from '../../shape.ts'
import { type MessageDefinition, noFacts, ofOneVersion, onlyRead } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './camt.025.xsd' with { type: 'text' }

/** camt.025, Receipt: the answers to the transactions of a trck.002. */
export const camt025 = {
  ...ofOneVersion('camt.025', '1.0', schema),
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
  ...onlyRead,
  facts: {
    ...noFacts,
    transaction: 'RctDtls',
    checks: ['some_transaction', { accepted: ['ACPT'], refused: 'RJCT' }],
    answers: { about: 'receipts' },
  },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
