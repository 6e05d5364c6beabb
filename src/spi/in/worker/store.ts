import { looksLikeOne, type Queryable, textArray, uuidBound } from '#src/platform/database/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import { orderTypes } from '../../messages/domain.ts'
import {
  type AnsweredStatus,
  type MessageStatus,
  operationMoment,
  refusedStatuses,
  replyType,
  resolvedByHand,
  type SentMessage,
} from '../../messages/index.ts'
import type { TransactionAnswer } from './answers.ts'

/** A sent transaction that an answer is about. */
export type AnsweredTransaction = {
  /** Position in the list of answers. */
  readonly place: number
  readonly message: SentMessage
  readonly position: number
  /** How many transactions the message has. */
  readonly transactionCount: number
  /** What an earlier answer said; if our own message is an answer, what that says. */
  readonly status: string | null
  /** A person said that, and no answer yet. */
  readonly isTold: boolean
}

/** An answer comes within hours, for a schedule within weeks: we do not search older partitions. */
const answeredWithinDays = 45
/** Messages with one id. Of a payment that is ours the first are its own; each of its returns has two or three more. */
const sameIdMax = 32

type Named = Pick<TransactionAnswer, 'types' | 'endToEndId' | 'instructionId'>

/** Finds the sent transactions that the answers are about. One report may name the same thousands of times. */
export const findAnswered = async (
  tx: Queryable,
  answers: readonly TransactionAnswer[],
  now: Date,
): Promise<readonly AnsweredTransaction[]> => {
  const groups = [
    ...Map.groupBy(
      answers.map((answer, place) => ({ answer, place })),
      ({ answer: { types, endToEndId, instructionId } }) =>
        JSON.stringify([types, endToEndId, instructionId]),
    ).values(),
  ]
  const first = groups.flatMap(([one]) => (one === undefined ? [] : [one.answer]))
  const found = await findDistinct(tx, first, now)
  return found.flatMap((one) => (groups[one.place] ?? []).map(({ place }) => ({ ...one, place })))
}

/** A clock that ran ahead made ids that lie ahead: what it sent has an answer all the same. */
const afterAllIds = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Looks where the date in the id says that the message is, and then, for what is not there or was refused there, in all of
 * the last weeks and ahead. Locks nothing.
 */
const findDistinct = async (
  tx: Queryable,
  answers: readonly Named[],
  now: Date,
): Promise<readonly AnsweredTransaction[]> => {
  const whole = {
    since: uuidBound(new Date(now.getTime() - answeredWithinDays * dayMs)),
    until: afterAllIds,
  }
  const wanted = answers.map(({ types, endToEndId, instructionId }, place) => ({
    place,
    types,
    endToEndId,
    instructionId,
    isOfReturn: types.includes('pacs.004') && instructionId?.startsWith('D') === true,
    ...(windowOf(idOfSent(types, endToEndId, instructionId)) ?? whole),
  }))
  const found = await findWithin(tx, wanted)
  const open = openPlaces(found.filter(({ isNamed }) => isNamed))
  const missing = wanted.filter(({ place, since }) => !open.has(place) && since !== whole.since)
  if (missing.length === 0) return meant(found)
  const late = await findWithin(
    tx,
    missing.map((one) => ({ ...one, ...whole })),
  )
  const again = new Set(late.map(({ place }) => place))
  return meant([...found.filter(({ place }) => !again.has(place)), ...late]).sort(
    (a, b) => a.place - b.place,
  )
}

/** A return is made long after the payment whose EndToEndId it cites; its own id has the date of its making. */
const idOfSent = (
  types: readonly string[],
  endToEndId: string,
  instructionId: string | undefined,
): string => (types.includes('pacs.004') ? (instructionId ?? endToEndId) : endToEndId)

/** The ids that a message may have that was made around the moment that its id tells: a day on each side. */
const windowOf = (id: string): { readonly since: string; readonly until: string } | undefined => {
  const atMs = operationMoment(id)?.getTime()
  if (atMs === undefined) return undefined
  return { since: uuidBound(new Date(atMs - dayMs)), until: uuidBound(new Date(atMs + dayMs)) }
}

type Wanted = Named & {
  readonly place: number
  /** It is found by the id of the return. */
  readonly isOfReturn: boolean
  readonly since: string
  readonly until: string
}

type FoundTransaction = AnsweredTransaction & {
  /** The answer names the message itself, where one that it does not name may be meant. */
  readonly isNamed: boolean
}

type AnsweredRow = Omit<FoundTransaction, 'message'> &
  Omit<SentMessage, 'status'> & { readonly messageStatus: MessageStatus }

