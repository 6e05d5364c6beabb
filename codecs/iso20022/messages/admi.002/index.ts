import { steady } from '../../catalogue/revisions.ts'
import { messageReader, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import schema from './admi.002.xsd' with { type: 'text' }
import { builder } from './build.ts'

/** admi.002, MessageReject: a message is refused. */
export const admi002 = {
  type: 'admi.002',
  revisions: steady('1.5'),
  versions: { '1.5': 'admi.002.xsd' },
  schemas: { 'admi.002.xsd': schema },
  read: messageReader('admi.002', 'admi.002.001.01', {
    reference: text('RltdRef/Ref'),
    reason: text('Rsn/RjctgPtyRsn'),
    rejectionDateTime: text('Rsn/RjctnDtTm?'),
    errorLocation: text('Rsn/ErrLctn?'),
    description: text('Rsn/RsnDesc?'),
    additionalData: text('Rsn/AddtlData?'),
  }),
  builder,
  projection: null,
  facts: {
    transaction: null,
    checks: ['refused_reference'],
    rules: null,
    answers: { about: 'message', isRefusal: true },
  },
  exchange: { role: 'with_spi', tokens: null, answeredWith: null },
} as const satisfies MessageDefinition
