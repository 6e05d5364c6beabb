import type { Client } from '#src/platform/database/index.ts'
import { type Kind, stepsMax } from './domain.ts'
import { recurrenceId } from './project.ts'
import type {
  FoundRecurrence,
  Recurrence,
  RecurrenceFilter,
  RecurrencePage,
  RecurrenceStep,
} from './service.ts'

const columns = (sql: Client) => sql`
  key, state, mandate_id as "mandateId", reconciliation_id as "reconciliationId", terms,
  created_by as "createdBy", changed_by as "changedBy"`

const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** A mandate has a charge a week at most, and some attempts of each. */
const mandateChargesMax = 10_000

/** Newest first. Each order has an index; the few of one mandate are then searched for the state. */
export const listRecurrences = (
  sql: Client,
  kind: Kind,
  { state, mandateId }: RecurrenceFilter,
  { limit, after }: RecurrencePage,
): Promise<readonly Recurrence[]> => {
  const [id, key] = after ?? [lastUuid, '']
  const isBefore = sql`created_by <= ${id}::uuid and (created_by, key) < (${id}::uuid, ${key})`
  const inState = state === undefined ? sql`` : sql`and state = ${state}`
  if (mandateId === undefined && state === undefined) {
    // Told by equality of its kind, a table that nobody has analyzed seems to hold few of it: they would be sorted.
    return sql<Recurrence[]>`
      select ${columns(sql)} from spi_recurrences
      where kind >= ${kind} and (kind, created_by, key) < (${kind}, ${id}::uuid, ${key})
      order by kind desc, created_by desc, key desc limit ${limit}`
  }
  if (mandateId === undefined) {
    return sql<Recurrence[]>`
      select ${columns(sql)} from spi_recurrences where kind = ${kind} ${inState} and ${isBefore}
      order by kind desc, state desc, created_by desc, key desc limit ${limit}`
  }
  return sql<Recurrence[]>`
    select ${columns(sql)} from (
        select * from spi_recurrences where mandate_id = ${mandateId} and kind = ${kind} and ${isBefore}
        order by mandate_id desc, kind desc, created_by desc, key desc limit ${mandateChargesMax}
      ) of_mandate
    where true ${inState} order by created_by desc, key desc limit ${limit}`
}

export const findRecurrence = async (
  sql: Client,
  kind: Kind,
  key: string,
): Promise<FoundRecurrence | undefined> => {
  const id = recurrenceId(kind, key)
  const [[recurrence], steps] = await Promise.all([
    sql<Recurrence[]>`
      select ${columns(sql)} from spi_recurrences where id = ${id}`,
    sql<RecurrenceStep[]>`
      select s.message_id as "messageId", s.type, s.direction, m.status as "messageStatus",
        s.request_id as "requestId", s.status, s.reason, s.state
      from (
          select * from spi_recurrence_steps where recurrence_id = ${id}
          order by recurrence_id, message_id, position limit ${stepsMax}
        ) s
        left join lateral (select status from spi_messages where id = s.message_id limit 1) m on true
      order by s.message_id, s.position`,
  ])
  return recurrence === undefined ? undefined : { recurrence, steps }
}
