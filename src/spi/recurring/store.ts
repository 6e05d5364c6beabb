import { type Client, type Queryable, textArray } from '#src/platform/database/index.ts'
import { momentOf } from '../messages/index.ts'
import { type Kind, recurrenceId, refusedPosition, stepsMax } from './domain.ts'
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

type Row = Omit<Recurrence, 'changedAt'> & { readonly changedBy: string | null }

export const listRecurrences = async (
  sql: Client,
  kind: Kind,
  filter: RecurrenceFilter,
  page: RecurrencePage,
): Promise<readonly Recurrence[]> =>
  withMoments(sql, kind, await recurrencesOf(sql, kind, filter, page))

/** A message of ours changes it twice: when it asks, and again if the central bank refuses the message. */
const withMoments = async (
  sql: Client,
  kind: Kind,
  rows: readonly Row[],
): Promise<readonly Recurrence[]> => {
  const refusedAt = await refusalsOf(
    sql,
    rows.flatMap(({ key, changedBy }) =>
      changedBy === null ? [] : [{ id: recurrenceId(kind, key), messageId: changedBy }],
    ),
  )
  return rows.map(({ changedBy, ...one }) => ({
    ...one,
    changedAt:
      changedBy === null
        ? null
        : (refusedAt.get(`${recurrenceId(kind, one.key)} ${changedBy}`) ?? momentOf(changedBy)),
  }))
}

/** When messages were refused whose refusal changed what they are about, by id and message. */
const refusalsOf = async (
  sql: Client,
  said: readonly { readonly id: string; readonly messageId: string }[],
): Promise<ReadonlyMap<string, Date>> => {
  if (said.length === 0) return new Map()
  const rows = await sql<{ id: string; messageId: string; at: Date }[]>`
    select said.id, said."messageId", refused.at
    from json_to_recordset(${JSON.stringify(said)}::text::json) as said(id text, "messageId" uuid)
      cross join lateral (
        select from spi_recurrence_steps
        where recurrence_id = said.id and message_id = said."messageId"
          and position >= ${refusedPosition} limit 1
      ) step
      cross join lateral (
        select at from spi_history
        where message_id = said."messageId" and status = 'REJECTED' and repetition is null
        order by message_id, position desc limit 1
      ) refused`
  return new Map(rows.map(({ id, messageId, at }) => [`${id} ${messageId}`, at]))
}

/** Newest first. Each order has an index; the few of one mandate are then searched for the state. */
const recurrencesOf = (
  sql: Client,
  kind: Kind,
  { state, mandateId }: RecurrenceFilter,
  { limit, after }: RecurrencePage,
): Promise<readonly Row[]> => {
  const [id, key] = after ?? [lastUuid, '']
  const isBefore = sql`created_by <= ${id}::uuid and (created_by, key) < (${id}::uuid, ${key})`
  const inState = state === undefined ? sql`` : sql`and state = ${state}`
  if (mandateId === undefined && state === undefined) {
    // Told by equality of its kind, a table that nobody has analyzed seems to hold few of it: they would be sorted.
    return sql<Row[]>`
      select ${columns(sql)} from spi_recurrences
      where kind >= ${kind} and (kind, created_by, key) < (${kind}, ${id}::uuid, ${key})
      order by kind desc, created_by desc, key desc limit ${limit}`
  }
  if (mandateId === undefined) {
    return sql<Row[]>`
      select ${columns(sql)} from spi_recurrences where kind = ${kind} ${inState} and ${isBefore}
      order by kind desc, state desc, created_by desc, key desc limit ${limit}`
  }
  return sql<Row[]>`
    select ${columns(sql)} from (
        select * from spi_recurrences where mandate_id = ${mandateId} and kind = ${kind} and ${isBefore}
        order by mandate_id desc, kind desc, created_by desc, key desc limit ${mandateChargesMax}
      ) of_mandate
    where true ${inState} order by created_by desc, key desc limit ${limit}`
}

/** The institutions of charges whose terms name both, by EndToEndId. */
export const institutionsOf = async (
  tx: Queryable,
  endToEndIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const ids = new Set(endToEndIds.map((key) => recurrenceId('charge', key)))
  const rows = await tx<{ key: string; debtor: string | null; creditor: string | null }[]>`
    select r.* from unnest(${textArray([...ids])}::text::text[]) as wanted(id)
      cross join lateral (
        select key, terms->>'debtor_ispb' as debtor, terms->>'creditor_ispb' as creditor
        from spi_recurrences where id = wanted.id limit 1
      ) r`
  return new Map(
    rows.flatMap(({ key, debtor, creditor }) =>
      debtor && creditor ? [[key, [debtor, creditor]] as const] : [],
    ),
  )
}

type StepRow = Omit<RecurrenceStep, 'at'> & {
  readonly isRefusal: boolean
  /** Null: the message is not kept any more. */
  readonly storedAt: Date | null
}

export const findRecurrence = async (
  sql: Client,
  kind: Kind,
  key: string,
): Promise<FoundRecurrence | undefined> => {
  const id = recurrenceId(kind, key)
  const [rows, steps] = await Promise.all([
    sql<Row[]>`
      select ${columns(sql)} from spi_recurrences where id = ${id}`,
    sql<StepRow[]>`
      select s.message_id as "messageId", s.type, s.direction, m.status as "messageStatus",
        s.request_id as "requestId", s.status, s.reason, s.state,
        s.position >= ${refusedPosition} as "isRefusal", stored.at as "storedAt"
      from (
          select * from spi_recurrence_steps where recurrence_id = ${id}
          order by recurrence_id, message_id, position limit ${stepsMax}
        ) s
        left join lateral (select status from spi_messages where id = s.message_id limit 1) m on true
        left join lateral (
          select at from spi_history where message_id = s.message_id and status <> 'RECEIVED'
          order by message_id, position limit 1
        ) stored on true
      order by s.message_id, s.position`,
  ])
  const [[recurrence], refusedAt] = await Promise.all([
    withMoments(sql, kind, rows),
    refusalsOf(
      sql,
      steps.filter(({ isRefusal }) => isRefusal).map(({ messageId }) => ({ id, messageId })),
    ),
  ])
  if (recurrence === undefined) return undefined
  const timeline = steps
    .map(({ isRefusal, storedAt, ...step }) => {
      const said = momentOf(step.messageId)
      const refused = isRefusal ? refusedAt.get(`${id} ${step.messageId}`) : undefined
      const at = refused !== undefined && refused > said ? refused : said
      // The clock of the database tells the order: those of processes may be before or behind it.
      return { step: { ...step, at }, knownAt: refused ?? storedAt ?? said }
    })
    .toSorted((a, b) => a.knownAt.getTime() - b.knownAt.getTime())
    .map(({ step }) => step)
  return { recurrence, steps: timeline }
}
