import {
  type Client,
  deletedMax,
  deleteInBatches,
  looksLikeOne,
  uuidBound,
} from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { dayMs } from '#src/platform/runtime/index.ts'

const eventsEveryMs = 3_600_000
const removedEveryMs = 60_000
const sequencesEveryMs = 24 * 3_600_000
/** Subjects that we look at in one statement. */
const subjectsMax = 5_000

/** Deletes events past their retention, with their deliveries and attempts; one with a pending delivery stays. */
export const forgetEvents = (sql: Client, days: number, round?: Round): Promise<number> => {
  // The id of an event begins with the moment of its making.
  const before = `evt_${uuidBound(new Date(Date.now() - days * dayMs))}`
  return deleteInBatches(async () => {
    const gone = await sql`
      delete from webhook_events e using unnest(array(
        select v.id from webhook_events v
        where v.id < ${before} and v.published_at is not null and not exists (
          select from webhook_deliveries where event_id = v.id and status = 'pending')
        order by v.id limit ${deletedMax}), null::text[]) as gone(id, nothing)
      where ${looksLikeOne(sql)} and e.id = gone.id`
    return gone.count
  }, round)
}

/** Deletes the deliveries of removed endpoints, with their attempts. */
export const forgetRemoved = async (sql: Client, round?: Round): Promise<number> => {
  // Each step finds the next endpoint in the index: a delivery more costs nothing.
  const removed = await sql<{ id: string }[]>`
    with recursive delivered_to as (
      select min(endpoint_id) as id from webhook_deliveries
      union all
      select (select min(endpoint_id) from webhook_deliveries where endpoint_id > d.id)
      from delivered_to d where d.id is not null
    )
    select id from delivered_to
    where id is not null and not exists (select from webhook_endpoints e where e.id = delivered_to.id)`
  let total = 0
  for (const { id } of removed) {
    total += await deleteInBatches(async () => {
      const gone = await sql`
        delete from webhook_deliveries where id = any(array(
          select id from webhook_deliveries where endpoint_id = ${id} limit ${deletedMax}))`
      return gone.count
    }, round)
  }
  return total
}

/** Forgets the numbers of subjects that had no event for long: the next event of one would be its first again. */
export const forgetSequences = async (
  sql: Client,
  days: number,
  round?: Round,
): Promise<number> => {
  let total = 0
  for (let after: string | undefined = ''; after !== undefined && !round?.signal.aborted; ) {
    const [seen]: { last: string | null; gone: number }[] = await sql<
      { last: string | null; gone: number }[]
    >`
      with seen as materialized (
        select subject, updated_at from webhook_sequences where subject > ${after}
        order by subject limit ${subjectsMax}
      ), gone as (
        delete from webhook_sequences where subject = any(array(
          select subject from seen
          where updated_at < now() - make_interval(days => ${days})
        )) and updated_at < now() - make_interval(days => ${days})
        returning subject
      )
      select (select max(subject) from seen) as last, (select count(*)::int from gone) as gone`
    after = seen?.last ?? undefined
    total += seen?.gone ?? 0
    round?.advance()
  }
  return total
}

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
