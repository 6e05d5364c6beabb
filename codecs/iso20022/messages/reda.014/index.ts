import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './reda.014.xsd' with { type: 'text' }

/** reda.014, PartyCreationRequest: registers an indirect participant. */
export const reda014 = {
  ...ofOneVersion('reda.014', '1.3', schema),
  read: messageReader('reda.014', 'PtyCreReq', {
    messageHeader,
    requesterIspb: text('Pty/PtyId/Id/Id/PrtryId/Id'),
    issuer: text('Pty/PtyId/Id/Id/PrtryId/Issr'),
    participantType: text('Pty/Tp/Prtry'),
    attributeName: text('Pty/MktSpcfcAttr/Nm'),
    participantDocument: text('Pty/MktSpcfcAttr/Val'),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'reda.016' },
} as const satisfies MessageDefinition
