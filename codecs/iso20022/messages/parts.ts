import { flag, many, money, one, text } from '../shape.ts'

/** Parts that several messages have. */

export const groupHeader = one('GrpHdr', {
  messageId: text('MsgId'),
  creationDateTime: text('CreDtTm'),
})

export const messageHeader = one('MsgHdr', {
  messageId: text('MsgId'),
  creationDateTime: text('CreDtTm'),
})

/** The header of messages about mandates, which names the sender. */
export const mandateHeader = one('GrpHdr', {
  messageId: text('MsgId'),
  creationDateTime: text('CreDtTm'),
  instructingAgentIspb: text('InstgAgt/FinInstnId/ClrSysMmbId/MmbId'),
})

export const person = { name: text('Nm'), document: text('Id/PrvtId/Othr/Id') } as const

export const account = {
  id: text('Id/Othr/Id'),
  branch: text('Id/Othr/Issr?'),
  type: text('Tp/Cd'),
} as const

export const proxiedAccount = { ...account, proxyId: text('Prxy?/Id') } as const

/** The asking and the answering institution of an investigation. */
export const assignment = one('Assgnmt', {
  id: text('Id'),
  assignerIspb: text('Assgnr/Agt/FinInstnId/ClrSysMmbId/MmbId'),
  assigneeIspb: text('Assgne/Agt/FinInstnId/ClrSysMmbId/MmbId'),
  creationDateTime: text('CreDtTm'),
})

export const cancellationProcessing = {
  processingType: text('SplmtryData/Envlp/CxlPrcgDtls/CxlPrcgTp'),
  processingDateTime: text('SplmtryData/Envlp/CxlPrcgDtls/PrcgDtTm'),
} as const

export const tax = {
  referenceNumber: text('RefNb?'),
  records: many('Rcrd+', {
    type: text('Tp'),
    category: text('Ctgy'),
    amount: money('TaxAmt/TtlAmt'),
  }),
} as const

/** The terms of a mandate; `ColltnAmt` if the amount is fixed. */
export const mandate = {
  mandateId: text('MndtId'),
  mandateRequestId: text('MndtReqId'),
  sequenceType: text('Ocrncs/SeqTp'),
  frequency: text('Ocrncs/Frqcy/Tp'),
  firstCollectionDate: text('Ocrncs/FrstColltnDt'),
  finalCollectionDate: text('Ocrncs/FnlColltnDt?'),
  tracking: flag('TrckgInd'),
  collectionAmount: money('ColltnAmt?'),
  creditor: one('Cdtr', person),
  creditorAgentIspb: text('CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
  debtorDocument: text('Dbtr/Id/PrvtId/Othr/Id'),
  debtorAccount: one('DbtrAcct', { id: text('Id/Othr/Id'), branch: text('Id/Othr/Issr?') }),
  debtorAgentIspb: text('DbtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
  ultimateDebtor: one('UltmtDbtr?', person),
  contractNumber: text('RfrdDoc/Nb'),
  contractDescription: text('RfrdDoc/CdtrRef?'),
} as const

export const processingSteps = {
  type: text('MndtPrcgTp'),
  dateTime: text('PrcgDtTm'),
} as const
