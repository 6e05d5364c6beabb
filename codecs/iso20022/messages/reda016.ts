import { messageReader, one, text } from '../shape.ts'

/** Reads a scanned reda.016; problems are left in `reader`. */
export const readReda016 = messageReader('reda.016', 'PtyStsAdvc', {
  messageHeader: one('MsgHdr', {
    messageId: text('MsgId'),
    creationDateTime: text('CreDtTm'),
    originalMessageId: text('OrgnlBizInstr/MsgId'),
  }),
  status: text('PtySts/Sts'),
  reason: text('PtySts/StsRsn?/Rsn/Prtry'),
  participantIspb: text('PtySts/SysPtyId?/Id/Id/PrtryId/Id'),
  settlementAgentIspb: text('PtySts/SysPtyId?/RspnsblPtyId?/Id/PrtryId/Id'),
})

/** reda.016, PartyStatusAdvice: the answer to a reda.014, reda.022 or reda.031. */
export type Reda016 = ReturnType<typeof readReda016>
