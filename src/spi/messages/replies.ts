import { constants, type Queryable, textArray, uuidBound } from '#src/platform/database/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'
import { endOf, type Outcome, replyOutcome, type StatusChange, settledStatuses } from './domain.ts'

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
/** A reply and a report that crossed are joined within so long, and so many replies are looked at. */
const crossedWithinMs = 2 * dayMs
const crossedMax = 5_000

type Part = {
  readonly id: string
  /** TxSts of our reply. */
  readonly own: string | null
  readonly reported: string | null
  readonly reason: string | null
}

/** Returns how replies of ours end all of whose payments the SPI has reported on; the others are not among them. */
export const reportedReplies = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<readonly StatusChange[]> => {
  if (ids.length === 0) return []
  const nowMs = Date.now()
  const parts = await sql<Part[]>`
    select wanted.id, reply.status as own, report.status as reported, report.reason
    from unnest(${textArray(ids)}::text::uuid[]) as wanted(id)
      cross join lateral (
        select instruction_id, status from spi_transactions where message_id = wanted.id offset 0
      ) reply
      left join lateral (${reportOn(sql, nowMs)}) report on true`
  return [...Map.groupBy(parts, ({ id }) => id)].flatMap(([id, all]) => changeOf(id, all))
}

/** The first report on the payment that the row `reply` is about. */
const reportOn = (sql: Queryable, nowMs: number) => sql`
  select cited.status, cited.reason
  from (
      select message_id, status, reason from spi_transactions
      where instruction_id = reply.instruction_id
        and message_id >= ${uuidBound(new Date(nowMs - reportedWithinDays * dayMs))}::uuid
        and message_id < ${uuidBound(new Date(nowMs + dayMs))}::uuid
        and status in (${constants(sql, reportedOutcomes.keys())})
      order by instruction_id, message_id limit ${sameIdMax}
    ) cited
    cross join lateral (
      select direction, type from spi_messages where id = cited.message_id limit 1
    ) message
  where message.direction = 'INBOUND' and message.type = ${replyType}
  limit 1`

const changeOf = (id: string, parts: readonly Part[]): readonly StatusChange[] => {
  const outcomes = parts.map(({ own, reported }) => {
    const outcome = reportedOutcomes.get(reported ?? '')
    return outcome === undefined ? undefined : replyOutcome(own, outcome)
  })
  if (outcomes.includes(undefined)) return []
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
