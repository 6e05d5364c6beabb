import { steady } from '../../catalogue/revisions.ts'
import { messageReader, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import schema from './admi.004.xsd' with { type: 'text' }

/** admi.004, SystemEventNotification: a notice of the SPI to all. */
export const admi004 = {
  type: 'admi.004',
  revisions: steady('1.2'),
  versions: { '1.2': 'admi.004.xsd' },
  schemas: { 'admi.004.xsd': schema },
  read: messageReader('admi.004', 'SysEvtNtfctn', {
    eventCode: text('EvtInf/EvtCd'),
    description: text('EvtInf/EvtDesc'),
  }),
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'with_spi', tokens: null, answeredWith: null },
} as const satisfies MessageDefinition
