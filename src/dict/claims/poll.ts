import { randomUUID } from 'node:crypto'
import type { Claim } from '#codecs/dict'
import { claimRoles } from '#src/events/index.ts'
import type { Round } from '#src/platform/jobs/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import { releaseKey } from '../entries/store.ts'
import { followList } from '../following.ts'
import { type Advance, type AdvanceDeps, isSameOpening } from './advance.ts'
import { claimPagesMax, overlapMs } from './calls.ts'
import { writeClaim, writeSeen } from './changes.ts'
import { dueOf, hasGivenUp, isEnded, isOf, type OwnClaim, type Role, standingOf } from './domain.ts'
import { doDue } from './due.ts'
import { addClaim, findKnown, findOpening } from './store.ts'
import { claimEvent } from './view.ts'

/** No claim lasts longer. */
const firstLookMs = 31 * dayMs

/** Finds claims against our keys, and what has become of those that we know. @throws DirectoryAwayError: the rest is read the next time */
export const pollClaims = async (
  deps: AdvanceDeps,
  advance: Advance,
  round?: Round,
): Promise<void> => {
  const { calls } = deps
  for (const role of claimRoles) {
    const looks = { overlapMs, firstLookMs, pagesMax: claimPagesMax }
    await followList(
      calls.list(role),
      (seen) => receive(deps, advance, role, seen),
      { ...deps, ...looks, idOf: ({ id }) => id },
      round,
    )
    if (round?.signal.aborted) return
  }
}

/** @returns whether it is news, and stored */
const receive = async (
  deps: AdvanceDeps,
  advance: Advance,
  role: Role,
  seen: Claim,
): Promise<boolean> => {
  const { sql, ispb, logger } = deps
  const known = await findKnown(sql, seen.id, role)
  const opening =
    known === undefined && role === 'claimer' ? await findOpening(sql, seen.key) : undefined
  const before = known ?? (opening && isSameOpening(opening, seen, ispb) ? opening : undefined)
  const claim = before ?? foundOf(deps, role, seen)
  if (!isOf(claim, seen, ispb)) {
    logger.warn({ claim: seen.id, role }, 'the directory lists a claim that is not so')
    return false
  }
  if (before !== undefined) return (await writeSeen(deps, before, seen)) !== undefined
  if (!(await add(deps, claim))) return false
  // Whoever hears of the claim finds it acknowledged.
  const added = await findKnown(sql, seen.id, role)
  if (added !== undefined && !isEnded(added.status)) await doDue(deps, advance, added)
  return true
}

/** A claim that we did not know of: against us, or made by another system of this institution. */
const foundOf = ({ now }: AdvanceDeps, role: Role, seen: Claim): OwnClaim => ({
  id: randomUUID(),
  createdBy: null,
  role,
  type: seen.type,
  keyType: seen.keyType,
  key: seen.key,
  counterparty: role === 'donor' ? seen.account.participant : seen.donor,
  content:
    role === 'donor'
      ? null
      : { owner: seen.claimer, account: seen.account, openedAt: seen.openedAt },
  wanted: null,
  refusal: null,
  toldAt: null,
  version: 0,
  createdAt: now(),
  ...standingOf(seen),
})

/** Adds the claim once, however often it is listed. @returns whether it is new */
const add = (deps: AdvanceDeps, claim: OwnClaim): Promise<boolean> => {
  const { sql, emit, now } = deps
  return sql.begin(async (tx) => {
    const due = dueOf(claim, now())
    if (claim.role === 'claimer' || isEnded(claim.status)) {
      const isNew = await addClaim(tx, claim, due)
      if (isNew && hasGivenUp(claim)) await releaseKey(tx, claim, claim.modifiedAt ?? now())
      return isNew
    }
    // As if we had seen it while it was open; what it has become since then follows.
    const opened = { ...claim, status: 'open', confirmReason: null, modifiedAt: null } as const
    if (!(await addClaim(tx, opened, due))) return false
    await emit(tx, [claimEvent(opened, 'dict.claim.received')])
    if (claim.status !== 'open') await writeClaim(tx, deps, opened, claim)
    return true
  })
}
