import { many, messageReader, money, text } from '../shape.ts'
import { groupHeader } from './parts.ts'

/** Reads a scanned camt.053; problems are left in `reader`. */
export const readCamt053 = messageReader('camt.053', 'BkToCstmrStmt', {
  groupHeader,
  statements: many('Stmt+', {
    /** MsgId of the camt.060 that asked. */
    id: text('Id'),
    accountOwnerIspb: text('Acct/Id/Othr/Id'),
    balances: many('Bal+', {
      type: text('Tp/CdOrPrtry/Prtry'),
      amount: money('Amt'),
      creditDebit: text('CdtDbtInd'),
      dateTime: text('Dt/DtTm'),
    }),
  }),
})

/** camt.053, BankToCustomerStatement: the balances of PI accounts. */
export type Camt053 = ReturnType<typeof readCamt053>
