import { messageReader, one, text } from '../../shape.ts'
import { type MessageDefinition, noFacts, ofOneVersion, onlyRead } from '../definition.ts'
import schema from './reda.016.xsd' with { type: 'text' }

/** reda.016, PartyStatusAdvice: the answer to a reda.014, reda.022 or reda.031. */
export const reda016 = {
  ...ofOneVersion('reda.016', '1.5', schema),
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
  ...onlyRead,
  facts: {
    ...noFacts,
    checks: ['answered_reference'],
    answers: { about: 'message', isRefusal: false },
  },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
