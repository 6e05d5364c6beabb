import {
  type Client,
  type Queryable,
  rowCount,
  textArray,
  textRows,
} from '#src/platform/database/index.ts'
import { attemptsToldMax, deliveryStatuses } from './domain.ts'
import type { SentEvent } from './events.ts'
import { retryElsewhere } from './queue.ts'
import type { Visible } from './rights.ts'
import type { webhookAttempts, webhookDeliveries, webhookEndpoints } from './schema.ts'

/** The previous secret is null once it is no longer valid. */
export type EndpointRow = Omit<
  typeof webhookEndpoints.$inferSelect,
  'previousUntil' | 'disabledAt' | 'lastFailedAt'
>

export type EndpointChange = {
  readonly [Name in 'url' | 'events' | 'include' | 'active']?: EndpointRow[Name] | undefined
}

/** The endpoints that a page shows. */
type EndpointPage = {
  readonly limit: number
  /** Time, a blank, and the id of an endpoint. */
  readonly after: string | undefined
  /** Only endpoints that their answers disabled, or that have deliveries nobody took. */
  readonly needsAttention?: boolean
}

/** @property at - when it was made, in UTC, with its microseconds */
export type ListedEndpoint = EndpointRow & { readonly at: string }

/** @property at - when it was made, in UTC, with its microseconds */
export type DeliveryRow = Omit<typeof webhookDeliveries.$inferSelect, 'updatedAt'> & {
  readonly eventType: string
  readonly at: string
}

type AttemptRow = Omit<typeof webhookAttempts.$inferSelect, 'id' | 'deliveryId'>

const endpointColumns = (sql: Queryable) => sql`
  id, account, created_by as "createdBy", url, topic, events, include, active, disabled_reason as "disabledReason", secret,
  case when previous_until > now() then previous_secret end as "previousSecret", sealed,
  failing_since as "failingSince", created_at as "createdAt"`

const deliveryColumns = (sql: Queryable) => sql`
  d.id, d.event_id as "eventId", d.endpoint_id as "endpointId", v.type as "eventType", d.status,
  d.attempts, d.next_attempt_at as "nextAttemptAt", d.created_at as "createdAt",
  to_char(d.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`

export const isVisible = (sql: Queryable, { account, createdBy }: Visible) => sql`
  account = ${account} ${createdBy === null ? sql`` : sql`and created_by = ${createdBy}`}`

/** Joins the event of each delivery `d` as `v`. */
const eventOfDelivery = (sql: Queryable) => sql`
  cross join lateral (select type from webhook_events where id = d.event_id limit 1) v`

/** How many deliveries wait, and how many nobody took; each counted so far only. */
export type EndpointHealth = { readonly pending: number; readonly exhausted: number }

export type EndpointStore = ReturnType<typeof createEndpointStore>

/** Endpoints and their deliveries. */
export const createEndpointStore = (sql: Client) => ({ sql, ...endpointStatements(sql) })

/** The same store within a transaction of the caller. */
export const endpointStatements = (sql: Queryable) => ({
  ...endpointRows(sql),
  ...deliveryRows(sql),
})

/** The endpoints that their answers disabled, or that have deliveries nobody took. */
const troubled = (sql: Queryable, { account }: Visible) => sql`(
  with recursive exhausted as (
    select min(endpoint_id) as id from webhook_deliveries where status = 'exhausted'
    union all
    select (
      select min(endpoint_id) from webhook_deliveries
      where status = 'exhausted' and endpoint_id > exhausted.id
    ) from exhausted where id is not null
  ), named as (
    select id from exhausted where id is not null
    union
    select id from webhook_endpoints
    where account = ${account} and disabled_reason in ('gone', 'failing')
  )
  select e.* from named cross join lateral (
    select * from webhook_endpoints where id = named.id limit 1
  ) e
) troubled`

