import type { Claim } from '#codecs/dict'
import type { Emit } from '#src/events/index.ts'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import { newEntry, registered } from '../entries/domain.ts'
import { addEntry, findEntry, releaseKey } from '../entries/store.ts'
import { afterSeeing, dueOf, hasGivenUp, type OwnClaim } from './domain.ts'
import { changeClaim } from './store.ts'
import { claimEvent } from './view.ts'

export type ChangeDeps = {
  readonly sql: Client
  readonly ispb: string
  readonly emit: Emit
  readonly now: () => Date
}

/**
 * Writes what has become of a claim, with all that follows from it: its event, and what it means for our own entries.
 *
 * @returns false: another has changed the claim meanwhile
 */
export const writeClaim = async (
  tx: Queryable,
  { emit, now }: ChangeDeps,
  before: OwnClaim,
  after: OwnClaim,
  dueAt?: Date,
): Promise<boolean> => {
  if (!(await changeClaim(tx, before, after, dueAt ?? dueOf(after, now())))) return false
  if (hasGivenUp(after) && !hasGivenUp(before)) {
    await releaseKey(tx, after, after.modifiedAt ?? now())
  }
  if (after.status !== before.status) await emit(tx, [claimEvent(after, 'dict.claim.changed')])
  return true
}

/** The entry that a completion has made, in the transaction of the claim's end. */
export const enterClaimed = async (
  tx: Queryable,
  claim: OwnClaim,
  ownedSince: string,
  now: Date,
): Promise<void> => {
  const { id, keyType, key, content, createdBy } = claim
  if (content === null) return
  // The key may have been ours before, for another owner.
  await releaseKey(tx, claim, farAway)
  const asked = newEntry({ id, keyType, key, content }, createdBy ?? 'directory', now)
  if (await addEntry(tx, registered(asked, key, content, ownedSince))) return
  // A comparison may have found the entry first, under the same RequestId; then we keep what is wanted of it since.
  if ((await findEntry(tx, id)) === undefined) throw new Error('the key has another entry')
}

const farAway = new Date('9999-12-31T00:00:00Z')

/** @returns the claim as it is now; undefined: there was nothing new, or another has changed it meanwhile */
export const writeSeen = async (
  deps: ChangeDeps,
  before: OwnClaim,
  seen: Claim,
): Promise<OwnClaim | undefined> => {
  const after = afterSeeing(before, seen)
  if (after === undefined) return undefined
  const isWritten = await deps.sql.begin((tx) => writeClaim(tx, deps, before, after))
  return isWritten ? after : undefined
}
