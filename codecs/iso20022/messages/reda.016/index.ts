import { steady } from '../../catalogue/revisions.ts'
import { messageReader, one, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import schema from './reda.016.xsd' with { type: 'text' }

/** reda.016, PartyStatusAdvice: the answer to a reda.014, reda.022 or reda.031. */
export const reda016 = {
  type: 'reda.016',
  revisions: steady('1.5'),
  versions: { '1.5': 'reda.016.xsd' },
  schemas: { 'reda.016.xsd': schema },
  read: messageReader('reda.016', 'PtyStsAdvc', {
    messageHeader: one('MsgHdr', {
      messageId: text('MsgId'),
      creationDateTime: text('CreDtTm'),
      originalMessageId: text('OrgnlBizInstr/MsgId'),
    }),
    status: text('PtySts/Sts'),
    reason: text('PtySts/StsRsn?/Rsn/Prtry'),
    participantIspb: text('PtySts/SysPtyId?/Id/Id/PrtryId/Id'),
    issuer: text('PtySts/SysPtyId?/Id/Id/PrtryId/Issr'),
    settlementAgentIspb: text('PtySts/SysPtyId?/RspnsblPtyId?/Id/PrtryId/Id'),
    settlementAgentIssuer: text('PtySts/SysPtyId?/RspnsblPtyId?/Id/PrtryId/Issr'),
  }),
  builder: null,
  projection: null,
  facts: {
    transaction: null,
    checks: ['answered_reference'],
    rules: null,
    answers: { about: 'message', isRefusal: false },
  },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
