/** Claims to keys, and the rules by which donor and claimer lead them to their end. */
import { randomUUID } from 'node:crypto'
import type { Claim, ClaimRequest, ClaimStatus, ClaimType, KeyType } from '#codecs/dict'
import { type DirectoryBook, type Kept, uuidForm } from './book.ts'
import type { ClaimPeriods } from './options.ts'
import { Refusal } from './refusal.ts'

type Side = 'DONOR' | 'CLAIMER'
type Allowed = Readonly<Record<ClaimType, Partial<Record<Side, readonly string[]>>>>

const claimable: Readonly<Record<ClaimType, readonly KeyType[]>> = {
  OWNERSHIP: ['PHONE'],
  PORTABILITY: ['CPF', 'CNPJ', 'PHONE', 'EMAIL'],
}
const confirmReasons: Allowed = {
  OWNERSHIP: { DONOR: ['USER_REQUESTED', 'DEFAULT_OPERATION'] },
  PORTABILITY: { DONOR: ['USER_REQUESTED', 'ACCOUNT_CLOSURE'] },
}
const cancelReasons: Allowed = {
  OWNERSHIP: {
    DONOR: ['FRAUD'],
    CLAIMER: ['USER_REQUESTED', 'ACCOUNT_CLOSURE', 'FRAUD', 'DEFAULT_OPERATION', 'RFB_VALIDATION'],
  },
  PORTABILITY: {
    DONOR: ['USER_REQUESTED', 'FRAUD', 'DEFAULT_OPERATION'],
    CLAIMER: ['USER_REQUESTED', 'ACCOUNT_CLOSURE', 'FRAUD', 'RECONCILIATION', 'RFB_VALIDATION'],
  },
}
const claimsMax = 100_000

const isOver = ({ status }: Claim): boolean => status === 'CANCELLED' || status === 'COMPLETED'
const hasPassed = (moment: string | undefined, nowMs: number): boolean =>
  moment === undefined || nowMs >= Date.parse(moment)

export type ClaimFilter = {
  readonly participant: string
  readonly isDonor: boolean | undefined
  readonly isClaimer: boolean | undefined
  /** Empty: all. */
  readonly statuses: readonly ClaimStatus[]
  readonly type: ClaimType | undefined
  readonly afterMs: number
  readonly beforeMs: number
  readonly limit: number
}

type Completed = { readonly claim: Claim; readonly kept: Kept }

type ClaimsDeps = {
  readonly book: DirectoryBook
  readonly now: () => number
  readonly periods: ClaimPeriods
}

/** The claims, by all that they are asked for by. */
const createShelf = ({ book, now }: ClaimsDeps) => {
  const claims = new Map<string, Claim>()
  const openByKey = new Map<string, string>()
  /** Ids of the ended claims, in the order of their ends. */
  const over = new Set<string>()
  /** By claim: since when its former owner had a key that was given up, and the result of the claim. */
  const ownedSince = new Map<string, string>()
  const completed = new Map<string, Kept>()
  const at = (ms = 0): string => new Date(now() + ms).toISOString()

  return {
    claims,
    openByKey,
    ownedSince,
    completed,
    at,
    /** Forgets the one that has been over for longest, where there are too many. @throws Refusal if none is over */
    makeRoom: (): void => {
      if (claims.size < claimsMax) return
      const [id] = over
      if (id === undefined) throw new Refusal('ServiceUnavailable', 'Too many claims')
      over.delete(id)
      for (const map of [claims, ownedSince, completed]) map.delete(id)
    },
    put: (claim: Claim): Claim => {
      claims.set(claim.id, claim)
      openByKey.set(claim.key, claim.id)
      book.lock(claim.key, claim.modifiedAt)
      return claim
    },
    change: (claim: Claim, more: Partial<Claim>): Claim => {
      const next = { ...claim, ...more, modifiedAt: at() }
      claims.set(claim.id, next)
      if (isOver(next)) {
        over.add(claim.id)
        openByKey.delete(claim.key)
        book.unlock(claim.key)
      }
      return next
    },
    /** @throws Refusal if the claim does not exist, or the participant is not of that side */
    demand: (id: string, participant: string, side?: Side): Claim => {
      const claim = claims.get(id)
      if (claim === undefined) throw new Refusal('NotFound')
      const sides = sidesOf(claim, participant)
      if (sides.length === 0 || (side !== undefined && !sides.includes(side))) {
        throw new Refusal('Forbidden')
      }
      return claim
    },
  }
}

