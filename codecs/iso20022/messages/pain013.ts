import { many, messageReader, money, one, text } from '../shape.ts'
import { account, person, tax } from './parts.ts'

/** Reads a scanned pain.013; problems are left in `reader`. */
export const readPain013 = messageReader('pain.013', 'CdtrPmtActvtnReq', {
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
})

/** pain.013, CreditorPaymentActivationRequest: charges are scheduled. */
export type Pain013 = ReturnType<typeof readPain013>
