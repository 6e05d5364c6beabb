import type { Emit } from '#src/events.ts'
import type { Client, Queryable } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { changeStatuses, type StatusChange, statusEvent } from '../../messages/index.ts'
import type { Outcome } from './answers.ts'
import type { MatchedAnswer } from './match.ts'
import type { WorkerMetrics } from './metrics.ts'
import { findSent, type SentMessage } from './store.ts'

/** Answers that one transaction applies. */
const appliedMax = 200
/** We record a sending within seconds: an answer that still matches nothing after this cites nothing of ours. */
const keptHours = 48

/**
 * Remembers answers about a message that we do not know yet. When the SPI could not read a message, its refusal cites
 * the PI-ResourceId, and may arrive before the process that sent the message has recorded that id.
 */
export const rememberAnswers = async (
  tx: Queryable,
  answers: readonly MatchedAnswer[],
): Promise<void> => {
  const rows = answers.flatMap(({ inbound, answer, messageId }) =>
    answer.kind === 'message' && messageId === undefined
      ? [
          {
            messageId: inbound.message.id,
            reference: answer.reference,
            outcome: answer.outcome,
            reason: answer.reason,
          },
        ]
      : [],
  )
  if (rows.length === 0) return
  await tx`
    insert into spi_pending_answers (message_id, reference, outcome, reason)
    select "messageId", reference, outcome, reason
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
      as pending("messageId" uuid, reference text, outcome text, reason text)
    on conflict do nothing`
}

export type PendingDeps = {
  readonly sql: Client
  readonly emitEvents: Emit
  readonly metrics: WorkerMetrics
  readonly logger: Logger
}

type Applied = { readonly change: StatusChange; readonly sent: SentMessage }

/** Applies remembered answers whose PI-ResourceId is recorded by now, and forgets those that are too old. */
export const applyRemembered = async (deps: PendingDeps): Promise<void> => {
  const { sql, emitEvents, metrics, logger } = deps
  await sql`
    delete from spi_pending_answers where created_at < now() - make_interval(hours => ${keptHours})`
  const applied = await sql.begin(async (tx): Promise<readonly Applied[]> => {
    const due = await takeDue(tx)
    if (due.length === 0) return []
    const changes = due.map(({ id, outcome, reason }) => ({
      id,
      status: outcome,
      detail: reason ?? undefined,
    }))
    const moved = await changeStatuses(tx, changes)
    const sent = await findSent(tx, [...moved])
    const effective = changes.flatMap((change) => {
      const message = sent.get(change.id)
      return message === undefined ? [] : [{ change, sent: message }]
    })
    await emitEvents(
      tx,
      effective.map(({ change, sent: message }) => statusEvent(message, change)),
    )
    return effective
  })
  for (const { change, sent } of applied) {
    metrics.onStatusChange(sent.type, change.status)
    const { id, status, detail } = change
    logger.info(
      { id, type: sent.type, biz_msg_idr: sent.bizMsgIdr, status, detail },
      'sent message is answered: the answer had come before its PI-ResourceId was recorded',
    )
  }
}

/** At most one per sent message, because a message has one answer. */
const takeDue = (
  tx: Queryable,
): Promise<
  readonly { readonly id: string; readonly outcome: Outcome; readonly reason: string | null }[]
> => tx`
  with due as materialized (
    select pending.message_id, pending.reference, pending.outcome, pending.reason, known.id
    from spi_pending_answers pending cross join lateral (
      select message_id as id from spi_message_keys
      where kind = 'OUTBOUND:ResourceId' and key = pending.reference limit 1
    ) known
    order by pending.created_at limit ${appliedMax} for update of pending skip locked
  ), gone as (
    delete from spi_pending_answers pending using due
    where pending.message_id = due.message_id and pending.reference = due.reference
  )
  select distinct on (id) id, outcome, reason from due order by id, message_id`
