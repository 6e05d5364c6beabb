import type { PendingQuery, Row } from 'postgres'
import { looksLikeOne, type Queryable } from '#src/platform/database/index.ts'
import {
  endOf,
  isUnanswered,
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
  readonly refusal: string | null
  /** It has this end now. */
  readonly isEnded: boolean
}

type End = {
  readonly outcome: Outcome
  readonly detail: string
  readonly errorCode?: string | undefined
  /** Says of a part `t` that it ends so: the message waits for the others. Undefined: each does that has no answer. */
  readonly onlyWhere?: PendingQuery<Row[]> | undefined
}

/**
 * Ends an UNKNOWN message of ours as its answer would have, with what follows from that: of several payments or returns
 * those that have no answer yet. The caller has locked it.
 *
 * @param detail whose word that is: history and events say it, and what is refused is refused so
 * @returns nothing if it was not UNKNOWN, or still waits
 */
export const endUnknown = async (
  tx: Queryable,
  { id, type }: { readonly id: string; readonly type: string },
  { outcome, detail, errorCode, onlyWhere }: End,
  deps: LateDeps,
): Promise<LateAnswer | undefined> => {
  const refusal = outcome === 'REJECTED' ? detail : errorCode
  const parts = answeredTypes.includes(type)
    ? await endParts(tx, id, outcome, refusal, onlyWhere)
    : []
  const change =
    parts.length === 0 ? { id, status: outcome, detail } : endOfParts(id, parts, detail)
  const isOver =
    onlyWhere === undefined ||
    (parts.some(({ isEnded }) => isEnded) && !parts.some(({ status }) => isUnanswered(status)))
  const [ended] = isOver ? await endMessages(tx, [{ ...change, errorCode }], deps) : []
  if (ended !== undefined && type === replyType) await endUnsettled(tx, id, detail, deps)
  if (outcome === 'REJECTED' || type !== 'pacs.004') return ended
  // A return that is refused ends with its event.
  const settled = parts.flatMap(({ isEnded, endToEndId, instructionId: returnId }) =>
    isEnded && endToEndId !== null && returnId !== null
      ? [{ endToEndId, returnId, isSettled: true, reason: null }]
      : [],
  )
  if (settled.length > 0) await deps.receivables?.end(tx, settled, new Date())
  return ended
}

/** Its detail tells why parts are refused, and beside that whose word the end is. */
const endOfParts = (id: string, parts: readonly Part[], source: string): StatusChange => {
  const refused = parts.filter(({ status }) => refusedStatuses.includes(status ?? ''))
  const reasons = refused.flatMap(({ refusal }) => refusal ?? [])
  const change = endOf(id, { transactions: parts.length, refused: refused.length }, reasons)
  if (reasons.includes(source)) return change
  return { ...change, detail: change.detail === undefined ? source : `${change.detail}; ${source}` }
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
  onlyWhere: End['onlyWhere'],
): Promise<readonly Part[]> => {
  const ended = await tx<{ position: number }[]>`
    update spi_transactions t set status = ${statusOf[outcome]}, refusal = ${refusal ?? null}
    where message_id = ${id}::uuid and (status is null or status = 'ACSP')
      and ${onlyWhere ?? tx`true`}
    returning position`
  const parts = await tx<(Omit<Part, 'isEnded'> & { readonly position: number })[]>`
    select position, end_to_end_id as "endToEndId", instruction_id as "instructionId", status, refusal
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
