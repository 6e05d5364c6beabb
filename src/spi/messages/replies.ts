import { constants, type Queryable, textArray, uuidBound } from '#src/platform/database/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import type { ReceivedEnd } from '../in/worker/received.ts'
import {
  endOf,
  type Outcome,
  replyOutcome,
  type StatusChange,
  settledStatuses,
  trustedVerdicts,
} from './domain.ts'

/*
 * The SPI reports on each payment and return that this institution has received, and its report ends every reply of ours
 * to it: one that was sent before, one that is made afterwards, and a second one.
 */

export const replyType = 'pacs.002'

/** TxSts of a report that ends a payment. */
const reportedOutcomes: ReadonlyMap<string, Outcome> = new Map([
  ...settledStatuses.map((status) => [status, 'ACCEPTED'] as const),
  ['RJCT', 'REJECTED'],
])

/** The SPI reports within the hour; nobody replies to a payment that was reported on this long ago. */
const reportedWithinDays = 7
/** Messages that cite one payment. */
const sameIdMax = 32
/** How long after a reply we still join a report that crossed it, and how many replies we look at. */
const crossedWithinMs = 2 * dayMs
const crossedMax = 5_000

/** One of the transactions that replies of ours are about. */
type Part = {
  readonly id: string
  readonly endToEndId: string | null
  readonly instructionId: string | null
  /** TxSts of our reply. */
  readonly own: string | null
  /** Code of why we refused it. */
  readonly ownReason: string | null
  readonly reported: string | null
  readonly reason: string | null
}

/** What these replies of ours say, and what the SPI has reported of the same. */
export const repliedParts = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<readonly Part[]> => {
  if (ids.length === 0) return []
  return sql<Part[]>`
    select wanted.id, reply.end_to_end_id as "endToEndId", reply.instruction_id as "instructionId",
      reply.status as own, reply.reason as "ownReason", report.status as reported, report.reason
    from unnest(${textArray(ids)}::text::uuid[]) as wanted(id)
      cross join lateral (
        select end_to_end_id, instruction_id, status, reason from spi_transactions
        where message_id = wanted.id offset 0
      ) reply
      left join lateral (${reportOn(sql, Date.now())}) report on true`
}

/** Returns how replies end all of whose payments the SPI has reported on; the others are not among them. */
export const endsByReports = (parts: readonly Part[]): readonly StatusChange[] =>
  [...Map.groupBy(parts, ({ id }) => id)].flatMap(([id, all]) => changeOf(id, all))

export const reportedReplies = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<readonly StatusChange[]> => endsByReports(await repliedParts(sql, ids))

/** A payment or return that this institution has refused. */
type OwnRefusal = {
  readonly endToEndId: string
  readonly instructionId: string
  readonly reason: string | null
}

/**
 * Returns those of the parts that we have refused, and accepted in no other reply. Of them the SPI tells the payer alone,
 * so no report ends them here.
 */
export const ownRefusals = async (
  sql: Queryable,
  parts: readonly Part[],
): Promise<readonly OwnRefusal[]> => {
  const refused = parts.flatMap(({ own, ownReason: reason, endToEndId, instructionId }) =>
    own === 'RJCT' && endToEndId !== null && instructionId !== null
      ? [{ endToEndId, instructionId, reason }]
      : [],
  )
  if (refused.length === 0) return []
  const ids = textArray(refused.map(({ instructionId }) => instructionId))
  const accepted = await sql<{ id: string }[]>`
    select reply.instruction_id as id from unnest(${ids}::text::text[]) as reply(instruction_id)
    where exists (
      select from (${citing(sql, ['ACSP'], Date.now())}) cited
        cross join lateral (
          select direction, type, status from spi_messages where id = cited.message_id limit 1
        ) message
      where message.direction = 'OUTBOUND' and message.type = ${replyType}
        and message.status not in ('REJECTED', 'FAILED')
    )`
  const said = new Set(accepted.map(({ id }) => id))
  return refused.filter(({ instructionId }) => !said.has(instructionId))
}

/** The answers that cite the row `reply` with one of these statuses; a clock that ran ahead made ids that lie ahead. */
const citing = (sql: Queryable, statuses: Iterable<string>, nowMs: number) => sql`
  select message_id, status, reason from spi_transactions
  where instruction_id = reply.instruction_id
    and message_id >= ${uuidBound(new Date(nowMs - reportedWithinDays * dayMs))}::uuid
    and status in (${constants(sql, statuses)})
  order by instruction_id, message_id limit ${sameIdMax}`

/** The first report on the payment that the row `reply` is about; `more` says which are reports. */
const reportOn = (sql: Queryable, nowMs: number, more = sql``) => sql`
  select cited.status, cited.reason
  from (${citing(sql, reportedOutcomes.keys(), nowMs)}) cited
    cross join lateral (
      select direction, type, signature from spi_messages where id = cited.message_id limit 1
    ) message
  where message.direction = 'INBOUND' and message.type = ${replyType} ${more}
  limit 1`

/** Returns how the SPI has ended those of these payments that it has reported on. */
export const reportedEnds = async (
  sql: Queryable,
  endToEndIds: readonly string[],
): Promise<readonly ReceivedEnd[]> => {
  if (endToEndIds.length === 0) return []
  const trusted = sql`and message.signature in (${constants(sql, trustedVerdicts)})`
  const rows = await sql<{ endToEndId: string; status: string; reason: string | null }[]>`
    select reply.instruction_id as "endToEndId", report.status, report.reason
    from unnest(${textArray(endToEndIds)}::text::text[]) as reply(instruction_id)
      cross join lateral (${reportOn(sql, Date.now(), trusted)}) report`
  return rows.map(({ endToEndId, status, reason }) => {
    const isSettled = settledStatuses.includes(status)
    return { endToEndId, returnId: null, isSettled, reason: isSettled ? null : reason }
  })
}

/** A payment that we refused may have no report: it has ended with the last of the others. */
const changeOf = (id: string, parts: readonly Part[]): readonly StatusChange[] => {
  const outcomes = parts.map(({ own, reported }) => {
    const outcome = reportedOutcomes.get(reported ?? '')
    if (outcome !== undefined) return replyOutcome(own, outcome)
    return own === 'RJCT' ? 'ACCEPTED' : undefined
  })
  if (outcomes.includes(undefined) || parts.every(({ reported }) => reported === null)) return []
  const refused = outcomes.filter((outcome) => outcome === 'REJECTED').length
  const reasons = parts.flatMap(({ reason }) => (reason === null ? [] : [reason]))
  return [endOf(id, { transactions: parts.length, refused }, reasons)]
}

/**
 * Returns ids of replies at SENT that a stored report is about. The report was stored, and the sending recorded, by
 * transactions of the same moment, of which neither saw the other.
 */
export const crossedReplies = async (sql: Queryable): Promise<readonly string[]> => {
  const nowMs = Date.now()
  const rows = await sql<{ id: string }[]>`
    select sent.id
    from (
        select id, type from spi_messages
        where status = 'SENT' and id >= ${uuidBound(new Date(nowMs - crossedWithinMs))}::uuid
        order by id desc limit ${crossedMax}
      ) sent
    where sent.type = ${replyType} and exists (
      select from (
          select instruction_id from spi_transactions where message_id = sent.id
        ) reply
        cross join lateral (${reportOn(sql, nowMs)}) report
    )`
  return rows.map(({ id }) => id)
}
