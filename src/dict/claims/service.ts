import { randomUUID } from 'node:crypto'
import type { ClaimType, KeyType } from '#codecs/dict'
import {
  type Actor,
  ApiError,
  type Caller,
  httpErrors,
  refusedValue,
  runOnce,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { EntryContent } from '../entries/domain.ts'
import { dictErrors } from '../errors.ts'
import type { Advance, AdvanceDeps, Advanced } from './advance.ts'
import { writeClaim } from './changes.ts'
import { isDone, type OwnClaim, possibleFrom, reasonsFor, type Wish } from './domain.ts'
import { addClaim, type ClaimFilter, findClaim, listClaims } from './store.ts'

type NewClaim = {
  readonly type: ClaimType
  readonly keyType: KeyType
  readonly key: string
  readonly content: EntryContent
}

export type ClaimService = {
  /** @throws ApiError if we claim the key already, or the directory refuses */
  readonly open: (asked: NewClaim, caller: Caller, actor: Actor) => Promise<Advanced>
  /** @throws ApiError if the claim does not allow it, or the directory refuses */
  readonly act: (id: string, wish: Wish, actor: Actor) => Promise<Advanced>
  readonly find: (id: string) => Promise<OwnClaim>
  readonly list: (filter: ClaimFilter) => Promise<readonly OwnClaim[]>
}

/**
 * Claims to keys. Each wish is stored before the directory is told, and holds until the directory has done it or
 * refused; see {@link createAdvance}.
 */
export const createClaimService = (deps: AdvanceDeps, advance: Advance): ClaimService => {
  const { sql, now, quietMs } = deps
  const quietUntil = (): Date => new Date(now().getTime() + quietMs)
  const found = async (id: string): Promise<OwnClaim> => {
    const claim = await findClaim(sql, id)
    if (claim === undefined) throw new ApiError(httpErrors.not_found, 'No such claim.')
    return claim
  }
  return {
    open: async (asked, caller, actor) => {
      const { body: id } = await runOnce(sql, caller.idempotencyKey, async (tx) => {
        const claim = newClaim(asked, caller.keyId, now())
        if (!(await addClaim(tx, claim, quietUntil()))) {
          throw new ApiError(dictErrors.dict_claim_exists, 'The key is claimed already.')
        }
        const act = { action: 'dict.claim', object: claim.id, outcome: asked.type } as const
        await writeAudit(tx, { actor, ...act })
        return { status: 201, body: claim.id }
      })
      const claim = await found(id)
      if (claim.status === 'refused') throw refused(claim.refusal ?? '')
      return claim.status === 'opening' ? orThrow(await advance(claim)) : { claim, isDone: true }
    },
    act: async (id, wish, actor) => {
      const claim = await sql.begin(async (tx) => {
        const before = await findClaim(tx, id)
        if (before === undefined) throw new ApiError(httpErrors.not_found, 'No such claim.')
        if (isDone(wish, before.status) || isSame(wish, before.wanted)) return before
        const wanting = wantingOf(before, wish, now())
        const from = possibleFrom(before, wish) ?? now()
        const due = new Date(Math.max(from.getTime(), quietUntil().getTime()))
        if (!(await writeClaim(tx, deps, before, wanting, due))) {
          throw impossible(before, 'Something else happened to the claim at the same time.')
        }
        const outcome = 'reason' in wish ? `${wish.act} ${wish.reason}` : wish.act
        await writeAudit(tx, { actor, action: 'dict.claim.act', object: id, outcome })
        return { ...wanting, version: before.version + 1 }
      })
      return orThrow(await advance(claim))
    },
    find: found,
    list: (filter) => listClaims(sql, filter),
  }
}

const newClaim = (asked: NewClaim, createdBy: string, createdAt: Date): OwnClaim => ({
  ...{ ...asked, id: randomUUID(), claimId: null, createdBy, role: 'claimer', status: 'opening' },
  ...{ counterparty: null, wanted: { act: 'open' }, refusal: null, toldAt: null, modifiedAt: null },
  ...{ resolutionEndsAt: null, completionEndsAt: null, confirmReason: null, cancelReason: null },
  ...{ cancelledBy: null, version: 0, createdAt },
})

const isSame = (wish: Wish, wanted: Wish | null): boolean =>
  wanted !== null && JSON.stringify(wish) === JSON.stringify(wanted)

/** @throws ApiError */
const wantingOf = (before: OwnClaim, wish: Wish, now: Date): OwnClaim => {
  const { wanted } = before
  // Nobody was told yet of what waits for its day.
  const waitsFrom = wanted && possibleFrom(before, wanted)
  const isWaiting = waitsFrom !== null && waitsFrom > now
  if (wanted !== null && !isWaiting) {
    throw impossible(before, `The directory has not answered yet: ${wanted.act}.`)
  }
  const from = possibleFrom(before, wish)
  if (from === null)
    throw impossible(before, `The claim is ${before.status}, and we are its ${before.role}.`)
  if (wish.act === 'confirm' || wish.act === 'cancel') {
    const reasons = reasonsFor(before, wish.act)
    if (!reasons.includes(wish.reason)) {
      const message = `must be one of ${reasons.join(', ')}`
      throw refusedValue([{ pointer: '/reason', rule: 'enum', message }])
    }
    if (from > now) throw impossible(before, 'The period has not ended.', from)
  }
  return { ...before, wanted: wish, refusal: null }
}

const impossible = ({ status, role, wanted }: OwnClaim, message: string, from?: Date): ApiError =>
  new ApiError(dictErrors.dict_claim_not_possible, message, {
    details: {
      ...{ claim_status: status, role, pending: wanted?.act ?? null },
      possible_from: from?.toISOString() ?? null,
    },
  })

const refused = (code: string, status?: number): ApiError =>
  new ApiError(
    dictErrors.dict_refused,
    `The directory answers ${[status, code].join(' ').trim()}.`,
    { details: { directory_code: code } },
  )

/** @throws ApiError if the directory refused */
const orThrow = (advanced: Advanced): Advanced => {
  if (advanced.refused === undefined) return advanced
  throw refused(advanced.refused.code, advanced.refused.status)
}
