import type { EmitWithin } from '#src/events/index.ts'
import { jsonArray, looksLikeOne, type Queryable, textArray } from '#src/platform/database/index.ts'
import { answerRows, auditInsert, freeRows } from '#src/platform/http/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { movementJson, movementRows } from '../reconciliation/movements.ts'
import { statusEvent } from './events.ts'
import { fixedMembers, type Members } from './insertion.ts'
import { type CardChange, transactionColumns as columns } from './store.ts'
import { areAmong, type Fragment, type WritePart } from './write-part.ts'

const changing: Members = columns.all.filter((member) => !fixedMembers.includes(member))
/** The members that the answer to an authorization changes, as most steps are such. */
const answered: Members = ['status', 'authCode', 'responseCode', 'details', 'updatedAt']
const unanswered = changing.filter((member) => !answered.includes(member))
const formOf = (members: Members) => ({
  members,
  declared: columns.declared([...new Set([...members, 'claimKey' as const])]),
  assigned: columns.assigned(
    members.filter((member) => member !== 'needsAttention'),
    'i',
  ),
})
const answeredForm = formOf(answered)
const anyForm = formOf(changing)

/**
 * Whether a step changes nothing but what the answer to an authorization does. Until then nothing is captured, given back
 * or raised, so that its status and operation are all of its state; each column that is not declared saves PostgreSQL a
 * microsecond.
 */
const isAnswer = ({ before, after }: CardChange): boolean =>
  before.status === 'pending' && unanswered.every((member) => before[member] === after[member])

const text = (cents: bigint | undefined): string | undefined =>
  cents === undefined ? undefined : String(cents)

/** The state that a step leaves. */
const leftBy = ({ before }: CardChange) => ({
  fromStatus: before.status,
  fromOperation: before.operation,
  fromStan: before.operationStan,
  fromAmount: String(before.amountCents),
  fromCaptured: text(before.capturedCents),
  fromRefunded: text(before.refundedCents),
  fromReversed: text(before.reversedCents),
})

/** The columns of {@link leftBy}, and the condition that the transaction `t` is in that state. */
const leftForms = (sql: Queryable, isAnswered: boolean) =>
  isAnswered
    ? {
        declared: sql`"fromOperation" text`,
        isLeft: sql`t.status = 'pending' and t.operation is not distinct from i."fromOperation"`,
      }
    : {
        declared: sql`"fromStatus" text, "fromOperation" text, "fromStan" text, "fromAmount" bigint,
          "fromCaptured" bigint, "fromRefunded" bigint, "fromReversed" bigint`,
        isLeft: sql`t.status = i."fromStatus"
          and t.operation is not distinct from i."fromOperation"
          and t.operation_stan is not distinct from i."fromStan"
          and t.amount_cents = i."fromAmount"
          and t.captured_cents is not distinct from i."fromCaptured"
          and t.refunded_cents is not distinct from i."fromRefunded"
          and t.reversed_cents is not distinct from i."fromReversed"`,
      }

/** Whether a person is needed from now on; undefined: as before. */
const asksFor = ({ before, after }: CardChange): boolean | undefined =>
  before.needsAttention === after.needsAttention ? undefined : after.needsAttention

const inputOf = (
  change: CardChange,
  members: Members,
  isAnswered: boolean,
  position: number,
  told: object | undefined,
) => {
  const { before, after, answer, audit, movements = [] } = change
  return {
    ...columns.json(after, members),
    // Others may have asked for a person since it was read: a step that has nothing to say of that leaves it as it is.
    needsAttention: asksFor(change),
    id: after.id,
    claimKey: after.claimKey,
    position,
    ...(isAnswered ? { fromOperation: before.operation } : leftBy(change)),
    ...(audit === undefined ? {} : { auditId: newUuid(), audit }),
    told,
    ...(movements.length === 0 ? {} : { movements: movementJson(movements) }),
    answerStatus: typeof answer === 'object' ? answer.status : undefined,
    frees: answer === 'free' ? true : undefined,
  }
}

/** The events of steps, each with the position of its step; text beside the rest costs half of what JSON within JSON does. */
const eventsOf = (changes: readonly CardChange[]) => {
  const all = changes.flatMap(({ events }, position) =>
    events.map((event) => ({ position, event })),
  )
  return {
    positions: textArray(all.map(({ position }) => position)),
    types: jsonArray(all.map(({ event }) => event.type)),
    data: jsonArray(all.map(({ event }) => JSON.stringify(event.data))),
    exchanges: jsonArray(all.map(({ event }) => event.messages && JSON.stringify(event.messages))),
  }
}

