import type { Claim, ClaimType, ClaimStatus as DirectoryStatus } from '#codecs/dict'
import type { claimRoles, claimStatuses } from '#src/events/index.ts'
import type { EntryContent } from '../entries/domain.ts'
import type { ClaimRow } from '../types.ts'

// Source: DICT API 2.12.1, section "Reivindicação", and the tables of its operations confirmClaim and cancelClaim.

export type ClaimStatus = (typeof claimStatuses)[number]

/** The states that each may lead to; we may not be told of those between. */
export const claimMoves: Readonly<Record<ClaimStatus, readonly ClaimStatus[]>> = {
  opening: ['open', 'waiting_resolution', 'confirmed', 'cancelled', 'completed', 'refused'],
  open: ['waiting_resolution', 'confirmed', 'cancelled', 'completed'],
  waiting_resolution: ['confirmed', 'cancelled', 'completed'],
  confirmed: ['cancelled', 'completed'],
  cancelled: [],
  completed: [],
  refused: [],
}

export const isEnded = (status: ClaimStatus): boolean => claimMoves[status].length === 0

export const endedStatuses = (Object.keys(claimMoves) as ClaimStatus[]).filter(isEnded)

export type Role = (typeof claimRoles)[number]

export const confirmReasons = ['USER_REQUESTED', 'ACCOUNT_CLOSURE', 'DEFAULT_OPERATION'] as const
export const cancelReasons = [
  'USER_REQUESTED',
  'ACCOUNT_CLOSURE',
  'FRAUD',
  'DEFAULT_OPERATION',
  'RECONCILIATION',
  'RFB_VALIDATION',
] as const
type ConfirmReason = (typeof confirmReasons)[number]
type CancelReason = (typeof cancelReasons)[number]

/** What the directory is asked for; it counts as not done until the directory says so. */
export type Wish =
  | { readonly act: 'open' | 'acknowledge' | 'complete' }
  | { readonly act: 'confirm'; readonly reason: ConfirmReason }
  | { readonly act: 'cancel'; readonly reason: CancelReason }

/** A claim of this institution, or against one of its keys. */
export type OwnClaim = Omit<ClaimRow, 'content' | 'wanted'> & {
  /** Our customer who claims; null if we are the donor, since another's customer claims then. */
  readonly content: EntryContent | null
  readonly wanted: Wish | null
}

type Reasons = Readonly<Record<ClaimType, Readonly<Record<Role, readonly string[]>>>>

const reasonsOf: Readonly<Record<'confirm' | 'cancel', Reasons>> = {
  confirm: {
    OWNERSHIP: { donor: ['USER_REQUESTED', 'DEFAULT_OPERATION'], claimer: [] },
    PORTABILITY: { donor: ['USER_REQUESTED', 'ACCOUNT_CLOSURE'], claimer: [] },
  },
  cancel: {
    OWNERSHIP: {
      donor: ['FRAUD'],
      claimer: [
        'USER_REQUESTED',
        'ACCOUNT_CLOSURE',
        'FRAUD',
        'DEFAULT_OPERATION',
        'RFB_VALIDATION',
      ],
    },
    PORTABILITY: {
      donor: ['USER_REQUESTED', 'FRAUD', 'DEFAULT_OPERATION'],
      claimer: ['USER_REQUESTED', 'ACCOUNT_CLOSURE', 'FRAUD', 'RECONCILIATION', 'RFB_VALIDATION'],
    },
  },
}

/** Why the claimer may cancel a portability that the donor has confirmed; the donor may not cancel it. */
const confirmedReasons = ['FRAUD', 'RECONCILIATION', 'RFB_VALIDATION']

/** The reasons that this side may give now. */
export const reasonsFor = (
  { type, role, status }: Pick<OwnClaim, 'type' | 'role' | 'status'>,
  act: 'confirm' | 'cancel',
): readonly string[] => {
  const reasons = reasonsOf[act][type][role]
  if (act === 'confirm' || type === 'OWNERSHIP') return reasons
  if (status === 'confirmed') return role === 'donor' ? [] : confirmedReasons
  return status === 'waiting_resolution'
    ? reasons.filter((reason) => reason !== 'RECONCILIATION')
    : reasons
}

/** When the directory begins to take the request; null: not in this state, or not from this side. */
export const possibleFrom = (claim: OwnClaim, wish: Wish): Date | null => {
  const { role, status, type } = claim
  if (wish.act === 'acknowledge') return role === 'donor' && status === 'open' ? always : null
  if (wish.act === 'confirm') {
    if (role !== 'donor' || status !== 'waiting_resolution') return null
    return wish.reason === 'DEFAULT_OPERATION' ? claim.resolutionEndsAt : always
  }
  if (wish.act === 'cancel') {
    if (isEnded(status) || status === 'opening') return null
    if (reasonsFor(claim, 'cancel').length === 0) return null
    if (wish.reason !== 'DEFAULT_OPERATION') return always
    return role === 'donor' ? claim.resolutionEndsAt : claim.completionEndsAt
  }
  if (wish.act === 'complete') {
    if (role !== 'claimer' || status !== 'confirmed') return null
    return type === 'OWNERSHIP' ? (claim.completionEndsAt ?? always) : always
  }
  return status === 'opening' ? always : null
}

const always = new Date(0)

/** Whether the directory's state shows that the wish was done, by whichever request. */
export const isDone = ({ act }: Wish, status: ClaimStatus): boolean => {
  if (act === 'open') return status !== 'opening' && status !== 'refused'
  if (act === 'acknowledge') return status !== 'open' && status !== 'opening'
  if (act === 'confirm') return status === 'confirmed' || status === 'completed'
  return status === (act === 'cancel' ? 'cancelled' : 'completed')
}

