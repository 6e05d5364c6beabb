/** The other side of a claim: institutions that the simulator plays itself, whenever somebody looks. */
import { randomUUID } from 'node:crypto'
import type { Claim } from '#codecs/dict'
import { putBounded } from '../bounded.ts'
import type { DirectoryClaims } from './claims.ts'
import { entriesMax } from './options.ts'

/** How the institution that keeps a key answers a claim to it. */
export const claimManners = ['confirm', 'cancel', 'silent'] as const
export type ClaimManner = (typeof claimManners)[number]

export const createClaimPlay = (deps: {
  readonly claims: DirectoryClaims
  readonly now: () => number
  /** The time from a claim, or from an act of the other side, to the answer. */
  readonly answerMs: number
}) => {
  const { claims, now } = deps
  /** By key, and the institution that keeps it. */
  const manners = new Map<string, ClaimManner>()
  /** Ids of the claims that were opened here. */
  const own = new Set<string>()

  const answer = (claim: Claim, manner: ClaimManner): void => {
    const { id, donor, type } = claim
    if (claim.status === 'OPEN') claims.acknowledge(id, donor)
    if (claim.status !== 'WAITING_RESOLUTION') return
    const isOwnership = type === 'OWNERSHIP'
    if (manner === 'confirm') claims.confirm(id, donor, 'USER_REQUESTED')
    // The owner of a phone cannot just say no.
    if (manner === 'cancel') claims.cancel(id, donor, isOwnership ? 'FRAUD' : 'USER_REQUESTED')
    if (manner !== 'silent' || now() < Date.parse(claim.resolutionEndsAt)) return
    if (isOwnership) claims.confirm(id, donor, 'DEFAULT_OPERATION')
    else claims.cancel(id, donor, 'DEFAULT_OPERATION')
  }

  const complete = ({ id, status, account, completionEndsAt }: Claim): void => {
    if (status !== 'CONFIRMED') return
    if (completionEndsAt !== undefined && now() < Date.parse(completionEndsAt)) return
    claims.complete(id, account.participant, randomUUID())
  }

  return {
    /** Claims to the key are answered so while that participant keeps it. */
    answerFor: (key: string, participant: string, manner: ClaimManner): void => {
      putBounded(manners, `${key} ${participant}`, manner, entriesMax)
    },
    /** The claim is completed as soon as it may be. */
    completes: (id: string): void => {
      own.add(id)
    },
    /** Does the acts that are due. */
    catchUp: (): void => {
      const going = claims.going()
      const ids = new Set(going.map(({ id }) => id))
      for (const id of own) if (!ids.has(id)) own.delete(id)
      for (const claim of going) {
        if (now() - Date.parse(claim.modifiedAt) < deps.answerMs) continue
        const manner = manners.get(`${claim.key} ${claim.donor}`)
        if (manner !== undefined) answer(claim, manner)
        if (own.has(claim.id)) complete(claim)
      }
    },
  }
}
