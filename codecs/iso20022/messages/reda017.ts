import { messageReader, text } from '../shape.ts'
import { messageHeader } from './parts.ts'

/** Reads a scanned reda.017; problems are left in `reader`. */
export const readReda017 = messageReader('reda.017', 'PtyRpt', {
  messageHeader,
  participantIspb: text('RptOrErr/PtyRpt/PtyId/Id/Id/PrtryId/Id'),
  attributeName: text('RptOrErr/PtyRpt/PtyOrErr/SysPty/MktSpcfcAttr/Nm'),
  deadline: text('RptOrErr/PtyRpt/PtyOrErr/SysPty/MktSpcfcAttr/Val'),
})

/** reda.017, PartyReport: until when an indirect participant is to be confirmed. */
export type Reda017 = ReturnType<typeof readReda017>
