import {
  type Client,
  daysAgo,
  deletedMax,
  deleteInBatches,
  looksLikeOne,
  textRows,
  uuidBound,
} from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { deliveryStatuses } from './domain.ts'

const eventsEveryMs = 3_600_000
const removedEveryMs = 60_000
const sequencesEveryMs = 24 * 3_600_000
/** Subjects that we look at in one statement. */
const subjectsMax = 5_000

/** A schedule lasts no longer, even if the receiver asks for a day before each attempt. */
const scheduleDaysMax = 14

type Walked = { readonly last: string | null; readonly seen: number; readonly gone: number }

/**
 * Walks a table in the order of its key, until a statement sees fewer rows than it may, or the round is to end.
 *
 * @returns how many rows went
 */
const walk = async (
  stepMax: number,
  round: Round | undefined,
  step: (after: string) => Promise<readonly Walked[]>,
): Promise<number> => {
  let total = 0
  for (let after: string | null = ''; after !== null && round?.signal.aborted !== true; ) {
    const [{ last, seen, gone } = nothingSeen] = await step(after)
    after = seen === stepMax ? last : null
    total += gone
    round?.advance()
  }
  return total
}

const nothingSeen: Walked = { last: null, seen: 0, gone: 0 }

const walked = (sql: Client) => sql`
  select (select max(key) from seen) as last, (select count(*)::int from seen) as seen,
    (select count(*)::int from gone) as gone`

/**
 * Deletes events past their retention, with their deliveries and attempts. An event with a delivery that is still
 * attempted stays only as long as attempts may last: a disabled endpoint may never be enabled again.
 */
export const forgetEvents = async (sql: Client, days: number, round?: Round): Promise<number> => {
  // The id of an event begins with the moment of its making.
  const madeBefore = async (ago: number) => `evt_${uuidBound(await daysAgo(sql, ago))}`
  const before = await madeBefore(days)
  const attempted = await madeBefore(days + scheduleDaysMax)
  return walk(
    deletedMax,
    round,
    (after) => sql<Walked[]>`
      with seen as materialized (
        select id as key, published_at from webhook_events where id > ${after} and id < ${before}
        order by id limit ${deletedMax}
      ), gone as (
        delete from webhook_events e using unnest(array(
          select key from seen
          -- The deliveries of each event first: planned at once, it may walk all that are pending.
          where published_at is not null and (key < ${attempted} or not exists (
            select from (
              select endpoint_id, status from webhook_deliveries where event_id = key offset 0
            ) d join webhook_endpoints p on p.id = d.endpoint_id and p.active
            where d.status = 'pending' offset 0))), null::text[]) as old(id, nothing)
        where ${looksLikeOne(sql)} and e.id = old.id
        returning e.id
      )
      ${walked(sql)}`,
  )
}

/** Deletes the deliveries of removed endpoints, with their attempts. */
export const forgetRemoved = async (sql: Client, round?: Round): Promise<number> => {
  // Each step finds the next endpoint in the index, so more deliveries cost nothing.
  const removed = await sql<{ id: string }[]>`
    with recursive delivered_to as (
      select of_status, (select min(endpoint_id) from webhook_deliveries where status = of_status) as id
      from ${textRows(sql, deliveryStatuses)} as s(of_status)
      union all
      select of_status, (
        select min(endpoint_id) from webhook_deliveries where status = of_status and endpoint_id > d.id
      )
      from delivered_to d where d.id is not null
    )
    select distinct id from delivered_to
    where id is not null
      and not exists (select from webhook_endpoints e where e.id = delivered_to.id offset 0)`
  let total = 0
  for (const { id } of removed) {
    total += await deleteInBatches(async () => {
      const gone = await sql`
        delete from webhook_deliveries where id = any(array(
          select d.id from ${textRows(sql, deliveryStatuses)} as s(of_status) cross join lateral (
            select id from webhook_deliveries where status = of_status and endpoint_id = ${id}
            order by created_at limit ${deletedMax}
          ) d limit ${deletedMax}))`
      return gone.count
    }, round)
  }
  return total
}

/** Forgets the numbers of subjects that had no event for long: the next event of one would be its first again. */
export const forgetSequences = (sql: Client, days: number, round?: Round): Promise<number> =>
  walk(
    subjectsMax,
    round,
    (after) => sql<Walked[]>`
      with seen as materialized (
        select subject as key, updated_at from webhook_sequences where subject > ${after}
        order by subject limit ${subjectsMax}
      ), gone as (
        delete from webhook_sequences where subject = any(array(
          select key from seen
          where updated_at < now() - make_interval(days => ${days})
        )) and updated_at < now() - make_interval(days => ${days})
        returning subject
      )
      ${walked(sql)}`,
  )

/**
 * Keeps the tables of webhooks at their size.
 *
 * @param databases all in which we emit events; the first has the endpoints
 */
export const createWebhookRetention = ({
  databases,
  days,
  sequenceDays,
  logger,
}: {
  readonly databases: readonly [Client, ...Client[]]
  readonly days: number
  readonly sequenceDays: number
  readonly logger: Logger
}): readonly Job[] => [
  createJob({
    name: 'old webhook events',
    everyMs: eventsEveryMs,
    fleet: { sql: databases[0] },
    logger,
    run: (round) => forgetEvents(databases[0], days, round),
  }),
  createJob({
    name: 'deliveries of removed webhooks',
    everyMs: removedEveryMs,
    logger,
    fleet: { sql: databases[0] },
    run: (round) => forgetRemoved(databases[0], round),
  }),
  ...databases.map((sql) =>
    createJob({
      name: 'old webhook sequences',
      everyMs: sequencesEveryMs,
      fleet: { sql },
      logger,
      run: (round) => forgetSequences(sql, sequenceDays, round),
    }),
  ),
]
