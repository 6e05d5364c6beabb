import { many, messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './reda.041.xsd' with { type: 'text' }

/** reda.041, PartyActivityAdvice: the registered data of a participant has changed. */
export const reda041 = {
  ...ofOneVersion('reda.041', '1.7', schema),
  read: messageReader('reda.041', 'PtyActvtyAdvc', {
    messageHeader,
    participantIspb: text('PtyActvty/Chng/PtyId/Id/Id/PrtryId/Id'),
    issuer: text('PtyActvty/Chng/PtyId/Id/Id/PrtryId/Issr'),
    changes: many('PtyActvty/Rcrd/Othr+', {
      field: text('FldNm'),
      oldValue: text('OdFldVal'),
      newValue: text('NewFldVal'),
    }),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