/**
 * Whether it was done as we wished. A claim that the other side cancelled, or we did for another reason, is not the
 * cancellation we asked for (DICT API, cancelClaim: "cancelada com os mesmos parâmetros").
 */
export const isDoneBy = (
  wish: Wish,
  { status, role, cancelledBy, cancelReason }: OwnClaim,
): boolean => {
  if (wish.act !== 'cancel' || status !== 'cancelled') return isDone(wish, status)
  // Where the directory does not tell, nothing speaks against it.
  const isOurs = cancelledBy === null || cancelledBy === role.toUpperCase()
  return isOurs && (cancelReason === null || cancelReason === wish.reason)
}

/**
 * What we do unasked, because the rules require it. A donor's silence lets an ownership claim through and refuses a
 * portability. To complete a portability there is nothing left to prove; an ownership claim is completed by a person.
 */
export const automaticOf = (claim: OwnClaim): Wish | undefined => {
  const { role, type, status } = claim
  if (role === 'donor' && status === 'open') return { act: 'acknowledge' }
  if (role === 'donor' && status === 'waiting_resolution') {
    const act = type === 'OWNERSHIP' ? 'confirm' : 'cancel'
    return { act, reason: 'DEFAULT_OPERATION' }
  }
  const isTaken = role === 'claimer' && status === 'confirmed' && type === 'PORTABILITY'
  return isTaken ? { act: 'complete' } : undefined
}

/** Whether the claim waits for a person to decide before a deadline does. */
export const needsPerson = ({ role, type, status, wanted }: OwnClaim): boolean =>
  wanted === null &&
  ((role === 'donor' && status === 'waiting_resolution') ||
    (role === 'claimer' && status === 'confirmed' && type === 'OWNERSHIP'))

/** How often we look at a claim of which we hear nothing. */
const lookedAtEveryMs = 3_600_000

/** When we next have something to do for the claim; null: never. */
export const dueOf = (claim: OwnClaim, now: Date): Date | null => {
  if (isEnded(claim.status)) return null
  const wish = claim.wanted ?? automaticOf(claim)
  const look = new Date(now.getTime() + lookedAtEveryMs)
  const from = wish && possibleFrom(claim, wish)
  return from === undefined || from === null || from > look ? look : from
}

/** Whether the key was ours and no longer is. */
export const hasGivenUp = ({ role, status, confirmReason }: OwnClaim): boolean =>
  role === 'donor' &&
  (status === 'confirmed' ||
    status === 'completed' ||
    (status === 'cancelled' && confirmReason !== null))

const ownStatus = (status: DirectoryStatus): ClaimStatus => status.toLowerCase() as ClaimStatus

/** The part of a claim that the directory tells. */
export const standingOf = (seen: Claim) => ({
  claimId: seen.id,
  status: ownStatus(seen.status),
  resolutionEndsAt: new Date(seen.resolutionEndsAt),
  completionEndsAt: seen.completionEndsAt === undefined ? null : new Date(seen.completionEndsAt),
  modifiedAt: new Date(seen.modifiedAt),
  confirmReason: seen.confirmReason ?? null,
  cancelReason: seen.cancelReason ?? null,
  cancelledBy: seen.cancelledBy ?? null,
})

/** Whether what the directory shows is this claim: its key, its kind and its two sides never change. */
export const isOf = (claim: OwnClaim, seen: Claim, ispb: string): boolean => {
  const [ours, theirs] =
    claim.role === 'donor'
      ? [seen.donor, seen.account.participant]
      : [seen.account.participant, seen.donor]
  return (
    (claim.claimId === null || claim.claimId === seen.id) &&
    (claim.counterparty === null || claim.counterparty === theirs) &&
    ours === ispb &&
    seen.type === claim.type &&
    seen.keyType === claim.keyType &&
    seen.key === claim.key
  )
}

/**
 * The claim as the directory shows it, but never back in an earlier state. We take that a claim of ours is completed
 * only from the answer to its completion, which says since when the key is its owner's: we ask for that answer.
 *
 * @returns undefined: nothing new
 */
export const afterSeeing = (claim: OwnClaim, seen: Claim): OwnClaim | undefined => {
  const standing = standingOf(seen)
  const { counterparty } = claim
  const theirs = claim.role === 'donor' ? seen.account.participant : seen.donor
  const next = { ...claim, ...standing, counterparty: counterparty ?? theirs }
  if (claim.role === 'claimer' && standing.status === 'completed' && claim.status !== 'completed') {
    const isAsked = claim.wanted?.act === 'complete'
    const confirmed = { ...next, status: 'confirmed', wanted: { act: 'complete' } } as const
    return isAsked && claim.status === 'confirmed' ? undefined : confirmed
  }
  if (claimMoves[claim.status].includes(standing.status)) return settled(next)
  const isNewer = claim.modifiedAt === null || standing.modifiedAt > claim.modifiedAt
  return claim.status === standing.status && isNewer && !isEnded(claim.status) ? next : undefined
}

/** A wish ends with what it asked for, or with the claim. */
export const settled = (claim: OwnClaim): OwnClaim => {
  const { wanted, status } = claim
  if (wanted === null) return claim
  if (isDone(wanted, status)) return { ...claim, wanted: null, refusal: null }
  if (isEnded(status))
    return { ...claim, wanted: null, refusal: claim.refusal ?? 'ClaimOperationInvalid' }
  return claim
}
