import { many, messageReader, one, text } from '../shape.ts'
import { messageHeader } from './parts.ts'

/** Reads a scanned reda.022; problems are left in `reader`. */
export const readReda022 = messageReader('reda.022', 'PtyModReq', {
  messageHeader,
  participantIspb: text('SysPtyId/Id/Id/PrtryId/Id'),
  /** Each holds one of the three. */
  modifications: many('Mod+', {
    scope: text('ScpIndctn'),
    technicalAddress: text('ReqdMod/TechAdr?/TechAdr'),
    attribute: one('ReqdMod/MktSpcfcAttr?', { name: text('Nm'), value: text('Val') }),
    contact: one('ReqdMod/CtctDtls?', {
      name: text('Nm?'),
      phone: text('PhneNb'),
      mobile: text('MobNb?'),
      fax: text('FaxNb?'),
      email: text('EmailAdr'),
      responsibility: text('Rspnsblty'),
    }),
  }),
})

/** reda.022, PartyModificationRequest: a participant changes what is registered of it. */
export type Reda022 = ReturnType<typeof readReda022>
