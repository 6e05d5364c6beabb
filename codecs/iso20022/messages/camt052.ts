import { many, messageReader, text } from '../shape.ts'
import { groupHeader } from './parts.ts'

/** Reads a scanned camt.052; problems are left in `reader`. */
export const readCamt052 = messageReader('camt.052', 'BkToCstmrAcctRpt', {
  groupHeader,
  reports: many('Rpt+', {
    /** MsgId of the camt.060 that asked. */
    id: text('Id'),
    accountOwnerIspb: text('Acct/Id/Othr/Id'),
    numberOfEntries: text('TxsSummry/TtlNtries/NbOfNtries'),
    /** Of the file, which comes by the file interface. */
    hash: text('AddtlRptInf'),
  }),
})

/** camt.052, BankToCustomerAccountReport: a file of entries is ready. */
export type Camt052 = ReturnType<typeof readCamt052>
