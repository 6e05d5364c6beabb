import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, noFacts, ofOneVersion } from '../definition.ts'
import schema from './admi.002.xsd' with { type: 'text' }
import { builder } from './build.ts'

/** admi.002, MessageReject: a message is refused. */
export const admi002 = {
  ...ofOneVersion('admi.002', '1.5', schema),
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
    ...noFacts,
    checks: ['refused_reference'],
    answers: { about: 'message', isRefusal: true },
  },
  exchange: { role: 'with_spi', tokens: null, answeredWith: null },
} as const satisfies MessageDefinition
