import { seenAt510 } from '../../catalogue/revisions.ts'
import { messageReader, one, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './camt.060.xsd' with { type: 'text' }

/** camt.060, AccountReportingRequest: asks for entries, balances or one entry. */
export const camt060 = {
  ...ofOneVersion('camt.060', '1.9', schema, seenAt510),
  read: messageReader('camt.060', 'AcctRptgReq', {
    groupHeader,
    /** The entry that is asked for. */
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
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'camt.054' },
} as const satisfies MessageDefinition
