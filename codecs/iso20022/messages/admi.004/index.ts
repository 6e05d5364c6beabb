import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import schema from './admi.004.xsd' with { type: 'text' }

/** admi.004, SystemEventNotification: a notice of the SPI to all. */
export const admi004 = {
  ...ofOneVersion('admi.004', '1.2', schema),
  read: messageReader('admi.004', 'SysEvtNtfctn', {
    eventCode: text('EvtInf/EvtCd'),
    description: text('EvtInf/EvtDesc'),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: null },
} as const satisfies MessageDefinition
