import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './reda.031.xsd' with { type: 'text' }

/** reda.031, PartyDeletionRequest: ends the settlement for an indirect participant. */
export const reda031 = {
  ...ofOneVersion('reda.031', '1.2', schema),
  read: messageReader('reda.031', 'PtyDeltnReq', {
    messageHeader,
    participantIspb: text('SysPtyId/Id/Id/PrtryId/Id'),
    issuer: text('SysPtyId/Id/Id/PrtryId/Issr'),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'reda.016' },
} as const satisfies MessageDefinition