const findWithin = async (
  tx: Queryable,
  wanted: readonly Wanted[],
): Promise<readonly FoundTransaction[]> => {
  const rows = await tx<AnsweredRow[]>`
  select answer.place, m.id, t.position, m.type, t.status, m.status as "messageStatus", m.channel,
    t.refusal is not distinct from ${resolvedByHand} as "isTold",
    m.end_to_end_id as "endToEndId", m.biz_msg_idr as "bizMsgIdr",
    m.error_code is not distinct from ${resolvedByHand} as "isResolved",
    m.transaction_count as "transactionCount",
    m.type <> 'camt.055' or t.instruction_id is not distinct from answer."instructionId" as "isNamed"
  from json_to_recordset(${JSON.stringify(wanted)}::text::json) as answer(place int,
      types text[], "endToEndId" text, "instructionId" text, "isOfReturn" boolean, since uuid, until uuid)
    cross join lateral (
      (select message_id, position, status, refusal, end_to_end_id, instruction_id from spi_transactions
        where end_to_end_id = answer."endToEndId" and not answer."isOfReturn"
          and message_id >= answer.since and message_id < answer.until
        order by end_to_end_id, message_id limit ${sameIdMax})
      union all
      (select message_id, position, status, refusal, end_to_end_id, instruction_id from spi_transactions
        where instruction_id = answer."instructionId" and answer."isOfReturn"
          and message_id >= answer.since and message_id < answer.until
        order by instruction_id, message_id limit ${sameIdMax})
    ) t
    cross join lateral (
      select id, type, direction, status, channel, end_to_end_id, biz_msg_idr, transaction_count,
        error_code
      from spi_messages where id = t.message_id limit 1
    ) m
  where m.direction = 'OUTBOUND' and m.type = any(answer.types)
    and t.end_to_end_id = answer."endToEndId"
    and (m.type not in ('pacs.004', 'pacs.002') or t.instruction_id = answer."instructionId")
  order by answer.place`
  return rows.map(
    ({
      place,
      position,
      transactionCount,
      status,
      isTold,
      messageStatus,
      isNamed,
      ...message
    }) => ({
      place,
      position,
      transactionCount,
      status,
      isTold,
      isNamed,
      message: { ...message, status: messageStatus },
    }),
  )
}

/** The transactions that an answer names, or else all that it may be about; refused ones only if all are. */
const meant = (found: readonly FoundTransaction[]): AnsweredTransaction[] => {
  const named = new Set(found.filter(({ isNamed }) => isNamed).map(({ place }) => place))
  const kept = found.filter(({ place, isNamed }) => isNamed || !named.has(place))
  const open = openPlaces(kept)
  return kept
    .filter((one) => !open.has(one.place) || !isRefused(one))
    .map(({ isNamed: _, ...one }) => one)
}

const openPlaces = (found: readonly AnsweredTransaction[]): ReadonlySet<number> =>
  new Set(found.filter((one) => !isRefused(one)).map(({ place }) => place))

/** A refused payment may be sent again under its id; then an answer is about the second message alone. */
const isRefused = ({ message, status }: Omit<AnsweredTransaction, 'place'>): boolean =>
  message.type !== replyType &&
  (message.status === 'REJECTED' ||
    message.status === 'FAILED' ||
    refusedStatuses.includes(status ?? ''))

/** How many transactions of a sent message have an answer. */
export type Progress = {
  readonly messageId: string
  readonly transactions: number
  readonly answered: number
  readonly refused: number
  /** The reasons of those that were refused. */
  readonly reasons: readonly string[]
}

/** The state of a sent message before an answer. */
export type Standing = { readonly status: MessageStatus; readonly errorCode: string | null }

/**
 * Locks sent messages until the transaction ends, in the order that all writers keep.
 *
 * @returns their statuses, which nobody else changes now
 */
export const lockSent = async (
  tx: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Standing>> => {
  const rows = await tx<(Standing & { readonly id: string })[]>`
    select locked.* from unnest(${textArray([...ids].sort())}::text::uuid[]) as wanted(id)
      cross join lateral (
        select id, status, error_code as "errorCode" from spi_messages
        where id = wanted.id limit 1 for update
      ) locked`
  return new Map(rows.map(({ id, ...standing }) => [id, standing]))
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
    update spi_transactions t set status = answer.status, refusal = answer.refusal
    from json_to_recordset(${JSON.stringify(statuses)}::text::json) as answer("messageId" uuid,
      position int, status text, refusal text, nothing text)
    where ${looksLikeOne(tx)} and t.message_id = answer."messageId" and t.position = answer.position
      and (t.status is null or t.status = 'ACSP' or t.refusal = ${resolvedByHand})`
  return tx<Progress[]>`
    select wanted.id as "messageId", progress.*
    from unnest(${ids}::text::uuid[]) as wanted(id)
      cross join lateral (
        select count(*)::int as transactions, count(status)::int as answered,
          count(*) filter (where status = any(${textArray(refusedStatuses)}::text::text[]))::int
            as refused,
          coalesce(jsonb_agg(distinct refusal) filter (where refusal is not null
            and status = any(${textArray(refusedStatuses)}::text::text[])), '[]') as reasons
        from spi_transactions where message_id = wanted.id
      ) progress`
}

/** Returns those of these messages of which the central bank has said that a part settled. The caller has locked them. */
export const settledOf = async (
  tx: Queryable,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await tx<{ id: string }[]>`
    select wanted.id from unnest(${textArray([...new Set(ids)])}::text::uuid[]) as wanted(id)
      cross join lateral (
        select type from spi_messages where id = wanted.id limit 1
      ) m
      cross join lateral (
        select status, refusal from spi_transactions where message_id = wanted.id offset 0
      ) t
    where m.type = any(${textArray(orderTypes)}::text::text[]) and t.status <> 'ACSP'
      and t.status <> all(${textArray(refusedStatuses)}::text::text[])
      and t.refusal is distinct from ${resolvedByHand}`
  return new Set(rows.map(({ id }) => id))
}

/** Notes that the central bank has answered what a person had ended, and means the same or not. */
export const confirmSent = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  if (ids.length === 0) return
  await tx`
    update spi_messages m set error_code = null
    from json_to_recordset(${JSON.stringify(ids.map((id) => ({ id })))}::text::json)
      as confirmed(id uuid, nothing text)
    where ${looksLikeOne(tx)} and m.id = confirmed.id`
}