type Shelf = ReturnType<typeof createShelf>

export const createClaims = (deps: ClaimsDeps) => {
  const shelf = createShelf(deps)
  const { claims, openByKey } = shelf
  return {
    ...createOpenings(deps, shelf),
    ...createEndings(deps, shelf),
    all: (): readonly Claim[] => [...claims.values()],
    /** The claims that have not ended. */
    going: (): readonly Claim[] => [...openByKey.values()].flatMap((id) => claims.get(id) ?? []),
    find: (id: string, participant: string): Claim => shelf.demand(id, participant),

    /** Lists claims in the order of their last change, without changes of the last moments. */
    list: (filter: ClaimFilter): Listed => {
      const untilMs = Math.min(filter.beforeMs, deps.now() - deps.periods.listLagMs)
      const found = [...claims.values()]
        .map((claim) => ({ claim, ms: Date.parse(claim.modifiedAt) }))
        .filter(({ claim, ms }) => ms >= filter.afterMs && ms <= untilMs && fits(claim, filter))
        .sort((a, b) => a.ms - b.ms)
        .map(({ claim }) => claim)
      return { claims: found.slice(0, filter.limit), hasMore: found.length > filter.limit }
    },
  }
}

type Listed = { readonly claims: readonly Claim[]; readonly hasMore: boolean }

export type DirectoryClaims = ReturnType<typeof createClaims>

/** The steps from no claim to one that the donor thinks about. */
const createOpenings = ({ book, periods }: ClaimsDeps, shelf: Shelf) => ({
  /** @throws Refusal */
  open: (asked: ClaimRequest): Claim => {
    const { openByKey, at } = shelf
    if (!claimable[asked.type].includes(asked.keyType)) {
      throw new Refusal('ClaimInvalid', 'A key of that type cannot be claimed so')
    }
    if (openByKey.has(asked.key)) throw new Refusal('ClaimAlreadyExistsForKey')
    const there = book.find(asked.key)?.entry
    if (there?.keyType !== asked.keyType) throw new Refusal('ClaimKeyNotFound')
    refuseInconsistent(asked, there)
    shelf.makeRoom()
    const { resolutionMs, completionMs } = periods
    return shelf.put({
      ...asked,
      id: randomUUID(),
      donor: there.account.participant,
      status: 'OPEN',
      modifiedAt: at(),
      resolutionEndsAt: at(resolutionMs),
      completionEndsAt: asked.type === 'OWNERSHIP' ? at(resolutionMs + completionMs) : undefined,
      confirmReason: undefined,
      cancelReason: undefined,
      cancelledBy: undefined,
    })
  },

  /** @throws Refusal */
  acknowledge: (id: string, participant: string): Claim => {
    const claim = shelf.demand(id, participant, 'DONOR')
    if (claim.status === 'WAITING_RESOLUTION') return claim
    if (claim.status !== 'OPEN') throw new Refusal('ClaimOperationInvalid')
    return shelf.change(claim, { status: 'WAITING_RESOLUTION' })
  },
})

