import { oldestKnown } from '../../catalogue/revisions.ts'
import { many, messageReader, money, one, text } from '../../shape.ts'
import { type MessageDefinition, noFacts } from '../definition.ts'
import { account, groupHeader, person, proxiedAccount, tax } from '../parts.ts'
import { builder } from './build.ts'
import schema115 from './camt.054.1.15.xsd' with { type: 'text' }
import schema116 from './camt.054.1.16.xsd' with { type: 'text' }
import base from './camt.054.xsd' with { type: 'text' }

const parties = {
  initiatorDocument: text('InitgPty?/Pty/Id/OrgId/Othr/Id'),
  debtor: one('Dbtr/Pty', person),
  debtorAccount: one('DbtrAcct', account),
  creditorDocument: text('Cdtr/Pty/Id/PrvtId/Othr/Id'),
  creditorAccount: one('CdtrAcct', proxiedAccount),
} as const

const transaction = {
  instructionId: text('Refs/InstrId?'),
  endToEndId: text('Refs/EndToEndId'),
  transactionId: text('Refs/TxId?'),
  clearingSystemReference: text('Refs/ClrSysRef?'),
  referenceType: text('Refs/Prtry?/Tp'),
  serviceLevel: text('Refs/Prtry?/Ref'),
  parties: one('RltdPties?', parties),
  debtorAgentIspb: text('RltdAgts/DbtrAgt?/FinInstnId/ClrSysMmbId/MmbId'),
  creditorAgentIspb: text('RltdAgts/CdtrAgt?/FinInstnId/ClrSysMmbId/MmbId'),
  /** ContraparteSTR or ContraparteSelic, and the participant of that system. */
  counterpartyType: text('RltdAgts/Prtry?/Tp'),
  counterpartyIspb: text('RltdAgts/Prtry?/Agt/FinInstnId/ClrSysMmbId/MmbId'),
  localInstrument: text('LclInstrm?/Prtry'),
  purpose: text('Purp?/Cd'),
  remittanceUnstructured: text('RmtInf?/Ustrd?'),
  withdrawal: one('RmtInf?/Strd?', {
    agentType: text('RfrdDocInf/Tp/CdOrPrtry/Prtry'),
    agentIspb: text('RfrdDocInf/Tp/Issr'),
    adjustments: many('RfrdDocAmt/AdjstmntAmtAndRsn+', {
      amount: money('Amt'),
      reason: text('Rsn'),
    }),
  }),
  acceptanceDateTime: text('RltdDts?/AccptncDtTm'),
  tax: one('Tax?', tax),
  returnReason: text('RtrInf?/Rsn/Cd'),
  returnInformation: text('RtrInf?/AddtlInf?'),
  priority: text('AddtlTxInf?'),
} as const

const entry = {
  amount: money('Amt'),
  creditDebit: text('CdtDbtInd'),
  status: text('Sts/Cd'),
  bookingDate: text('BookgDt?/Dt'),
  valueDateTime: text('ValDt?/DtTm'),
  domain: text('BkTxCd/Domn/Cd'),
  family: text('BkTxCd/Domn/Fmly/Cd'),
  subFamily: text('BkTxCd/Domn/Fmly/SubFmlyCd'),
  originMessage: text('AddtlInfInd/MsgNmId'),
  transaction: one('NtryDtls/TxDtls', transaction),
  errorCode: text('AddtlNtryInf?'),
} as const

/** camt.054, BankToCustomerDebitCreditNotification: entries on PI accounts. */
export const camt054 = {
  type: 'camt.054',
  revisions: oldestKnown('1.15'),
  versions: { '1.15': 'camt.054.1.15.xsd', '1.16': 'camt.054.1.16.xsd' },
  schemas: {
    'camt.054.xsd': base,
    'camt.054.1.15.xsd': schema115,
    'camt.054.1.16.xsd': schema116,
  },
  read: messageReader('camt.054', 'BkToCstmrDbtCdtNtfctn', {
    groupHeader,
    notifications: many('Ntfctn+', {
      /** MsgId of the camt.060 that asked, or one of its own. */
      id: text('Id'),
      accountOwnerIspb: text('Acct/Id/Othr/Id'),
      entry: one('Ntry', entry),
      errorDescription: text('AddtlNtfctnInf?'),
    }),
  }),
  builder,
  projection: null,
  facts: { ...noFacts, transaction: 'Ntry', checks: ['some_transaction', 'booked_id', 'amount'] },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
