import { messageReader, text } from '../shape.ts'
import { messageHeader } from './parts.ts'

/** Reads a scanned reda.031; problems are left in `reader`. */
export const readReda031 = messageReader('reda.031', 'PtyDeltnReq', {
  messageHeader,
  participantIspb: text('SysPtyId/Id/Id/PrtryId/Id'),
})

/** reda.031, PartyDeletionRequest: ends the settlement for an indirect participant. */
export type Reda031 = ReturnType<typeof readReda031>