const createEndings = ({ book, now }: ClaimsDeps, shelf: Shelf) => {
  const { ownedSince, completed, at, change, demand } = shelf

  return {
    /** @throws Refusal */
    confirm: (id: string, participant: string, reason: string): Claim => {
      const claim = demand(id, participant, 'DONOR')
      refuseReason(confirmReasons, claim, ['DONOR'], reason)
      if (claim.status === 'CONFIRMED' && claim.confirmReason === reason) return claim
      if (claim.status !== 'WAITING_RESOLUTION') throw new Refusal('ClaimOperationInvalid')
      if (reason === 'DEFAULT_OPERATION' && !hasPassed(claim.resolutionEndsAt, now())) {
        throw new Refusal('ClaimResolutionPeriodNotEnded')
      }
      const given = book.release(claim.key)
      ownedSince.set(id, claim.type === 'PORTABILITY' ? given.entry.ownedSince : at())
      const isAgreed = claim.type === 'OWNERSHIP' && reason === 'USER_REQUESTED'
      return change(claim, {
        status: 'CONFIRMED',
        confirmReason: reason,
        ...(isAgreed ? { completionEndsAt: at() } : {}),
      })
    },

    /** @throws Refusal */
    cancel: (id: string, participant: string, reason: string): Claim => {
      const claim = demand(id, participant)
      const sides = sidesOf(claim, participant)
      const side = refuseReason(cancelReasons, claim, sides, reason)
      if (claim.status === 'CANCELLED' && claim.cancelReason === reason) return claim
      if (isOver(claim) || !mayCancelNow(claim, side, reason)) {
        throw new Refusal('ClaimOperationInvalid')
      }
      if (reason === 'DEFAULT_OPERATION') refuseEarly(claim, side, now())
      return change(claim, { status: 'CANCELLED', cancelReason: reason, cancelledBy: side })
    },

    /** Done once for a RequestId. @throws Refusal */
    complete: (id: string, participant: string, requestId: string): Completed => {
      const claim = demand(id, participant, 'CLAIMER')
      const before = completed.get(id)
      if (before?.requestId === requestId) return { claim, kept: before }
      if (claim.status !== 'CONFIRMED') throw new Refusal('ClaimOperationInvalid')
      if (!uuidForm.test(requestId)) throw new Refusal('BadRequest', 'RequestId is no UUID')
      if (!hasPassed(claim.completionEndsAt, now())) {
        throw new Refusal('ClaimCompletionPeriodNotEnded')
      }
      const { keyType, key, account, openedAt, claimer: owner } = claim
      const request = { keyType, key, account, openedAt, owner }
      const kept = book.putClaimed(request, requestId, ownedSince.get(id) ?? at())
      completed.set(id, kept)
      return { claim: change(claim, { status: 'COMPLETED' }), kept }
    },
  }
}

const sidesOf = (claim: Claim, participant: string): readonly Side[] => [
  ...(claim.donor === participant ? (['DONOR'] as const) : []),
  ...(claim.account.participant === participant ? (['CLAIMER'] as const) : []),
]

/** @throws Refusal unless one of the sides may give the reason. @returns that side */
const refuseReason = (
  allowed: Allowed,
  { type }: Claim,
  sides: readonly Side[],
  reason: string,
): Side => {
  const side = sides.find((one) => allowed[type][one]?.includes(reason))
  if (side === undefined) throw new Refusal('InvalidReason')
  return side
}

/** The exceptions that cancelClaim makes of a portability. */
const mayCancelNow = ({ type, status }: Claim, side: Side, reason: string): boolean => {
  if (type === 'OWNERSHIP') return true
  if (status === 'WAITING_RESOLUTION') return reason !== 'RECONCILIATION'
  const isLate = ['FRAUD', 'RECONCILIATION', 'RFB_VALIDATION'].includes(reason)
  return status !== 'CONFIRMED' || (side === 'CLAIMER' && isLate)
}

/** @throws Refusal if the period has not ended whose end is the reason */
const refuseEarly = (claim: Claim, side: Side, nowMs: number): void => {
  if (side === 'DONOR' && !hasPassed(claim.resolutionEndsAt, nowMs)) {
    throw new Refusal('ClaimResolutionPeriodNotEnded')
  }
  if (side === 'CLAIMER' && !hasPassed(claim.completionEndsAt, nowMs)) {
    throw new Refusal('ClaimCompletionPeriodNotEnded')
  }
}

/** @throws Refusal */
const refuseInconsistent = (asked: ClaimRequest, there: Kept['entry']): void => {
  const isSameOwner = there.owner.taxIdNumber === asked.claimer.taxIdNumber
  if (isSameOwner !== (asked.type === 'PORTABILITY')) throw new Refusal('ClaimTypeInconsistent')
  if (isSameOwner && there.account.participant === asked.account.participant) {
    throw new Refusal('ClaimResultingEntryAlreadyExists')
  }
}

const fits = (
  claim: Claim,
  { participant, isDonor, isClaimer, statuses, type }: ClaimFilter,
): boolean => {
  const donates = claim.donor === participant
  const claims = claim.account.participant === participant
  const isOfRole =
    isDonor === isClaimer
      ? donates || claims
      : (isDonor === undefined || donates === isDonor) &&
        (isClaimer === undefined || claims === isClaimer) &&
        (donates || claims)
  return (
    isOfRole &&
    (statuses.length === 0 || statuses.includes(claim.status)) &&
    (type === undefined || claim.type === type)
  )
}
