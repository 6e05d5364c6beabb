import type { Claim } from '#codecs/dict'
import type { Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { DirectoryAwayError, orAway } from '../exchange.ts'
import { searchList } from '../following.ts'
import { askedLater, isForLater, type Refused } from '../wire.ts'
import { type ClaimCalls, claimPagesMax, overlapMs } from './calls.ts'
import { type ChangeDeps, enterClaimed, writeClaim, writeSeen } from './changes.ts'
import {
  afterSeeing,
  claimMoves,
  dueOf,
  isDone,
  isEnded,
  isOf,
  type OwnClaim,
  possibleFrom,
  settled,
  standingOf,
  type Wish,
} from './domain.ts'
import { changeClaim, findClaim, findKnown, postponeClaim } from './store.ts'

export type AdvanceDeps = ChangeDeps & {
  readonly calls: ClaimCalls
  /** How long after a request we ask again: by then the first caller no longer waits for the directory. */
  readonly quietMs: number
  readonly logger: Logger
}

/** What became of it; one that is not `isDone` is asked for until the directory answers. */
export type Advanced = {
  readonly claim: OwnClaim
  readonly isDone: boolean
  /** Why the directory did not do it. */
  readonly refused?: Refused | undefined
}

/** Where a rule has us ask and the directory refuses, we try again after this time. */
const refusedMs = 600_000
/** The directory's list may lack a claim younger than this, so until then its absence proves nothing. */
const listedAfterMs = 10_000
/**
 * We do not send an opening that we noted longer ago: another process will find it unlisted and ask in our place, and
 * the claim that it makes may have ended before our request arrives.
 */
const sentWithinMs = 2_000
/** By the directory's clock it is too early: ours runs ahead. */
const tooEarly: ReadonlySet<string> = new Set([
  'ClaimResolutionPeriodNotEnded',
  'ClaimCompletionPeriodNotEnded',
])

const isAskedLater = (refused: Refused): boolean =>
  isForLater(refused) || tooEarly.has(refused.code)

/** Asks the directory for what is wanted of a claim, and writes what it answers. */
export const createAdvance = (deps: AdvanceDeps) => {
  const { sql, now, quietMs, logger } = deps
  return async (before: OwnClaim, round?: Round): Promise<Advanced> => {
    const { wanted } = before
    if (wanted === null || isEnded(before.status)) return { claim: before, isDone: true }
    const from = possibleFrom(before, wanted)
    if (from !== null && from > now()) return { claim: before, isDone: false }
    const told = await orAway(tell(deps, before, wanted, round))
    if (told === undefined || told instanceof DirectoryAwayError) {
      logger.info({ claim: before.id, act: wanted.act }, 'the directory is asked again later')
      await postponeClaim(sql, before, new Date(now().getTime() + quietMs))
      return { claim: before, isDone: false }
    }
    const isWritten = await sql.begin(async (tx) => {
      const { base, after, refused } = told
      const isTriedAgain = refused !== undefined && !isEnded(after.status)
      const due = isTriedAgain ? new Date(now().getTime() + refusedMs) : undefined
      if (!(await writeClaim(tx, deps, base, after, due))) return false
      if (told.ownedSince !== undefined) {
        await enterClaimed(tx, told.after, told.ownedSince, now())
      }
      return true
    })
    // Another process has told it, too: the directory did it once.
    const claim = isWritten ? told.after : ((await findClaim(sql, before.id)) ?? told.after)
    return { claim, isDone: claim.wanted === null, refused: isWritten ? told.refused : undefined }
  }
}

export type Advance = ReturnType<typeof createAdvance>

type Told = {
  /** The claim as it was when we asked the directory. */
  readonly base: OwnClaim
  readonly after: OwnClaim
  readonly ownedSince?: string | undefined
  readonly refused?: Refused
}

/** @returns undefined: it is asked later. @throws DirectoryAwayError: nothing is known */
const tell = async (
  deps: AdvanceDeps,
  before: OwnClaim,
  wanted: Wish,
  round?: Round,
): Promise<Told | undefined> => {
  const { claimId } = before
  if (wanted.act === 'open' || claimId === null) return tellOpening(deps, before, round)
  const answer = await deps.calls.act(claimId, wanted, before.id)
  if (answer.kind === 'told') {
    demandSame(deps, before, answer.claim)
    const { claim, ownedSince } = answer
    // We take over what the directory tells, even if it jumps over states that we never saw.
    return { base: before, after: settled({ ...before, ...standingOf(claim) }), ownedSince }
  }
  if (isAskedLater(answer)) return undefined
  return afterRefusal(deps, before, wanted, answer)
}

/** An earlier request, whose answer was lost, may have done what is refused now; or the other side was faster. */
const afterRefusal = async (
  deps: AdvanceDeps,
  before: OwnClaim,
  wanted: Wish,
  refused: Refused,
): Promise<Told | undefined> => {
  const answer = await deps.calls.find(before.claimId ?? '')
  if (answer.kind === 'refused') {
    return isAskedLater(answer) ? undefined : { base: before, ...refusedTo(before, refused) }
  }
  demandSame(deps, before, answer.claim)
  const seen = { ...before, ...standingOf(answer.claim) }
  const isBack = seen.status !== before.status && !claimMoves[before.status].includes(seen.status)
  const after = isBack ? before : seen
  // A completion under another RequestId made an entry that our book lacks; the check of the sets shows it.
  if (isDone(wanted, after.status) && wanted.act !== 'complete') {
    return { base: before, after: settled(after) }
  }
  return { base: before, ...refusedTo(after, refused) }
}

const refusedTo = (claim: OwnClaim, refused: Refused) => ({
  after: { ...claim, wanted: null, refusal: refused.code },
  refused,
})

const demandSame = ({ ispb }: AdvanceDeps, claim: OwnClaim, seen: Parameters<typeof isOf>[1]) => {
  if (isOf(claim, seen, ispb)) return
  throw new DirectoryAwayError('document', 'the answer is about another claim')
}

/**
 * A claim has no RequestId, so asking twice could make two, one after the other. Until we know what became of the
 * first request, we look for the claim before we ask again.
 */
const tellOpening = async (
  deps: AdvanceDeps,
  before: OwnClaim,
  round?: Round,
): Promise<Told | undefined> => {
  const { sql, calls, now, quietMs } = deps
  const { toldAt, content, type, keyType, key } = before
  if (content === null) throw new Error('a claim of ours has a claimer')
  const sinceToldMs = now().getTime() - (toldAt?.getTime() ?? 0)
  if (toldAt !== null) {
    if (sinceToldMs < listedAfterMs) return undefined
    const { found, isWhole } = await findOpened(deps, before, round)
    // A list that was not read to its end proves nothing.
    if (found !== undefined || !isWhole) return found
  }
  const told = { ...before, toldAt: now() }
  const due = new Date(now().getTime() + quietMs)
  if (!(await changeClaim(sql, before, told, due))) return undefined
  if (now().getTime() - told.toldAt.getTime() > sentWithinMs) return undefined
  const base = { ...told, version: before.version + 1 }
  const { owner: claimer, account, openedAt } = content
  const answer = await calls.open({ type, keyType, key, account, openedAt, claimer })
  if (answer.kind === 'told') {
    demandSame(deps, base, answer.claim)
    const after = afterSeeing(base, answer.claim)
    return after && { base, after }
  }
  if (isAskedLater(answer)) return undefined
  if (toldAt !== null && answer.code === existsAlready && sinceToldMs <= overlapMs) {
    // It may be ours, if the list was late. This request has made no claim, so the one before it still counts.
    await changeClaim(sql, base, { ...base, toldAt }, due)
    return undefined
  }
  const { after, refused } = refusedTo(base, answer)
  return { base, after: { ...after, status: 'refused' }, refused }
}

/** The directory's name for why it opens no second claim to a key, whoever made the first. */
const existsAlready = 'ClaimAlreadyExistsForKey'
/** How far the two clocks may differ. */
const skewMs = 300_000

const findOpened = async (
  deps: AdvanceDeps,
  before: OwnClaim,
  round?: Round,
): Promise<{ readonly found?: Told; readonly isWhole: boolean }> => {
  const { sql, ispb, calls, logger, now } = deps
  const opened: Claim[] = []
  const isWhole = await searchList(sql, calls.list('claimer'), {
    // Any request since then may have made it.
    from: new Date(before.createdAt.getTime() - skewMs),
    overlapMs,
    isKnown: async (id) => (await findKnown(sql, id, 'claimer')) !== undefined,
    nowMs: now().getTime(),
    logger,
    pagesMax: claimPagesMax,
    round,
    take: async (claims) => {
      opened.push(...claims.filter((seen) => isSameOpening(before, seen, ispb)))
    },
  })
  for (const seen of opened) {
    const known = await findKnown(sql, seen.id, 'claimer')
    const after = known === undefined ? afterSeeing(before, seen) : undefined
    if (after !== undefined) return { found: { base: before, after }, isWhole }
  }
  return { isWhole }
}

/** Whether the claim is what we asked to open. */
export const isSameOpening = (
  claim: OwnClaim,
  seen: Parameters<typeof isOf>[1],
  ispb: string,
): boolean =>
  isOf(claim, seen, ispb) &&
  claim.content?.owner.taxIdNumber === seen.claimer.taxIdNumber &&
  claim.content.account.accountNumber === seen.account.accountNumber

/** Looks at a claim of which we have heard nothing for long. @throws DirectoryAwayError: nothing is known */
export const lookAt = async (deps: AdvanceDeps, claim: OwnClaim): Promise<void> => {
  if (claim.claimId === null) return
  const answer = await deps.calls.find(claim.claimId)
  if (answer.kind === 'refused' && isForLater(answer)) throw askedLater(answer)
  const isRead = answer.kind === 'told' && isOf(claim, answer.claim, deps.ispb)
  if (isRead && (await writeSeen(deps, claim, answer.claim)) !== undefined) return
  await postponeClaim(deps.sql, claim, dueOf(claim, deps.now()))
}
