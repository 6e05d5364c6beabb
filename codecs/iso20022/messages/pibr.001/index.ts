import { seenAt510 } from '../../catalogue/revisions.ts'
import { messageReader, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './pibr.001.xsd' with { type: 'text' }

/** pibr.001, EchoRequest: asks for the same text back. */
export const pibr001 = {
  type: 'pibr.001',
  revisions: seenAt510('1.3'),
  versions: { '1.3': 'pibr.001.xsd' },
  schemas: { 'pibr.001.xsd': schema },
  read: messageReader('pibr.001', 'EchoReq', {
    groupHeader,
    data: text('EchoTxInf/Data'),
  }),
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'pibr.002' },
} as const satisfies MessageDefinition
