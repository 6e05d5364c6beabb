import { type Queryable, uuidBound } from '#src/platform/database/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import { operationMoment, resolvedByHand } from '../messages/index.ts'
import type { PaymentMessage } from './domain.ts'

/** A payment has few messages: itself, its answers, and three for each of its returns. */
export const paymentMessagesMax = 1_000

/**
 * The messages that name an EndToEndId, in the order of their ids, one more than {@link paymentMessagesMax} if there are
 * more. No message of a payment is older than the moment in its id, but for the tolerance of the clocks.
 */
export const messagesOfPayment = (
  sql: Queryable,
  endToEndId: string,
): Promise<readonly PaymentMessage[]> => {
  const moment = operationMoment(endToEndId)
  const isPast = moment !== undefined && moment.getTime() < Date.now()
  const since = uuidBound(isPast ? new Date(moment.getTime() - dayMs) : new Date(0))
  return sql<PaymentMessage[]>`
    select t.message_id as "messageId", t.position, m.type, m.direction,
      m.status as "messageStatus", m.error_code is not distinct from ${resolvedByHand} as "isResolved",
      m.signature, t.instruction_id as "instructionId",
      t.amount_cents as "amountCents", t.debtor_ispb as "debtorIspb",
      t.creditor_ispb as "creditorIspb", t.status, t.reason, t.settled_at as "settledAt",
      h.at as "changedAt", h.detail
    from (
        select * from spi_transactions where end_to_end_id = ${endToEndId} and message_id >= ${since}::uuid
        order by end_to_end_id, message_id limit ${paymentMessagesMax + 1}
      ) t
      cross join lateral (
        select type, direction, status, signature, error_code from spi_messages
        where id = t.message_id limit 1
      ) m
      left join lateral (
        select at, detail from spi_history
        where message_id = t.message_id and m.direction = 'OUTBOUND' and status = m.status
          and repetition is null
        order by message_id, position desc limit 1
      ) h on true
    order by t.message_id, t.position`
}

/** Locks a received payment until the transaction ends, so that its returns are added up one after the other. */
export const lockPayment = async (
  tx: Queryable,
  { messageId, position }: { readonly messageId: string; readonly position: number },
): Promise<void> => {
  await tx`
    select from spi_transactions where message_id = ${messageId}::uuid and position = ${position}
    for update`
}
