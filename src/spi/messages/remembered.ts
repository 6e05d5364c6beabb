import type { Emit } from '#src/events/index.ts'
import { constants, looksLikeOne, type Queryable, textArray } from '#src/platform/database/index.ts'
import type { Receivables } from '../in/worker/received.ts'
import { type Fact, isAsking } from '../recurring/domain.ts'
import { applyFacts, refusalsBy } from '../recurring/project.ts'
import {
  isTrusted,
  type MessageOutcome,
  type MessageStatus,
  resolvedByHand,
  type StatusChange,
  trustedVerdicts,
} from './domain.ts'
import { statusEvent } from './events.ts'
import { refundEvents } from './refunds.ts'
import {
  crossedReplies,
  endsByReports,
  ownRefusals,
  repliedParts,
  replyType,
  reportedReplies,
} from './replies.ts'
import { changeStatuses } from './store.ts'

/*
 * An answer may arrive before what it is about is recorded. When the SPI could not read a message, its refusal cites the
 * PI-ResourceId, and the process that sent the message may not have recorded that id yet. The SPI may have reported on a
 * received payment before our reply to it is made, or before a second one is. Whoever comes second, the record of the
 * sending or the answer, joins the two in its own transaction; only if both commit at the same moment, neither sees the
 * other, and a rare look joins them.
 */

/** An answer about something that we do not know yet. */
type PendingAnswer = {
  /** The id of the received message that holds it. */
  readonly messageId: string
  /** What it cites: a PI-ResourceId. */
  readonly reference: string
  readonly outcome: MessageOutcome
  readonly reason: string | undefined
}

/** A message that this institution has sent, as events describe it. */
export type SentMessage = {
  readonly id: string
  readonly type: string
  readonly status: MessageStatus
  readonly channel: string | null
  readonly endToEndId: string | null
  readonly bizMsgIdr: string | null
  /** A person has told its end. */
  readonly isResolved?: boolean | undefined
}

/** Locks nothing. */
export const findSent = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SentMessage>> => {
  const rows = await sql<SentMessage[]>`
    select message.* from unnest(${textArray(ids)}::text::uuid[]) as wanted(id)
      cross join lateral (
        select id, type, status, channel, end_to_end_id as "endToEndId", biz_msg_idr as "bizMsgIdr",
          error_code is not distinct from ${resolvedByHand} as "isResolved"
        from spi_messages where id = wanted.id limit 1
      ) message`
  return new Map(rows.map((row) => [row.id, row]))
}

/** An answer that took effect later than it came. */
export type LateAnswer = { readonly change: StatusChange; readonly sent: SentMessage }

/** Who learns what ended by an answer that took effect later than it came. */
export type LateDeps = {
  readonly emitEvents: Emit
  /** Undefined: no recurrence is of anybody whom we know. */
  readonly recurrences?:
    | {
        readonly told: (tx: Queryable, facts: readonly Fact[], at: Date) => Promise<unknown>
      }
    | undefined
  /** Undefined: no payment is owed to anybody whom we know. */
  readonly receivables?: Pick<Receivables, 'end'> | undefined
}

/** Answers that one transaction applies, and answers that cite one PI-ResourceId. */
const appliedMax = 200
const sameReferenceMax = 32
/** We record a sending within seconds: an answer that still matches nothing after this cites nothing of ours. */
const keptHours = 48
const forgottenMax = 1_000

/** A message of ours whose sending is recorded now. */
type Recorded = {
  readonly id: string
  readonly type: string
  /** PI-ResourceId. */
  readonly resourceId: string
  /** An answer that came before cites it, as the statement has seen that recorded it. */
  readonly isCited: boolean
}

/** Remembers answers about what we do not know yet, and applies those whose subject we know by now. */
export const rememberAnswers = async (
  tx: Queryable,
  answers: readonly PendingAnswer[],
  deps: LateDeps,
): Promise<readonly LateAnswer[]> => {
  if (answers.length === 0) return []
  await tx`
    insert into spi_pending_answers (message_id, reference, outcome, reason)
    select "messageId", reference, outcome, reason
    from json_to_recordset(${JSON.stringify(answers)}::text::json)
      as pending("messageId" uuid, reference text, outcome text, reason text)
    on conflict do nothing`
  return applyCited(
    tx,
    answers.map(({ reference }) => reference),
    deps,
  )
}

/**
 * Applies what is remembered or stored of answers to these messages. Call it in the transaction that records their
 * sending, afterwards.
 */
export const applyRemembered = async (
  tx: Queryable,
  recorded: readonly Recorded[],
  deps: LateDeps,
): Promise<readonly LateAnswer[]> => {
  const cited = recorded.filter(({ isCited }) => isCited).map(({ resourceId }) => resourceId)
  const late = cited.length === 0 ? [] : await applyCited(tx, cited, deps)
  const replies = recorded.filter(({ type }) => type === replyType).map(({ id }) => id)
  if (replies.length === 0) return late
  const parts = await repliedParts(tx, replies)
  const ended = await endMessages(tx, endsByReports(parts), deps)
  await endRefused(tx, parts, deps)
  return [...late, ...ended]
}

