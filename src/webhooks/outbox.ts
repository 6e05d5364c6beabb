import {
  type Client,
  looksLikeOne,
  type Queryable,
  textArray,
} from '#src/platform/database/index.ts'
import { takenKinds } from './events.ts'
import type { webhookEvents } from './schema.ts'

type Unpublished = {
  readonly id: string
  readonly subject: string
  readonly type: string
  readonly createdAt: Date
}

/**
 * Takes unpublished events and locks them until the transaction ends, the oldest first.
 *
 * @param low undefined for a look from the beginning
 */
export const takeOutbox = (
  tx: Queryable,
  limit: number,
  low: Date | undefined,
): Promise<readonly Unpublished[]> =>
  tx<Unpublished[]>`
    select id, subject, type, created_at as "createdAt" from webhook_events
    where published_at is null ${low === undefined ? tx`` : tx`and created_at > ${low}`}
    order by created_at limit ${limit} for update skip locked`

/** Whether anything is left in the outbox. */
export const hasUnpublished = async (sql: Client): Promise<boolean> => {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from webhook_events where published_at is null order by created_at limit 1
    ) as found`
  return row?.found === true
}

export const markPublished = async (tx: Queryable, ids: readonly string[]): Promise<void> => {
  await tx`
    update webhook_events set published_at = now()
    from unnest(${textArray(ids)}::text::text[], null::text[]) as published(published_id, nothing)
    where ${looksLikeOne(tx)} and id = published_id`
}

/**
 * Makes one delivery per event and endpoint that existed and was active when the event happened; a repetition changes
 * nothing. Only the subscriptions of an endpoint count as of now.
 *
 * @param institution accounts whose endpoints get the events that belong to no account
 * @returns the endpoints with new deliveries
 */
export const fanOut = async (
  sql: Queryable,
  eventIds: readonly string[],
  institution: readonly string[],
): Promise<readonly string[]> => {
  const rows = await sql<{ id: string }[]>`
    with made as (
      insert into webhook_deliveries (id, event_id, endpoint_id)
      select 'dlv_' || gen_random_uuid(), v.id, e.id
      from unnest(${textArray(eventIds)}::text::text[]) as given(id)
        cross join lateral (
          select id, patterns, created_at, case when account is null
            then ${textArray(institution)}::text::text[] else array[account] end as accounts
          from webhook_events where id = given.id limit 1
        ) v
        cross join lateral (
          select id from webhook_endpoints
          where topic is null and account = any(v.accounts) and events && v.patterns
            and ${wasActive(sql)}
          union all
          -- There is one for each Pix key, and none takes anything else.
          select p.id from unnest(v.patterns, null::text[]) as named(pattern, nothing)
            join webhook_endpoints p on p.topic is not null and p.topic = named.pattern
          where ${looksLikeOne(sql)} and p.account = any(v.accounts) and ${wasActive(sql)}
        ) e
      order by v.created_at, v.id
      on conflict (event_id, endpoint_id) do nothing
      returning endpoint_id
    )
    select distinct endpoint_id as id from made`
  return rows.map(({ id }) => id)
}

/** Whether an endpoint was active when the event `v` happened; one that was inactive only in between counts, too. */
const wasActive = (sql: Queryable) => sql`
  created_at <= v.created_at and (active or disabled_at > v.created_at)`

type StoredEvent = Omit<
  typeof webhookEvents.$inferSelect,
  'sequence' | 'dataFull' | 'publishedAt' | 'createdAt'
> & {
  readonly sequence: string
  readonly full: string | null
  readonly ageSeconds: number
}

/** The most endpoints, last disabled, that we ask whether they took an event of another database when it happened. */
const inactiveMax = 100

/**
 * Takes events out of a database without endpoints and writes those that an endpoint takes, or took when they happened,
 * into the database that has the endpoints. The moments of both are compared there: an event comes with its age, as the
 * clock of the other database may be another. If the removal of an event does not commit, it comes again, and we
 * recognise its id.
 *
 * @returns how many were taken
 */
export const bringEvents = (from: Client, to: Client, limit: number): Promise<number> =>
  from.begin(async (tx) => {
    const taken = await tx<StoredEvent[]>`
      delete from webhook_events e using unnest(array(
        select id from webhook_events where published_at is null
        order by created_at limit ${limit} for update skip locked), null::text[]) as gone(id, nothing)
      where ${looksLikeOne(tx)} and e.id = gone.id
      returning e.id, type, patterns, subject, account, sequence::text, data, data_full as "full",
        traceparent, extract(epoch from clock_timestamp() - created_at)::float8 as "ageSeconds"`
    if (taken.length > 0) {
      await to`
        with given as materialized (
          select * from json_to_recordset(${JSON.stringify(taken)}::text::json) as e(id text,
            type text, patterns text[], subject text, account text, sequence bigint, data text, "full" text,
            traceparent text, "ageSeconds" float8)
        )
        insert into webhook_events (id, type, patterns, subject, account, sequence, data, data_full,
          traceparent, created_at)
        select e.id, type, patterns, subject, account, sequence, data, "full", traceparent,
          now() - make_interval(secs => "ageSeconds")
        from given e
        where patterns in (${takenKinds(to, to`given`)}) or exists (
          select from (
            select events, disabled_at from webhook_endpoints where not active and disabled_at is not null
            order by disabled_at desc limit (select ${inactiveMax}::int)
          ) late
          where late.disabled_at > now() - make_interval(secs => "ageSeconds") and late.events && e.patterns
          offset 0)
        order by sequence
        on conflict (id) do nothing`
    }
    return taken.length
  })
