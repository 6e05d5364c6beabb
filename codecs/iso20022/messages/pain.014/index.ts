import { oldestKnown } from '../../catalogue/revisions.ts'
import { many, messageReader, one, text } from '../../shape.ts'
import { type MessageDefinition, noFacts } from '../definition.ts'
import { builder } from './build.ts'
import schema23 from './pain.014.2.3.xsd' with { type: 'text' }
import schema24 from './pain.014.2.4.xsd' with { type: 'text' }
import base from './pain.014.xsd' with { type: 'text' }

/** pain.014, CreditorPaymentActivationRequestStatusReport: the answers to charges. */
export const pain014 = {
  type: 'pain.014',
  revisions: oldestKnown('2.3'),
  versions: { '2.3': 'pain.014.2.3.xsd', '2.4': 'pain.014.2.4.xsd' },
  schemas: { 'pain.014.xsd': base, 'pain.014.2.3.xsd': schema23, 'pain.014.2.4.xsd': schema24 },
  read: messageReader('pain.014', 'CdtrPmtActvtnReqStsRpt', {
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
  }),
  builder,
  projection: null,
  facts: {
    ...noFacts,
    transaction: 'OrgnlPmtInfAndSts',
    checks: ['some_transaction', 'end_to_end_id', { accepted: ['ACSP'], refused: 'RJCT' }],
    answers: { about: 'transaction', to: ['pain.013'] },
  },
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
