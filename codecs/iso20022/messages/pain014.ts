import { many, messageReader, one, text } from '../shape.ts'

/** Reads a scanned pain.014; problems are left in `reader`. */
export const readPain014 = messageReader('pain.014', 'CdtrPmtActvtnReqStsRpt', {
  groupHeader: one('GrpHdr', {
    messageId: text('MsgId'),
    creationDateTime: text('CreDtTm'),
    initiatingPartyDocument: text('InitgPty/Id/OrgId/Othr/Id'),
  }),
  originalMessageId: text('OrgnlGrpInfAndSts/OrgnlMsgId'),
  originalMessageName: text('OrgnlGrpInfAndSts/OrgnlMsgNmId'),
  answers: many('OrgnlPmtInfAndSts+', {
    reconciliationId: text('OrgnlPmtInfId'),
    originalEndToEndId: text('TxInfAndSts/OrgnlEndToEndId'),
    status: text('TxInfAndSts/TxSts'),
    reason: text('TxInfAndSts/StsRsnInf?/Rsn/Prtry'),
    decisionDateTime: text('TxInfAndSts/DbtrDcsnDtTm'),
    creditorAgentIspb: text('TxInfAndSts/OrgnlTxRef/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
    creditorDocument: text('TxInfAndSts/OrgnlTxRef/Cdtr/Id/PrvtId/Othr/Id'),
  }),
})

/** pain.014, CreditorPaymentActivationRequestStatusReport: the answers to charges. */
export type Pain014 = ReturnType<typeof readPain014>
