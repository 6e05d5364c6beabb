import { seenAt510 } from '../../catalogue/revisions.ts'
import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './pibr.001.xsd' with { type: 'text' }

/** pibr.001, EchoRequest: asks for the same text back. */
export const pibr001 = {
  ...ofOneVersion('pibr.001', '1.3', schema, seenAt510),
  read: messageReader('pibr.001', 'EchoReq', {
    groupHeader,
    data: text('EchoTxInf/Data'),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'pibr.002' },
} as const satisfies MessageDefinition
