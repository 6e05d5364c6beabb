import { codeLists, formatCents } from '#codecs/iso20022'
import type { AppEvent } from '#src/events/index.ts'
import { type Queryable, textArray } from '#src/platform/database/index.ts'
import { reasonOf } from '../reasons.ts'
import { messageOutcomes, type StatusChange } from './domain.ts'

type ReturnRow = {
  readonly messageId: string
  readonly endToEndId: string | null
  readonly id: string | null
  readonly amountCents: bigint | null
  readonly reason: string | null
  readonly status: string | null
  readonly refusal: string | null
}

/**
 * Reports the returns that end with the changes of their messages, each once: a message ends when all of its
 * transactions have an answer. Call it in the transaction of the changes, afterwards.
 *
 * @param typeOf the type of a changed message
 */
export const refundEvents = async (
  tx: Queryable,
  changes: readonly StatusChange[],
  typeOf: (id: string) => string | null | undefined,
): Promise<readonly AppEvent[]> => {
  const ended = new Map(
    changes
      .filter(({ id, status }) => isAnswered(status) && typeOf(id) === 'pacs.004')
      .map((change) => [change.id, change]),
  )
  if (ended.size === 0) return []
  const rows = await tx<ReturnRow[]>`
    select t.* from unnest(${textArray([...ended.keys()])}::text::uuid[]) as wanted(id)
      cross join lateral (
        select message_id as "messageId", end_to_end_id as "endToEndId", instruction_id as id,
          amount_cents as "amountCents", reason, status, refusal
        from spi_transactions where message_id = wanted.id offset 0
      ) t
    order by "messageId"`
  return rows.map((row) => eventOf(row, ended.get(row.messageId)))
}

const isAnswered = (status: string): boolean => messageOutcomes.some((one) => one === status)

const eventOf = (row: ReturnRow, change: StatusChange | undefined): AppEvent => {
  const isRejected = change?.status === 'REJECTED' || row.status === 'RJCT'
  return {
    type: isRejected ? 'pix.refund.rejected' : 'pix.refund.settled',
    subject: row.endToEndId ?? row.messageId,
    data: {
      refund_id: row.id,
      end_to_end_id: row.endToEndId,
      message_id: row.messageId,
      status: isRejected ? 'rejected' : 'settled',
      amount: formatCents(row.amountCents ?? 0n),
      reason: reasonOf(row.reason, codeLists.return_reason, 'OUTBOUND'),
      refusal: isRejected
        ? reasonOf(row.refusal ?? change?.detail, codeLists.status_reason, 'INBOUND')
        : null,
    },
  }
}
