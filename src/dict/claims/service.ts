import { randomUUID } from 'node:crypto'
import type { ClaimType, KeyType } from '#codecs/dict'
import type { Queryable } from '#src/platform/database/index.ts'
import {
  type Answer,
  type Answered,
  ApiError,
  actorOf,
  type Caller,
  httpErrors,
  refusedValue,
  writeAudit,
} from '#src/platform/http/index.ts'
import type { EntryContent } from '../entries/domain.ts'
import { dictErrors } from '../errors.ts'
import { answerOf, askOnce } from '../once.ts'
import { refused } from '../refusals.ts'
import type { Advance, AdvanceDeps, Advanced } from './advance.ts'
import { writeClaim } from './changes.ts'
import { isDoneBy, type OwnClaim, possibleFrom, reasonsFor, type Wish } from './domain.ts'
import { addClaim, type ClaimFilter, findClaim, listClaims } from './store.ts'
import { claimView } from './view.ts'

type NewClaim = {
  readonly type: ClaimType
  readonly keyType: KeyType
  readonly key: string
  readonly content: EntryContent
}

/**
 * Claims to keys. Each wish is stored before the directory is told, and holds until the directory has done it or
 * refused; see {@link createAdvance}.
 */
export const createClaimService = (deps: AdvanceDeps, advance: Advance) => {
  const { sql, now, quietMs } = deps
  const find = async (id: string): Promise<OwnClaim> => (await findClaim(sql, id)) ?? throwNone()
  return {
    /** @throws ApiError if we claim the key already, or the directory refuses */
    open: (asked: NewClaim, caller: Caller): Promise<Answered> => {
      const write = async (tx: Queryable): Promise<string> => {
        const claim = newClaim(asked, caller.keyId, now())
        if (!(await addClaim(tx, claim, new Date(now().getTime() + quietMs)))) {
          throw new ApiError(dictErrors.dict_claim_exists, 'The key is claimed already.')
        }
        const act = { action: 'dict.claim', object: claim.id, outcome: asked.type } as const
        await writeAudit(tx, { actor: actorOf(caller), ...act })
        return claim.id
      }
      return askOnce(sql, caller.idempotencyKey, write, async (id) => {
        const claim = await find(id)
        const isNew = claim.status === 'opening'
        const told = isNew ? await advance(claim) : { claim, isDone: true }
        return answered(told, { act: 'open' }, 201)
      })
    },
    /** @throws ApiError if the claim does not allow it, or the directory refuses */
    act: (id: string, wish: Wish, caller: Caller): Promise<Answered> => {
      const write = async (tx: Queryable): Promise<string> => {
        if (await want(tx, deps, id, wish)) {
          const outcome = 'reason' in wish ? `${wish.act} ${wish.reason}` : wish.act
          const act = { action: 'dict.claim.act', object: id, outcome } as const
          await writeAudit(tx, { actor: actorOf(caller), ...act })
        }
        return id
      }
      return askOnce(sql, caller.idempotencyKey, write, async () => {
        const claim = await find(id)
        const isOver = isDoneBy(wish, claim) || !isSame(wish, claim.wanted)
        return answered(isOver ? { claim, isDone: true } : await advance(claim), wish, 200)
      })
    },
    find,
    list: (filter: ClaimFilter) => listClaims(sql, filter),
  }
}

export type ClaimService = ReturnType<typeof createClaimService>

/** Stores what is wanted of a claim. @returns false: it is done, or asked for already. @throws ApiError */
const want = async (tx: Queryable, deps: AdvanceDeps, id: string, wish: Wish): Promise<boolean> => {
  const before = (await findClaim(tx, id)) ?? throwNone()
  if (isOne(wish, before)) return false
  const now = deps.now()
  const wanting = wantingOf(before, wish, now)
  const fromMs = possibleFrom(before, wish)?.getTime() ?? 0
  const due = new Date(Math.max(fromMs, now.getTime() + deps.quietMs))
  if (await writeClaim(tx, deps, before, wanting, due)) return true
  // Another may have asked for the same.
  if (isOne(wish, (await findClaim(tx, id)) ?? before)) return false
  throw impossible(before, 'Something else happened to the claim at the same time.')
}

/** Whether it is done, or asked for already. */
const isOne = (wish: Wish, claim: OwnClaim): boolean =>
  isDoneBy(wish, claim) || isSame(wish, claim.wanted)

const throwNone = (): never => {
  throw new ApiError(httpErrors.not_found, 'No such claim.')
}

const newClaim = (asked: NewClaim, createdBy: string, createdAt: Date): OwnClaim => ({
  ...asked,
  id: randomUUID(),
  claimId: null,
  createdBy,
  role: 'claimer',
  status: 'opening',
  counterparty: null,
  wanted: { act: 'open' },
  refusal: null,
  toldAt: null,
  modifiedAt: null,
  resolutionEndsAt: null,
  completionEndsAt: null,
  confirmReason: null,
  cancelReason: null,
  cancelledBy: null,
  version: 0,
  createdAt,
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
  if (from === null) throw notOf(before)
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
      claim_status: status,
      role,
      pending: wanted?.act ?? null,
      possible_from: from?.toISOString() ?? null,
    },
  })

/** Its state, or our side, does not allow it. */
const notOf = (claim: OwnClaim): ApiError =>
  impossible(claim, `The claim is ${claim.status}, and we are its ${claim.role}.`)

/** @throws ApiError if the directory refused, whoever told it */
const answered = (
  { claim, isDone: isOver, refused: by }: Advanced,
  wish: Wish,
  status: 200 | 201,
): Answer => {
  if (by !== undefined) throw refused(by.code, by.status)
  if (isOver && !isDoneBy(wish, claim)) {
    throw claim.refusal === null ? notOf(claim) : refused(claim.refusal)
  }
  return answerOf(claimView(claim), isOver, status)
}