/** Tells of payments that we have refused ourselves, of which no report comes; one that has come outweighs that. */
export const endRefused = async (
  tx: Queryable,
  parts: Parameters<typeof ownRefusals>[1],
  { receivables }: LateDeps,
): Promise<void> => {
  if (receivables === undefined) return
  const refused = await ownRefusals(
    tx,
    parts.filter(({ reported }) => reported === null),
  )
  const ends = refused
    .filter(({ endToEndId, instructionId }) => endToEndId === instructionId)
    .map(({ endToEndId, reason }) => ({ endToEndId, returnId: null, isSettled: false, reason }))
  if (ends.length > 0) await receivables.end(tx, ends, new Date())
}

/** Applies remembered answers that cite one of the references, where we know their subject. */
const applyCited = async (
  tx: Queryable,
  references: readonly string[],
  deps: LateDeps,
): Promise<readonly LateAnswer[]> => {
  const due = await tx<Due[]>`
    with due as materialized (
      select p.message_id, p.reference, p.outcome, p.reason, known.id,
        null::text as nothing
      from unnest(${textArray([...new Set(references)].sort())}::text::text[]) as recorded(id)
        cross join lateral (
          select * from spi_pending_answers where reference = recorded.id
          order by reference, message_id limit ${sameReferenceMax} for update skip locked
        ) p
        cross join lateral (${subjectOf(tx)}) known
    ), ${dueTaken(tx)}`
  return endMessages(tx, changesOf(due), deps)
}

/** The message of the PI-ResourceId that the remembered answer `p` cites. */
const subjectOf = (tx: Queryable) => tx`
  select message_id as id from spi_message_keys
  where kind = 'OUTBOUND:ResourceId' and key = p.reference limit 1`

/** Applies what a record and an answer of the same moment have left, and forgets what is too old. */
export const applyCrossed = async (
  tx: Queryable,
  deps: LateDeps,
): Promise<readonly LateAnswer[]> => {
  await tx`
    delete from spi_pending_answers where (message_id, reference) in (
      select message_id, reference from spi_pending_answers
      where created_at < now() - make_interval(hours => ${keptHours})
      order by created_at limit ${forgottenMax})`
  const due = await tx<Due[]>`
    with due as materialized (
      select p.message_id, p.reference, p.outcome, p.reason, known.id,
        null::text as nothing
      from spi_pending_answers p cross join lateral (${subjectOf(tx)}) known
      order by p.created_at limit ${appliedMax} for update of p skip locked
    ), ${dueTaken(tx)}`
  const replies = await reportedReplies(tx, await crossedReplies(tx))
  return endMessages(tx, [...changesOf(due), ...replies], deps)
}

type Due = Omit<PendingAnswer, 'messageId' | 'reference' | 'reason'> & {
  readonly id: string
  readonly reason: string | null
  /** The type of our message; null where it does not matter, as the answer is trusted. */
  readonly type: string | null
  /** The verdict on the answer; null when the message that held it is gone. */
  readonly signature: string | null
}

/**
 * True when an answer ends what it is about: refunds, mandates and charges hang on answers to some types, and take nothing
 * from what nobody whom we trust has signed.
 */
export const isHeeded = (signature: string, type: string | null | undefined): boolean =>
  isTrusted(signature) || (type !== 'pacs.004' && !isAsking(type))

/** At most one for each sent message, because a message has one answer. */
const changesOf = (due: readonly Due[]): readonly StatusChange[] => {
  const changes = new Map<string, StatusChange>()
  for (const { id, outcome, reason, type, signature } of due) {
    if (changes.has(id) || (signature !== null && !isHeeded(signature, type))) continue
    changes.set(id, { id, status: outcome, detail: reason ?? undefined })
  }
  return [...changes.values()]
}

const dueTaken = (tx: Queryable) => tx`
  gone as (
    delete from spi_pending_answers pending using due
    where ${looksLikeOne(tx)} and pending.message_id = due.message_id
      and pending.reference = due.reference
  )
  select id, outcome, reason, signature,
    case when signature not in (${constants(tx, trustedVerdicts)})
      then (select type from spi_messages where id = judged.id limit 1) end as type
  from (
    select *, (select signature from spi_messages where id = due.message_id limit 1) as signature
    from due offset 0
  ) judged
  order by id, message_id`

/** Moves messages of ours, and tells of it and of what ends with them. */
export const endMessages = async (
  tx: Queryable,
  changes: readonly StatusChange[],
  { emitEvents, recurrences }: LateDeps,
): Promise<readonly LateAnswer[]> => {
  if (changes.length === 0) return []
  const moved = await changeStatuses(tx, changes)
  const sent = await findSent(tx, [...moved])
  const applied = changes.flatMap((change) => {
    const message = sent.get(change.id)
    return message === undefined ? [] : [{ change, sent: message }]
  })
  const ended = applied.map(({ change }) => change)
  const typeOf = (id: string) => sent.get(id)?.type
  const refused = await refusalsBy(tx, ended, typeOf)
  // In the order in which the worker locks. A refusal asks for no answer.
  if (refused.length > 0) {
    const facts = refused.map(({ fact }) => fact)
    await recurrences?.told(tx, facts, new Date())
  }
  await emitEvents(tx, [
    ...applied.map((one) => statusEvent(one.sent, one.change)),
    ...(await refundEvents(tx, ended, typeOf)),
    ...(await applyFacts(tx, refused)),
  ])
  return applied
}
