import { seenAt510 } from '../../catalogue/revisions.ts'
import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './pibr.002.xsd' with { type: 'text' }

/** pibr.002, EchoReport: the text of a pibr.001. */
export const pibr002 = {
  ...ofOneVersion('pibr.002', '1.3', schema, seenAt510),
  read: messageReader('pibr.002', 'EchoRpt', {
    groupHeader,
    originalData: text('EchoTxInf/OrgnlData'),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
