import { seenAt510 } from '../../catalogue/revisions.ts'
import { messageReader, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { groupHeader } from '../parts.ts'
import schema from './pibr.002.xsd' with { type: 'text' }

/** pibr.002, EchoReport: the text of a pibr.001. */
export const pibr002 = {
  type: 'pibr.002',
  revisions: seenAt510('1.3'),
  versions: { '1.3': 'pibr.002.xsd' },
  schemas: { 'pibr.002.xsd': schema },
  read: messageReader('pibr.002', 'EchoRpt', {
    groupHeader,
    originalData: text('EchoTxInf/OrgnlData'),
  }),
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
