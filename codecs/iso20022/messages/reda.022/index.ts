import { steady } from '../../catalogue/revisions.ts'
import { many, messageReader, one, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './reda.022.xsd' with { type: 'text' }

/** reda.022, PartyModificationRequest: a participant changes its registered data. */
export const reda022 = {
  type: 'reda.022',
  revisions: steady('1.4'),
  versions: { '1.4': 'reda.022.xsd' },
  schemas: { 'reda.022.xsd': schema },
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
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'reda.016' },
} as const satisfies MessageDefinition