const endpointRows = (sql: Queryable) => ({
  add: async (
    row: Omit<
      EndpointRow,
      'topic' | 'disabledReason' | 'createdAt' | 'failingSince' | 'previousSecret'
    >,
  ) => {
    const [added] = await sql<EndpointRow[]>`
      insert into webhook_endpoints (id, account, created_by, url, events, include, active,
        disabled_reason, secret, sealed)
      values (${row.id}, ${row.account}, ${row.createdBy}, ${row.url},
              ${textArray(row.events)}::text::text[], ${row.include}, ${row.active},
              ${row.active ? null : 'request'}, ${row.secret}, ${row.sealed})
      returning ${endpointColumns(sql)}`
    return added
  },

  /** The oldest first. */
  list: (
    visible: Visible,
    { limit, after, needsAttention = false }: EndpointPage,
  ): Promise<readonly ListedEndpoint[]> => {
    const [at, id] = after?.split(' ') ?? []
    const isBehind =
      at === undefined || id === undefined
        ? sql``
        : sql`and (created_at, id) > (${at}::text::timestamptz, ${id})`
    return sql<ListedEndpoint[]>`
      select ${endpointColumns(sql)},
        to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
      from ${needsAttention ? troubled(sql, visible) : sql`webhook_endpoints`}
      where ${isVisible(sql, visible)} ${isBehind}
      order by created_at, id limit ${rowCount(sql, limit)}`
  },

  /** The active endpoints, at most so many. */
  active: (max: number): Promise<readonly EndpointRow[]> =>
    sql<EndpointRow[]>`
      select ${endpointColumns(sql)} from webhook_endpoints where active
      limit ${rowCount(sql, max)}`,

  /** The endpoints with pending work, active or not. */
  waiting: async (): Promise<readonly string[]> => {
    // Each step finds the next endpoint in the index: an endpoint without pending work costs nothing.
    const rows = await sql<{ id: string }[]>`
      with recursive waiting as (
        select min(endpoint_id) as id from webhook_deliveries where status = 'pending'
        union all
        select (
          select min(endpoint_id) from webhook_deliveries
          where status = 'pending' and endpoint_id > waiting.id
        ) from waiting where id is not null
      )
      select id from waiting where id is not null`
    return rows.map(({ id }) => id)
  },

  /** The active ones of these. */
  activeOf: (ids: readonly string[]): Promise<readonly EndpointRow[]> =>
    sql<EndpointRow[]>`
      select e.* from ${textRows(sql, ids)} as given(given_id) cross join lateral (
        select ${endpointColumns(sql)} from webhook_endpoints where id = given_id and active limit 1
      ) e`,

  find: async (id: string): Promise<EndpointRow | undefined> => {
    const [row] = await sql<EndpointRow[]>`
      select ${endpointColumns(sql)} from webhook_endpoints where id = ${id}`
    return row
  },

  /** Held until the end of the transaction. */
  lock: async (id: string): Promise<EndpointRow | undefined> => {
    const [row] = await sql<EndpointRow[]>`
      select ${endpointColumns(sql)} from webhook_endpoints where id = ${id} for update`
    return row
  },

  healthOf: async (
    ids: readonly string[],
    countedMax: number,
  ): Promise<ReadonlyMap<string, EndpointHealth>> => {
    const rows = await sql<(EndpointHealth & { readonly id: string })[]>`
      select given.id, (
        select count(*)::int from (
          select from webhook_deliveries where endpoint_id = given.id and status = 'pending'
          -- In the order of the index of these alone, or a plan may look through all deliveries.
          order by next_attempt_at limit ${rowCount(sql, countedMax)}) counted
      ) as pending, (
        select count(*)::int from (
          select from webhook_deliveries where endpoint_id = given.id and status = 'exhausted'
          order by created_at limit ${rowCount(sql, countedMax)}) counted
      ) as exhausted
      from ${textRows(sql, ids)} as given(id)`
    return new Map(rows.map(({ id, pending, exhausted }) => [id, { pending, exhausted }]))
  },

  remove: async (id: string): Promise<boolean> =>
    (await sql`delete from webhook_endpoints where id = ${id}`).count > 0,

  change: async (id: string, change: EndpointChange): Promise<EndpointRow | undefined> => {
    const events = change.events === undefined ? null : textArray(change.events)
    const active = change.active ?? null
    if (change.url !== undefined) await retryElsewhere(sql, { id }, change.url)
    const [row] = await sql<EndpointRow[]>`
      update webhook_endpoints set
        url = coalesce(${change.url ?? null}, url),
        events = coalesce(${events}::text::text[], events),
        include = coalesce(${change.include ?? null}, include), active = coalesce(${active}::boolean, active),
        disabled_reason = case when ${active}::boolean then null
          when not ${active}::boolean then 'request' else disabled_reason end,
        disabled_at = case when active and not ${active}::boolean then clock_timestamp() else disabled_at end,
        failing_since = case when ${active}::boolean or url <> ${change.url ?? null} then null else failing_since end
      where id = ${id} returning ${endpointColumns(sql)}`
    return row
  },

  /** Makes the present secret the previous one for a while. */
  rotate: async (
    id: string,
    secret: Uint8Array,
    sealed: boolean,
    previous: Uint8Array | null,
    overlapSeconds: number,
  ): Promise<EndpointRow | undefined> => {
    const [row] = await sql<EndpointRow[]>`
      update webhook_endpoints set secret = ${secret}, sealed = ${sealed}, previous_secret = ${previous},
        previous_until = now() + make_interval(secs => ${overlapSeconds})
      where id = ${id} returning ${endpointColumns(sql)}`
    return row
  },
})

