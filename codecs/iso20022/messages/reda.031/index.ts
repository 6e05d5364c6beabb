import { steady } from '../../catalogue/revisions.ts'
import { messageReader, text } from '../../shape.ts'
import type { MessageDefinition } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './reda.031.xsd' with { type: 'text' }

/** reda.031, PartyDeletionRequest: ends the settlement for an indirect participant. */
export const reda031 = {
  type: 'reda.031',
  revisions: steady('1.2'),
  versions: { '1.2': 'reda.031.xsd' },
  schemas: { 'reda.031.xsd': schema },
  read: messageReader('reda.031', 'PtyDeltnReq', {
    messageHeader,
    participantIspb: text('SysPtyId/Id/Id/PrtryId/Id'),
    issuer: text('SysPtyId/Id/Id/PrtryId/Issr'),
  }),
  builder: null,
  projection: null,
  facts: { transaction: null, checks: [], rules: null, answers: null },
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'reda.016' },
} as const satisfies MessageDefinition
