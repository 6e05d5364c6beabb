import { messageReader, text } from '../shape.ts'
import { messageHeader } from './parts.ts'

/** Reads a scanned reda.014; problems are left in `reader`. */
export const readReda014 = messageReader('reda.014', 'PtyCreReq', {
  messageHeader,
  requesterIspb: text('Pty/PtyId/Id/Id/PrtryId/Id'),
  participantDocument: text('Pty/MktSpcfcAttr/Val'),
})

/** reda.014, PartyCreationRequest: registers an indirect participant. */
export type Reda014 = ReturnType<typeof readReda014>
