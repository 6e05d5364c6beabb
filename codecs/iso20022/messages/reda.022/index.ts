import { many, messageReader, one, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './reda.022.xsd' with { type: 'text' }

/** reda.022, PartyModificationRequest: a participant changes its registered data. */
export const reda022 = {
  ...ofOneVersion('reda.022', '1.4', schema),
  read: messageReader('reda.022', 'PtyModReq', {
    messageHeader,
    participantIspb: text('SysPtyId/Id/Id/PrtryId/Id'),
    issuer: text('SysPtyId/Id/Id/PrtryId/Issr'),
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
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'reda.016' },
} as const satisfies MessageDefinition