/** Deliveries that one statement makes due again. */
export const replayedMax = 500

const deliveryRows = (sql: Queryable) => ({
  deliveries: (
    endpointId: string,
    filter: {
      readonly status: DeliveryRow['status'] | null
      readonly limit: number
      /** Time, a blank, and the id of a delivery or nothing. */
      readonly before: string | undefined
    },
  ): Promise<readonly DeliveryRow[]> => {
    const { status, limit, before } = filter
    const [at, id] = before?.split(' ') ?? []
    return sql<DeliveryRow[]>`
      select ${deliveryColumns(sql)} from (
        select one.* from ${textRows(sql, status === null ? deliveryStatuses : [status])} as s(of_status)
        cross join lateral (
          select * from webhook_deliveries
          where status = of_status and endpoint_id = ${endpointId}
            ${
              at === undefined || id === undefined
                ? sql``
                : sql`and (created_at, id) < (${at}::text::timestamptz, ${id})`
            }
          order by created_at desc, id desc limit ${rowCount(sql, limit)}
        ) one order by created_at desc, id desc limit ${rowCount(sql, limit)}
      ) d ${eventOfDelivery(sql)} order by d.created_at desc, d.id desc`
  },

  /**
   * The deliveries of one subject's events to the visible endpoints, the newest events first, of `limit` events.
   *
   * @param page - `before`: an event, a blank, and an endpoint or nothing; or an event alone, which is told again
   * @returns `end` the last of these events, where there are more
   */
  deliveriesOf: async (
    subject: string,
    visible: Visible,
    page: { readonly limit: number; readonly before: string | undefined },
  ): Promise<{ readonly rows: readonly DeliveryRow[]; readonly end: string | undefined }> => {
    const [event, endpoint] = page.before?.split(' ') ?? []
    const limit = rowCount(sql, page.limit)
    const events = await sql<{ id: string }[]>`
      select id from webhook_events
      where subject = ${subject} ${event === undefined ? sql`` : sql`and id <= ${event}`}
      order by id desc limit ${rowCount(sql, page.limit + 1)}`
    const ids = events.slice(0, page.limit).map((one) => one.id)
    const isBehind =
      endpoint === undefined
        ? sql``
        : sql`and (event_id, endpoint_id) < (${event ?? ''}, ${endpoint})`
    const rows = await sql<DeliveryRow[]>`
      select ${deliveryColumns(sql)} from (
        select one.* from ${textRows(sql, ids)} as e(of_event) cross join lateral (
          select * from webhook_deliveries d
          where event_id = of_event ${isBehind} and exists (
            -- By the id alone: an index of accounts holds very many.
            select from (select account, created_by from webhook_endpoints where id = d.endpoint_id offset 0) p
            where ${isVisible(sql, visible)})
          order by endpoint_id desc limit ${limit}
        ) one order by event_id desc, endpoint_id desc limit ${limit}
      ) d ${eventOfDelivery(sql)} order by d.event_id desc, d.endpoint_id desc`
    return { rows, end: events.length > page.limit ? ids.at(-1) : undefined }
  },

  /** The delivery with its newest attempts, the oldest of them first. */
  delivery: async (
    id: string,
  ): Promise<
    | {
        readonly delivery: DeliveryRow
        readonly event: SentEvent
        readonly attempts: readonly AttemptRow[]
      }
    | undefined
  > => {
    const [delivery] = await sql<DeliveryRow[]>`
      select ${deliveryColumns(sql)}
      from webhook_deliveries d ${eventOfDelivery(sql)} where d.id = ${id}`
    if (delivery === undefined) return undefined
    const [event] = await sql<SentEvent[]>`
      select id, type, sequence, data, data_full as "dataFull", created_at as "createdAt"
      from webhook_events where id = ${delivery.eventId}`
    if (event === undefined) return undefined
    // Uses the index of deliveries, which has few rows of this one: the index of ids, which has the order, has all
    // others.
    const attempts = await sql<AttemptRow[]>`
      select at, status_code as "statusCode", duration_ms as "durationMs", answer,
        error_class as "errorClass", next_attempt_at as "nextAttemptAt"
      from (select * from webhook_attempts where delivery_id = ${id} offset 0) a
      order by a.id desc limit ${rowCount(sql, attemptsToldMax)}`
    return { delivery, event, attempts: attempts.toReversed() }
  },

  /** Makes deliveries due again at once, with a full schedule; past attempts stay in the log. */
  replay: async (id: string): Promise<boolean> =>
    (
      await sql`
        update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = now(),
          updated_at = now()
        where id = ${id}`
    ).count > 0,

  /**
   * At most {@link replayedMax} deliveries that were made in that span and failed last before `until`; the oldest
   * first. A delivery on its way has not failed: the last failure set another time for it.
   */
  replayFailed: async (
    endpointId: string,
    { since, before, until }: { readonly since: Date; readonly before: Date; readonly until: Date },
  ): Promise<{ readonly count: number; readonly last: Date | null }> => {
    const [row] = await sql<{ count: number; last: Date | null }[]>`
      with replayed as (
        update webhook_deliveries set status = 'pending', attempts = 0, next_attempt_at = now(),
          updated_at = now()
        where id = any(array(
          select d.id from ${textRows(sql, ['pending', 'exhausted'])} as s(of_status)
          cross join lateral (
            select id, created_at from webhook_deliveries d
            where status = of_status and endpoint_id = ${endpointId}
              and created_at >= ${since} and created_at < ${before} and updated_at < ${until}
              and (status = 'exhausted' or (attempts > 0 and exists (
                select from webhook_attempts a
                where a.delivery_id = d.id and a.next_attempt_at = d.next_attempt_at)))
            order by created_at limit ${replayedMax} for update of d skip locked
          ) d
          order by d.created_at limit ${replayedMax}))
        returning created_at
      )
      select count(*)::int as count, max(created_at) as last from replayed`
    return { count: row?.count ?? 0, last: row?.last ?? null }
  },

  now: async (): Promise<Date> => {
    const [row] = await sql<{ now: Date }[]>`select now() as now`
    return row?.now ?? new Date()
  },
})
