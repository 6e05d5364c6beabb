import { type Queryable, textArray, uuidBound } from '#src/platform/database/index.ts'
import type { MessageStatus } from '../../messages/index.ts'
import { refusedStatuses, type TransactionAnswer } from './answers.ts'

/** A sent transaction that an answer is about. */
export type AnsweredTransaction = {
  /** Position in the list of answers. */
  readonly place: number
  readonly messageId: string
  readonly position: number
  readonly type: string
  /** What an earlier answer said; where our own message is an answer, what it says. */
  readonly status: string | null
}

/** An answer comes within hours, for a schedule within weeks: we do not search older partitions. */
const answeredWithinDays = 45
const dayMs = 86_400_000

/** Finds the sent transactions that the answers are about, in one statement. Locks nothing. */
export const findAnswered = async (
  tx: Queryable,
  answers: readonly TransactionAnswer[],
  now: Date,
): Promise<readonly AnsweredTransaction[]> => {
  const rows = answers.map(({ types, endToEndId, instructionId }, place) => ({
    place,
    types,
    endToEndId,
    instructionId,
  }))
  const since = uuidBound(new Date(now.getTime() - answeredWithinDays * dayMs))
  return tx<AnsweredTransaction[]>`
    select answer.place, t.message_id as "messageId", t.position, m.type, t.status
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as answer(
        place int, types text[], "endToEndId" text, "instructionId" text)
      join spi_transactions t on t.end_to_end_id = answer."endToEndId"
        and t.message_id >= ${since}::uuid
      join spi_messages m on m.id = t.message_id and m.id >= ${since}::uuid
    where m.direction = 'OUTBOUND' and m.type = any(answer.types)
      and (m.type not in ('pacs.004', 'pacs.002') or t.instruction_id = answer."instructionId")
    order by answer.place`
}

/** A message that this institution has sent, as events describe it. */
export type SentMessage = {
  readonly id: string
  readonly type: string
  readonly status: MessageStatus
  readonly channel: string | null
  readonly endToEndId: string | null
  readonly bizMsgIdr: string | null
}

/** Locks nothing. */
export const findSent = async (
  tx: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SentMessage>> => {
  const rows = await tx<SentMessage[]>`
    select id, type, status, channel, end_to_end_id as "endToEndId", biz_msg_idr as "bizMsgIdr"
    from spi_messages where id = any(${textArray(ids)}::text::uuid[])`
  return new Map(rows.map((row) => [row.id, row]))
}

/** How many transactions of a sent message have an answer. */
export type Progress = {
  readonly messageId: string
  readonly transactions: number
  readonly answered: number
  readonly refused: number
}

export type AnsweredStatus = {
  readonly messageId: string
  readonly position: number
  readonly status: string
}

/** Locks sent messages until the transaction ends, in the order that all writers keep. */
export const lockSent = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  await tx`
    select 1 from spi_messages where id = any(${textArray(ids)}::text::uuid[]) order by id for update`
}

/**
 * Writes the statuses of sent transactions and counts how many transactions of their messages have an answer. The
 * caller has locked the messages: of two answers to one message, the later must count the earlier.
 */
export const writeTransactionStatuses = async (
  tx: Queryable,
  statuses: readonly AnsweredStatus[],
): Promise<readonly Progress[]> => {
  const ids = textArray([...new Set(statuses.map(({ messageId }) => messageId))])
  await tx`
    update spi_transactions t set status = answer.status
    from jsonb_to_recordset(${JSON.stringify(statuses)}::text::jsonb)
      as answer("messageId" uuid, position int, status text)
    where t.message_id = answer."messageId" and t.position = answer.position
      and (t.status is null or t.status = 'ACSP')`
  return tx<Progress[]>`
    select message_id as "messageId", count(*)::int as transactions, count(status)::int as answered,
      count(*) filter (where status = any(${textArray(refusedStatuses)}::text::text[]))::int as refused
    from spi_transactions where message_id = any(${ids}::text::uuid[]) group by message_id`
}
