import { many, messageReader, money, one, text } from '../../shape.ts'
import { type MessageDefinition, noFacts, ofOneVersion, onlyRead } from '../definition.ts'
import { account, groupHeader, proxiedAccount } from '../parts.ts'
import schema from './trck.002.xsd' with { type: 'text' }

/** trck.002, PaymentStatusTrackerReport: transfers settled within one institution. */
export const trck002 = {
  ...ofOneVersion('trck.002', '1.1', schema),
  read: messageReader('trck.002', 'PmtStsTrckrRpt', {
    groupHeader,
    status: text('TrckrStsAndTx/TxSts/Sts'),
    transactions: many('TrckrStsAndTx/Tx+', {
      /** RtrId, of returns only. */
      instructionId: text('PmtId/InstrId?'),
      endToEndId: text('PmtId/EndToEndId'),
      localInstrument: text('PmtTpInf/LclInstrm/Prtry'),
      scenario: text('PmtScnro/Prtry'),
      amount: money('IntrBkSttlmAmt'),
      settledAt: text('ReqdExctnDt/DtTm'),
      debtorDocument: text('Dbtr/Pty/Id/PrvtId/Othr/Id'),
      debtorAccount: one('DbtrAcct', account),
      debtorAgentIspb: text('DbtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
      creditorAgentIspb: text('CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'),
      creditorDocument: text('Cdtr/Pty/Id/PrvtId/Othr/Id'),
      creditorAccount: one('CdtrAcct', proxiedAccount),
    }),
  }),
  ...onlyRead,
  facts: { ...noFacts, transaction: 'Tx', checks: ['some_transaction', 'given_end_to_end_id'] },
  exchange: { role: 'tracked', tokens: 1, answeredWith: 'camt.025' },
} as const satisfies MessageDefinition
