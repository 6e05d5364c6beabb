import { messageReader, one, text } from '../shape.ts'
import { groupHeader } from './parts.ts'

/** Reads a scanned camt.060; problems are left in `reader`. */
export const readCamt060 = messageReader('camt.060', 'AcctRptgReq', {
  groupHeader,
  /** Of the entry that is asked for. */
  entryId: text('RptgReq/Id?'),
  requestedMessage: text('RptgReq/ReqdMsgNmId'),
  accountOwnerIspb: text('RptgReq/AcctOwnr/Agt/FinInstnId/ClrSysMmbId/MmbId'),
  period: one('RptgReq/RptgPrd?', {
    fromDate: text('FrToDt/FrDt'),
    toDate: text('FrToDt/ToDt?'),
    fromTime: text('FrToTm?/FrTm'),
    toTime: text('FrToTm?/ToTm'),
    type: text('Tp'),
  }),
  balanceType: text('RptgReq/ReqdBalTp?/CdOrPrtry/Prtry'),
})

/** camt.060, AccountReportingRequest: asks for entries, balances or one entry. */
export type Camt060 = ReturnType<typeof readCamt060>
