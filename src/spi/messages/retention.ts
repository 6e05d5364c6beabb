import { definitionOf, messageTypes } from '#codecs/iso20022'
import {
  daysAgo,
  dropExpired,
  listed,
  looksLikeOne,
  type PartitionedTable,
  type Queryable,
  type RetentionDeps,
  textArray,
  uuidBound,
} from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import { onceTypes } from './domain.ts'

/** Types whose answer decides what becomes of money. */
export const answeredTypes: readonly string[] = messageTypes.filter(
  (type) => definitionOf(type).exchange.role === 'moves_money',
)

const table = (name: string): PartitionedTable => ({ name, unit: 'month', bound: uuidBound })

export const messageTables = [
  table('spi_messages'),
  table('spi_sendings'),
  table('spi_transactions'),
  table('spi_history'),
] as const

const keys = {
  spi_messages: 'id',
  spi_sendings: 'message_id',
  spi_transactions: 'message_id',
  spi_history: 'message_id',
}
const everyMs = 6 * 3_600_000

/** Drops months past their retention, with the natural keys of their messages; keeps a month with an open message. */
export const forgetMessages = async (
  deps: RetentionDeps,
  round?: Round,
): Promise<readonly string[]> =>
  dropExpired(
    deps,
    {
      tables: messageTables,
      keys,
      isOpen: (sql) => sql`
        status in ('QUEUED', 'UNKNOWN', 'RECEIVED')
        or (status = 'SENT' and type = any(${textArray(answeredTypes)}::text::text[]))`,
      beforeGone: forgetKeys,
    },
    await daysAgo(deps.sql, deps.days),
    round,
  )

/**
 * Forgets what old messages said about mandates and charges, and those that nothing tells of any more. A mandate that has
 * not ended stays, however long ago its messages came. What stays cannot be derived again: that is noted before anything
 * is gone.
 */
const forgetRecurrences = async (sql: Queryable, ids: readonly string[]): Promise<void> => {
  await sql`
    update spi_recurrences r set is_partial = true
    from (
      select locked.id, null::text as nothing from (
          select distinct recurrence_id as id from spi_recurrence_steps
          where message_id = any(${listed(sql, ids, 'uuid')}) order by 1
        ) wanted
        cross join lateral (
          select id from spi_recurrences where id = wanted.id limit 1 for update
        ) locked
    ) told
    where ${looksLikeOne(sql)} and r.id = told.id`
  const gone = await sql<{ id: string }[]>`
    delete from spi_recurrence_steps where message_id = any(${listed(sql, ids, 'uuid')})
    returning recurrence_id as id`
  if (gone.length === 0) return
  const named = [...new Set(gone.map(({ id }) => id))].sort()
  await sql`
    delete from spi_recurrences r where r.id = any(${listed(sql, named, 'text')})
      and (r.kind = 'charge' or r.state in ('rejected', 'cancelled'))
      and not exists (select from spi_recurrence_steps where recurrence_id = r.id)`
}

/** Forgets what leads to messages. */
const forgetKeys = async (sql: Queryable, ids: readonly string[]): Promise<void> => {
  await forgetRecurrences(sql, ids)
  await sql`delete from spi_entries where message_id = any(${listed(sql, ids, 'uuid')})`
  await sql`delete from spi_reports where id = any(${listed(sql, ids, 'uuid')})`
  await sql`
    with old as materialized (
      select m.*, null::text as nothing from unnest(${textArray(ids)}::text::uuid[]) as given(id)
        cross join lateral (
          select id, direction, type, biz_msg_idr, resource_id from spi_messages
          where id = given.id limit 1
        ) m
    )
    delete from spi_message_keys using (
      select direction || ':BizMsgIdr' as kind, biz_msg_idr as key, id, nothing from old
      union all
      select direction || ':ResourceId', resource_id, id, nothing from old
      union all
      select type, case type when 'pacs.004' then instruction_id else end_to_end_id end, id, nothing
      from old cross join lateral (
        select end_to_end_id, instruction_id from spi_transactions
        where message_id = old.id offset 0
      ) t
      where direction = 'OUTBOUND' and type = any(${textArray(onceTypes)}::text::text[])
    ) gone
    where ${looksLikeOne(sql)} and spi_message_keys.kind = gone.kind
      and spi_message_keys.key = gone.key and spi_message_keys.message_id = gone.id`
}

export const createMessageRetention = (deps: RetentionDeps): Job =>
  createJob({
    name: 'old messages',
    everyMs,
    fleet: { sql: deps.sql },
    logger: deps.logger,
    run: (round) => forgetMessages(deps, round),
  })
