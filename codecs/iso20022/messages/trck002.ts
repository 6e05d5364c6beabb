import { many, messageReader, money, one, text } from '../shape.ts'
import { account, groupHeader, proxiedAccount } from './parts.ts'

/** Reads a scanned trck.002; problems are left in `reader`. */
export const readTrck002 = messageReader('trck.002', 'PmtStsTrckrRpt', {
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
})

/** trck.002, PaymentStatusTrackerReport: transfers settled within one institution. */
export type Trck002 = ReturnType<typeof readTrck002>
