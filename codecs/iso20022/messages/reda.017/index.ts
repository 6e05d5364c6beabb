import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './reda.017.xsd' with { type: 'text' }

/** reda.017, PartyReport: the deadline to confirm an indirect participant. */
export const reda017 = {
  ...ofOneVersion('reda.017', '1.2', schema),
  read: messageReader('reda.017', 'PtyRpt', {
    messageHeader,
    participantIspb: text('RptOrErr/PtyRpt/PtyId/Id/Id/PrtryId/Id'),
    issuer: text('RptOrErr/PtyRpt/PtyId/Id/Id/PrtryId/Issr'),
    attributeName: text('RptOrErr/PtyRpt/PtyOrErr/SysPty/MktSpcfcAttr/Nm'),
    deadline: text('RptOrErr/PtyRpt/PtyOrErr/SysPty/MktSpcfcAttr/Val'),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
