import { looksLikeOne, type Queryable } from '#src/platform/database/index.ts'
import {
  endOf,
  type Outcome,
  refusedStatuses,
  replyOutcome,
  resolvedByHand,
  type StatusChange,
} from './domain.ts'
import { endMessages, endRefused, type LateAnswer, type LateDeps } from './remembered.ts'
import { repliedParts, replyType } from './replies.ts'
import { answeredTypes } from './retention.ts'

/** What an answer would say of a payment or return. */
const statusOf = { ACCEPTED: 'ACSC', REJECTED: 'RJCT' } as const satisfies Record<Outcome, string>

type Part = {
  readonly endToEndId: string | null
  /** The RtrId of a return. */
  readonly instructionId: string | null
  readonly status: string | null
  /** It has this end now. */
  readonly isEnded: boolean
}

type End = {
  readonly outcome: Outcome
  readonly detail: string
  readonly errorCode?: string | undefined
}

/**
 * Ends an UNKNOWN message of ours as its answer would have, with what follows from that: of several payments or returns
 * those that have no answer yet. The caller has locked it.
 *
 * @param detail whose word that is: history and events say it, and what is refused is refused so
 * @returns nothing if it was not UNKNOWN
 */
export const endUnknown = async (
  tx: Queryable,
  { id, type }: { readonly id: string; readonly type: string },
  { outcome, detail, errorCode }: End,
  deps: LateDeps,
): Promise<LateAnswer | undefined> => {
  const refusal = outcome === 'REJECTED' ? detail : errorCode
  const parts = answeredTypes.includes(type) ? await endParts(tx, id, outcome, refusal) : []
  const refused = parts.filter(({ status }) => refusedStatuses.includes(status ?? '')).length
  const whole = { id, status: outcome, detail }
  const change: StatusChange =
    parts.length === 0 ? whole : endOf(id, { transactions: parts.length, refused }, [detail])
  const [ended] = await endMessages(tx, [{ ...change, errorCode }], deps)
  if (ended !== undefined && type === replyType) await endUnsettled(tx, id, detail, deps)
  if (ended === undefined || outcome === 'REJECTED' || type !== 'pacs.004') return ended
  // A return that is refused ends with its event.
  const settled = parts.flatMap(({ isEnded, endToEndId, instructionId: returnId }) =>
    isEnded && endToEndId !== null && returnId !== null
      ? [{ endToEndId, returnId, isSettled: true, reason: null }]
      : [],
  )
  await deps.receivables?.end(tx, settled, new Date())
  return ended
}

/**
 * Whether the end of a reply of ours says that nothing has settled that it is about. That something has, only a report
 * tells: a receiver is owed what has settled, and nobody takes that back.
 */
export const saysUnsettled = async (tx: Queryable, id: string, outcome: Outcome) => {
  const parts = await repliedParts(tx, [id])
  return parts.every(({ own }) => replyOutcome(own, 'REJECTED') === outcome)
}

/** Ends the payments that a reply of ours is about, as refused. */
const endUnsettled = async (
  tx: Queryable,
  id: string,
  detail: string,
  deps: LateDeps,
): Promise<void> => {
  const parts = await repliedParts(tx, [id])
  const refused = parts.map((one) => ({ ...one, own: 'RJCT', ownReason: one.ownReason ?? detail }))
  await endRefused(tx, refused, deps)
}

/**
 * Writes the end of each payment or return that has none.
 *
 * @param refusal why it is refused; of what settled it says that a person told so
 */
const endParts = async (
  tx: Queryable,
  id: string,
  outcome: Outcome,
  refusal: string | undefined,
): Promise<readonly Part[]> => {
  const ended = await tx<{ position: number }[]>`
    update spi_transactions set status = ${statusOf[outcome]}, refusal = ${refusal ?? null}
    where message_id = ${id}::uuid and (status is null or status = 'ACSP')
    returning position`
  const parts = await tx<(Omit<Part, 'isEnded'> & { readonly position: number })[]>`
    select position, end_to_end_id as "endToEndId", instruction_id as "instructionId", status
    from spi_transactions where message_id = ${id}::uuid`
  const positions = new Set(ended.map(({ position }) => position))
  return parts.map((part) => ({ ...part, isEnded: positions.has(part.position) }))
}

/** Takes back what a person said of the transactions of messages, which are refused whole. */
export const withdrawEnds = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  await tx`
    update spi_transactions t set status = null, refusal = null
    from json_to_recordset(${JSON.stringify(ids.map((id) => ({ id })))}::text::json)
      as refused(id uuid, nothing text)
    where ${looksLikeOne(tx)} and t.message_id = refused.id and t.refusal = ${resolvedByHand}`
}
