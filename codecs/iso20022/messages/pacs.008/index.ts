import { inferred, weak } from '../../catalogue/revisions.ts'
import { type MessageDefinition, noFacts } from '../definition.ts'
import { builder } from './build.ts'
import schema113 from './pacs.008.1.13.xsd' with { type: 'text' }
import schema115 from './pacs.008.1.15.xsd' with { type: 'text' }
import schema116 from './pacs.008.1.16.xsd' with { type: 'text' }
import base from './pacs.008.xsd' with { type: 'text' }
import { projection } from './projection.ts'
import { readPacs008 } from './read.ts'
import { rules } from './rules.ts'

/** pacs.008, FIToFICustomerCreditTransfer, as the SPI restricts it. */
export const pacs008 = {
  type: 'pacs.008',
  revisions: {
    '5.08.1': weak('1.11'),
    '5.09.2': weak('1.12'),
    '5.10.1': inferred('1.13'),
    '5.11.1': inferred('1.14'),
  },
  versions: {
    '1.11': 'pacs.008.1.13.xsd',
    '1.12': 'pacs.008.1.13.xsd',
    '1.13': 'pacs.008.1.13.xsd',
    '1.14': 'pacs.008.1.13.xsd',
    '1.15': 'pacs.008.1.15.xsd',
    '1.16': 'pacs.008.1.16.xsd',
  },
  schemas: {
    'pacs.008.xsd': base,
    'pacs.008.1.13.xsd': schema113,
    'pacs.008.1.15.xsd': schema115,
    'pacs.008.1.16.xsd': schema116,
  },
  read: readPacs008,
  builder,
  projection,
  facts: {
    ...noFacts,
    transaction: 'CdtTrfTxInf',
    checks: ['some_transaction', 'count', 'end_to_end_id', 'amount'],
    rules,
  },
  exchange: { role: 'moves_money', tokens: 1, answeredWith: 'pacs.002' },
} as const satisfies MessageDefinition