/**
 * Steps of transactions, with events, audit entries and the answers of their keys. A transaction that has left the
 * expected state stays as it is.
 *
 * @param condition under which any is changed
 * @param emission tells subscribers of new statuses; undefined if nobody is to be told
 */
export const stepsOf = (
  sql: Queryable,
  changes: readonly CardChange[],
  condition: Fragment,
  emission: Pick<EmitWithin, 'rowOf' | 'ctes'> | undefined,
): WritePart => {
  const first = firstOfEachState(changes)
  const told = first.map(({ before, after }) => {
    const event = emission && statusEvent(before, after)
    return event && emission?.rowOf(event)
  })
  const isAnswered = first.every(isAnswer)
  const { members, declared, assigned } = isAnswered ? answeredForm : anyForm
  const left = leftForms(sql, isAnswered)
  const input = first.map((change, at) => inputOf(change, members, isAnswered, at, told[at]))
  const bodies = first.map(({ answer }) => (typeof answer === 'object' ? answer.body : undefined))
  const { positions, types, data, exchanges } = eventsOf(first)
  // Planned once, a part of the statement costs as much as a row each time it runs, even where it writes nothing.
  const isFreed = first.some(({ answer }) => answer === 'free')
  const isAudited = first.some(({ audit }) => audit !== undefined)
  const isBooked = first.some(({ movements = [] }) => movements.length > 0)
  const ctes = sql`
    mine as (
      update card_transactions t set ${sql(assigned)}, touched_at = now()${
        isAnswered
          ? sql``
          : sql`, needs_attention = coalesce(i."needsAttention", t.needs_attention)`
      }
      from (
        -- The body of the answer is named by its function.
        select * from rows from (
          json_to_recordset(${JSON.stringify(input)}::text::json) as (
            position int, id text, ${left.declared}, ${sql(declared)}, "answerStatus" int
            ${isFreed ? sql`, frees boolean` : sql``}
            ${isAudited ? sql`, "auditId" text, audit json` : sql``}
            ${isBooked ? sql`, movements json` : sql``}
            ${emission === undefined ? sql`` : sql`, told json`}, nothing text),
          unnest(${jsonArray(bodies)}::text::text[])
        ) as i
        where ${looksLikeOne(sql)}
      ) i
      where t.id = i.id and ${left.isLeft} and ${condition}
      returning i.*
    ),
    events as (
      insert into card_events (transaction_id, type, data, exchange, at)
      select m.id, e.type, e.data::jsonb, e.exchange, m."updatedAt"
      from mine m join unnest(
        ${positions}::text::int[], ${types}::text::text[], ${data}::text::text[], ${exchanges}::text::text[]
      ) with ordinality e(position, type, data, exchange, ordinal) on e.position = m.position
      order by e.ordinal
    ),
    answered as (${answerRows(sql, sql`select "claimKey", "answerStatus", "unnest" from mine`)})${
      isFreed
        ? sql`, freed as (${freeRows(sql, sql`select "claimKey" from mine where frees`)})`
        : sql``
    }${
      isAudited
        ? sql`, audited as (${auditInsert(
            sql,
            sql`select "auditId", audit -> 'actor' ->> 'id', audit ->> 'action', audit ->> 'object',
                audit ->> 'outcome', audit -> 'actor' ->> 'requestId'
              from mine where "auditId" is not null`,
          )})`
        : sql``
    }${
      isBooked
        ? sql`, booked as (${movementRows(
            sql,
            sql`select movements from mine where movements is not null`,
          )})`
        : sql``
    }${
      emission === undefined
        ? sql``
        : sql`, ${emission.ctes(sql, sql`select told from mine where told is not null`)}`
    }`
  return {
    ctes,
    written: sql`(select string_agg(position::text, ' ') from mine)`,
    read: (written) => areAmong(changes, first, written),
  }
}

/** Keeps the first of several changes that leave the same state of one transaction. */
const firstOfEachState = (changes: readonly CardChange[]): readonly CardChange[] => {
  if (new Set(changes.map(({ before }) => before.id)).size === changes.length) return changes
  const firsts = new Map<string, CardChange>()
  for (const change of changes) {
    const { id, status, operation = '', operationStan = '' } = change.before
    const { capturedCents = '', refundedCents = '', reversedCents = '' } = change.before
    const sums = `${change.before.amountCents} ${capturedCents} ${refundedCents} ${reversedCents}`
    const state = `${id} ${status} ${operation} ${operationStan} ${sums}`
    if (!firsts.has(state)) firsts.set(state, change)
  }
  return [...firsts.values()]
}
