import { confirmed, seenAt510 } from '../../catalogue/revisions.ts'
import type { MessageDefinition } from '../definition.ts'
import { builder } from './build.ts'
import schema from './pacs.004.xsd' with { type: 'text' }
import { projection } from './projection.ts'
import { readPacs004 } from './read.ts'

/** pacs.004, PaymentReturn, as the SPI restricts it. */
export const pacs004 = {
  type: 'pacs.004',
  revisions: { ...seenAt510('1.5'), '5.11.1': confirmed('1.5') },
  versions: { '1.5': 'pacs.004.xsd' },
  schemas: { 'pacs.004.xsd': schema },
  read: readPacs004,
  builder,
  projection,
  facts: {
    transaction: 'TxInf',
    checks: ['some_transaction', 'count', 'end_to_end_id', 'return_id', 'amount', 'return_reason'],
    rules: null,
    answers: null,
  },
  exchange: { role: 'moves_money', tokens: null, answeredWith: 'pacs.002' },
} as const satisfies MessageDefinition
