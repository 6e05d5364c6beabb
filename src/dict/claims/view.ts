import type { AppEvent } from '#src/events/index.ts'
import { accountView, ownerView } from '../view.ts'
import { automaticOf, needsPerson, type OwnClaim, possibleFrom } from './domain.ts'

const at = (moment: Date | null): string | null => moment?.toISOString() ?? null

/** What we shall do next, unless somebody acts before. */
const nextOf = (claim: OwnClaim) => {
  const wish = claim.wanted ?? automaticOf(claim)
  if (wish === undefined) return null
  const from = possibleFrom(claim, wish)
  return { act: wish.act, reason: 'reason' in wish ? wish.reason : null, at: at(from) }
}

export const claimView = (claim: OwnClaim) => ({
  id: claim.id,
  claim_id: claim.claimId,
  role: claim.role,
  type: claim.type,
  key_type: claim.keyType,
  key: claim.key,
  ispb: claim.counterparty,
  status: claim.status,
  pending: claim.wanted?.act ?? null,
  next: nextOf(claim),
  refusal: claim.refusal,
  needs_attention: needsPerson(claim),
  resolution_ends_at: at(claim.resolutionEndsAt),
  completion_ends_at: at(claim.completionEndsAt),
  confirm_reason: claim.confirmReason,
  cancel_reason: claim.cancelReason,
  cancelled_by: claim.cancelledBy && (claim.cancelledBy.toLowerCase() as 'donor' | 'claimer'),
  claimer: claim.content && ownerView(claim.content.owner),
  account: claim.content && accountView(claim.content),
  modified_at: at(claim.modifiedAt),
  created_at: claim.createdAt.toISOString(),
})

/** The event that a claim was found, or has another status. */
export const claimEvent = (
  claim: OwnClaim,
  type: 'dict.claim.received' | 'dict.claim.changed',
): AppEvent => ({
  type,
  subject: claim.id,
  data: {
    id: claim.id,
    claim_id: claim.claimId,
    role: claim.role,
    type: claim.type,
    key_type: claim.keyType,
    status: claim.status,
    resolution_ends_at: at(claim.resolutionEndsAt),
    completion_ends_at: at(claim.completionEndsAt),
  },
  full: claimView(claim),
})
