/**
 * What infraction reports and refund requests have alike: two institutions, one of which asks, a state that the
 * directory keeps, and what we want of it and have no answer to yet.
 */
import type { disputeRoles, disputeStatuses } from '#src/events/index.ts'
import type { AgeFilter } from '../pages.ts'
import type { DisputeRow } from '../types.ts'

export type DisputeStatus = (typeof disputeStatuses)[number]
export type DisputeRole = (typeof disputeRoles)[number]

/** What may be done to one: by whom, in which states, and what it becomes. */
type Act = {
  readonly by: DisputeRole
  readonly from: readonly DisputeStatus[]
  readonly to: DisputeStatus
}

/** The states that one may have next. */
type Machine = Readonly<Partial<Record<DisputeStatus, readonly DisputeStatus[]>>>

export type DisputeKind = 'infraction' | 'refund'

/** @property act what is asked for, with the members that it has */
export type Wanted = { readonly act: string }

export type Dispute<Content = unknown, W extends Wanted = Wanted> = Omit<
  DisputeRow,
  'content' | 'wanted'
> & { readonly content: Content; readonly wanted: W | null }

/** Whether a state leads to another one, by however many steps that we have not seen. */
const leadsTo = (machine: Machine, from: DisputeStatus, to: DisputeStatus): boolean =>
  (machine[from] ?? []).some((next) => next === to || leadsTo(machine, next, to))

/** What the directory shows. */
export type Seen<Content> = {
  readonly directoryId: string
  readonly role: DisputeRole
  readonly other: string
  readonly status: DisputeStatus
  readonly transactionId: string
  readonly reason: string
  readonly content: Content
  readonly returnId: string | null
  readonly createdAt: Date
  readonly modifiedAt: Date
}

type Outcome = { readonly result: string | null } & Readonly<Record<string, string | null>>

export type Kind<Content> = {
  readonly kind: DisputeKind
  readonly machine: Machine
  readonly acts: Readonly<Record<string, Act>>
  /** The directory's name for an act that the state does not allow. */
  readonly refusalOfLost: string
  /** How it ended; null: the directory does not show that. */
  readonly outcomeOf: (content: Content) => Outcome
  /** How an act is to end it; undefined: it has one way alone. */
  outcomeWanted(wanted: Wanted): Outcome | undefined
  /** Whether what must never change is the same. */
  readonly isSameMatter: (one: Content, other: Content) => boolean
}

/** Whether an act has come about, and with the outcome that was wanted, as far as it is shown. */
export const isAsWanted = <C>(
  { acts, outcomeOf, outcomeWanted }: Kind<C>,
  { status, content }: Pick<Dispute<C>, 'status' | 'content'>,
  wanted: Wanted,
): boolean => {
  const shown = outcomeOf(content)
  const isOutcome = Object.entries(outcomeWanted(wanted) ?? {}).every(
    ([name, value]) => (shown[name] ?? value) === value,
  )
  return status === acts[wanted.act]?.to && isOutcome
}

/**
 * What becomes of a dispute by what the directory shows of it.
 *
 * @returns the dispute as it was: nothing is new. Undefined: it cannot be true, and changes nothing
 */
export const shownAs = <C>(
  kind: Kind<C>,
  before: Dispute<C>,
  seen: Seen<C>,
): Dispute<C> | undefined => {
  const { machine, acts, refusalOfLost, isSameMatter } = kind
  const isSame =
    before.transactionId === seen.transactionId &&
    before.reason === seen.reason &&
    before.role === seen.role &&
    (before.other ?? seen.other) === seen.other &&
    isSameMatter(before.content, seen.content)
  if (!isSame) return undefined
  const isOld = before.modifiedAt !== null && before.modifiedAt >= seen.modifiedAt
  if (before.status === seen.status) {
    if (isOld) return before
  } else if (!leadsTo(machine, before.status, seen.status)) {
    // What a list tells late was true once.
    return isOld ? before : undefined
  }
  const { wanted } = before
  const act = wanted === null ? undefined : acts[wanted.act]
  const isMoot = act !== undefined && !act.from.includes(seen.status)
  const isLost = isMoot && wanted !== null && !isAsWanted(kind, seen, wanted)
  return {
    ...before,
    directoryId: seen.directoryId,
    other: seen.other,
    status: seen.status,
    content: seen.content,
    modifiedAt: seen.modifiedAt,
    returnId: before.role === 'asked' ? before.returnId : seen.returnId,
    wanted: isMoot ? null : wanted,
    refusal: isLost ? refusalOfLost : before.status === seen.status ? before.refusal : null,
  }
}

/** The statuses in which the side that is asked has yet to answer. */
export const unansweredStatuses = [
  'open',
  'acknowledged',
] as const satisfies readonly DisputeStatus[]

export const isUnanswered = (status: DisputeStatus): boolean =>
  unansweredStatuses.some((one) => one === status)

/** Whether a person decides: the directory asks for no other answer than ours. */
export const needsPerson = ({ role, status, wanted }: Dispute): boolean =>
  wanted === null && role === 'asked' && isUnanswered(status)

/** Which of them a page shows, newest first. */
export type DisputeFilter = AgeFilter<DisputeRole, DisputeStatus> & {
  readonly transactionId: string | undefined
}
