import { many, messageReader, money, one, text } from '../../shape.ts'
import { type MessageDefinition, noFacts, ofOneVersion } from '../definition.ts'
import { account, person, tax } from '../parts.ts'
import { builder } from './build.ts'
import schema from './pain.013.xsd' with { type: 'text' }

/** pain.013, CreditorPaymentActivationRequest: charges are scheduled. */
export const pain013 = {
  ...ofOneVersion('pain.013', '2.2', schema),
  read: messageReader('pain.013', 'CdtrPmtActvtnReq', {
    groupHeader: one('GrpHdr', {
      messageId: text('MsgId'),
      creationDateTime: text('CreDtTm'),
      numberOfTransactions: text('NbOfTxs'),
      initiatingPartyDocument: text('InitgPty/Id/OrgId/Othr/Id'),
    }),
    charges: many('PmtInf+', {
      reconciliationId: text('PmtInfId'),
      paymentMethod: text('PmtMtd'),
      executionDateTime: text('ReqdExctnDt?/DtTm'),
      dueDate: text('XpryDt/Dt'),
      debtorDocument: text('Dbtr/Id/PrvtId/Othr/Id'),
      debtorAgentIspb: text('DbtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
      ultimateDebtor: one('UltmtDbtr?', person),
      transfer: one('CdtTrfTx', {
        endToEndId: text('PmtId/EndToEndId'),
        instructionPriority: text('PmtTpInf/InstrPrty'),
        serviceLevel: text('PmtTpInf/SvcLvl/Prtry'),
        localInstrument: text('PmtTpInf/LclInstrm/Prtry'),
        amount: money('Amt/InstdAmt'),
        chargeBearer: text('ChrgBr'),
        mandateId: text('MndtRltdInf/MndtId'),
        creditorAgentIspb: text('CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
        creditorDocument: text('Cdtr/Id/PrvtId/Othr/Id'),
        creditorAccount: one('CdtrAcct', account),
        purpose: text('Purp/Prtry'),
        tax: one('Tax?', tax),
        remittanceUnstructured: text('RmtInf?/Ustrd'),
      }),
    }),
  }),
  builder,
  projection: null,
  facts: {
    ...noFacts,
    transaction: 'PmtInf',
    checks: ['some_transaction', 'count', 'end_to_end_id', 'amount'],
  },
  exchange: { role: 'between_participants', tokens: null, answeredWith: 'pain.014' },
} as const satisfies MessageDefinition
