import { many, messageReader, text } from '../shape.ts'
import { messageHeader } from './parts.ts'

/** Reads a scanned reda.041; problems are left in `reader`. */
export const readReda041 = messageReader('reda.041', 'PtyActvtyAdvc', {
  messageHeader,
  participantIspb: text('PtyActvty/Chng/PtyId/Id/Id/PrtryId/Id'),
  issuer: text('PtyActvty/Chng/PtyId/Id/Id/PrtryId/Issr'),
  changes: many('PtyActvty/Rcrd+', {
    field: text('Othr/FldNm'),
    oldValue: text('Othr/OdFldVal'),
    newValue: text('Othr/NewFldVal'),
  }),
})

/** reda.041, PartyActivityAdvice: what is registered of a participant has changed. */
export type Reda041 = ReturnType<typeof readReda041>
