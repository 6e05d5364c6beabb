import type { z } from 'zod'
import type { disputeMembers } from './documents.ts'
import { type Dispute, needsPerson, type Wanted } from './domain.ts'

type Shared = z.output<z.ZodObject<Omit<typeof disputeMembers, 'details' | 'result' | 'analysis'>>>

/** What all disputes show. */
export const sharedView = (one: Dispute<unknown, Wanted>): Shared => ({
  id: one.id,
  directory_id: one.directoryId,
  role: one.role,
  status: one.status,
  transaction_id: one.transactionId,
  reason: one.reason,
  other_ispb: one.other,
  pending: one.status === 'requested' ? 'create' : (one.wanted?.act ?? null),
  needs_attention: needsPerson(one),
  refusal: one.refusal,
  created_at: one.createdAt.toISOString(),
  modified_at: one.modifiedAt?.toISOString() ?? null,
})
