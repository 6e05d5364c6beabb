import {
  type Client,
  looksLikeOne,
  type Queryable,
  rowCount,
  type Transaction,
  textArray,
} from '#src/platform/database/index.ts'
import type { DeliveryStep } from './domain.ts'
import type { SentEvent } from './events.ts'
import type { Free } from './lanes.ts'
import type { AttemptResult } from './sender.ts'

/** A delivery that we have taken for one attempt. */
export type ClaimedDelivery = Omit<SentEvent, 'id'> & {
  readonly id: string
  readonly endpointId: string
  /** This attempt's number, from 1; a replay begins at 1 again. */
  readonly attempt: number
  /** When it was due. */
  readonly dueAt: Date
  /** When we consider the attempt lost, in UTC with its microseconds: no other claim, replay or outcome writes the same. */
  readonly lease: string
  readonly eventId: string
  readonly traceparent: string | null
}

/** A finished attempt, and what follows from it. */
export type FinishedAttempt = {
  readonly delivery: ClaimedDelivery
  /** The endpoint's URL when we sent. */
  readonly url: string
  readonly result: AttemptResult
  readonly step: DeliveryStep
}

/**
 * Takes due deliveries, at most `rooms` per endpoint and `free` in all, oldest first; none of an endpoint that another
 * process has disabled or removed a moment ago. After the lease we consider a taken delivery lost, and it is due again:
 * a process that dies delays its deliveries but does not lose them.
 *
 * @param lows of endpoints: none that was due before is looked for
 */
export const claimDue = (
  sql: Client,
  { rooms, free }: Free,
  leaseSeconds: number,
  lows: ReadonlyMap<string, Date> = new Map(),
): Promise<readonly ClaimedDelivery[]> => {
  const ids = [...rooms.keys()]
  const from = ids.map((id) => lows.get(id)?.toISOString() ?? '-infinity')
  return sql<ClaimedDelivery[]>`
    with due as (
      select d.id, d.next_attempt_at
      from unnest(${textArray(ids)}::text::text[], ${textArray([...rooms.values()])}::text::int[],
        ${textArray(from)}::text::timestamptz[], null::text[]) as e(id, room, low, nothing)
      cross join lateral (
        select from webhook_endpoints where id = e.id and active limit 1
      ) present
      cross join lateral (
        select w.id, w.next_attempt_at from webhook_deliveries w
        where w.endpoint_id = e.id and w.status = 'pending' and w.next_attempt_at between e.low and now()
        order by w.next_attempt_at limit e.room for update skip locked
      ) d
      where ${looksLikeOne(sql)} limit ${rowCount(sql, free)}
    ), taken as (
      -- By a list, which looks short: joined, it looks as long as a tenth of what is pending.
      update webhook_deliveries d
      set attempts = d.attempts + 1, next_attempt_at = now() + make_interval(secs => ${leaseSeconds})
      where d.id = any(array(select id from due))
      returning d.id, d.endpoint_id, d.event_id, d.attempts, d.next_attempt_at
    )
    select d.id, d.endpoint_id as "endpointId", d.attempts as attempt, v.id as "eventId", v.type,
      (select due.next_attempt_at from due where due.id = d.id) as "dueAt",
      to_char(d.next_attempt_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as lease,
      v.sequence, v.data, v.data_full as "dataFull", v.created_at as "createdAt", v.traceparent
    from taken d cross join lateral (
      select id, type, sequence, data, data_full, created_at, traceparent from webhook_events
      where id = d.event_id limit 1
    ) v`
}

/**
 * Writes outcomes in one statement. If a delivery was replayed or attempted anew meanwhile, an earlier attempt is
 * logged and decides nothing: we see it by its lease, since numbers begin again with each replay. Skips a deleted
 * delivery. If a delivery failed at another URL than the endpoint's present one, it is due at once, with a full
 * schedule. Locks the endpoints of failures first, as a change of URL does, so that one of the two sees the other's
 * work.
 *
 * @returns the outcomes that decided something, with their consequences
 */
export const writeOutcomes = async (
  tx: Transaction,
  finished: readonly FinishedAttempt[],
): Promise<readonly FinishedAttempt[]> => {
  const rows = finished.map((one) => ({
    id: one.delivery.id,
    endpoint: one.delivery.endpointId,
    url: one.url,
    lease: one.delivery.lease,
    status: one.step.state,
    at: one.result.at.toISOString(),
    next_in_ms: one.step.state === 'pending' ? one.step.nextInMs : null,
    code: one.result.statusCode ?? null,
    ms: one.result.durationMs,
    answer: one.result.answer ?? null,
    error: one.result.errorClass ?? null,
  }))
  const failed = new Map<string, string>()
  for (const { delivery, step } of finished) {
    const { endpointId } = delivery
    const isFailed = step.state !== 'delivered' || failed.get(endpointId) === 'true'
    failed.set(endpointId, String(isFailed))
  }
  const decided = await tx<{ id: string; lease: string; moved: boolean }[]>`
    with address as materialized (
      -- Locked, a row shows the URL that was written while we waited.
      select e.id, e.url
      from unnest(${textArray([...failed.keys()])}::text::text[],
        ${textArray([...failed.values()])}::text::boolean[], null::text[]) as tried(id, failed, nothing)
      join webhook_endpoints e on e.id = tried.id
      -- With those that a success will change, or two writers could each wait for the other's.
      where ${looksLikeOne(tx)} and (tried.failed or e.failing_since is not null)
      order by e.id for update of e
    ), done as (
      -- The next attempt is due by the clock that says what is due.
      select r.*, moved,
        case when moved then now() else now() + make_interval(secs => next_in_ms / 1000.0) end as next_at
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as r(
        id text, endpoint text, url text, lease text, status text, at timestamptz, next_in_ms int, code int, ms int,
        answer text, error text, nothing text)
      cross join lateral (
        select r.status <> 'delivered' and exists (
          select from address where id = r.endpoint and url <> r.url) as moved
      ) compared
      where ${looksLikeOne(tx)}
    ), updated as (
      update webhook_deliveries d set status = case when moved then 'pending' else done.status end,
        attempts = case when moved then 0 else d.attempts end,
        next_attempt_at = coalesce(done.next_at, d.next_attempt_at), updated_at = now()
      from done where d.id = done.id and d.status = 'pending' and d.next_attempt_at = done.lease::timestamptz
      returning done.*
    ), late as (
      select done.* from done join webhook_deliveries d on d.id = done.id
      where (d.status <> 'pending' or d.next_attempt_at <> done.lease::timestamptz)
        and d.id not in (select id from updated) for key share of d
    ), logged as (
      insert into webhook_attempts (delivery_id, at, status_code, duration_ms, answer, error_class, next_attempt_at)
      select id, at, code, ms, answer, error, next_at from updated
      union all select id, at, code, ms, answer, error, null from late
      -- A row that this statement has changed cannot be locked by it.
      union all select done.id, done.at, done.code, done.ms, done.answer, done.error, null
      from done join updated on updated.id = done.id and updated.lease <> done.lease
    )
    select id, lease, moved from updated`
  const moved = new Map(decided.map((row) => [`${row.id} ${row.lease}`, row.moved]))
  return finished.flatMap((one) => {
    const isMoved = moved.get(`${one.delivery.id} ${one.delivery.lease}`)
    if (isMoved === undefined) return []
    return [isMoved ? { ...one, step: { state: 'pending', nextInMs: 0 } } : one]
  })
}

/** The most deliveries that another URL makes due; for the others, the next attempt comes at its time. */
const movedMax = 500

/**
 * Call it in the transaction in which the endpoint gets this URL, before it does. If the URL is new, deliveries that
 * failed are due at once, with a full schedule: first those that would wait longest. A delivery on its way is left to
 * its outcome.
 */
export const retryElsewhere = async (
  tx: Queryable,
  by: { readonly id: string } | { readonly topic: string },
  url: string,
): Promise<void> => {
  const endpoint = 'id' in by ? tx`e.id = ${by.id}` : tx`e.topic = ${by.topic}`
  await tx`select from webhook_endpoints e where ${endpoint} for update`
  await tx`
    update webhook_deliveries set attempts = 0, next_attempt_at = now(), updated_at = now()
    where id = any(array(
      select d.id from webhook_endpoints e cross join lateral (
        select id, next_attempt_at from webhook_deliveries
        where endpoint_id = e.id and status = 'pending'
        -- It waits for nobody. Who only holds the key logs an attempt of it, and changes nothing.
        order by next_attempt_at desc limit ${rowCount(tx, movedMax)} for no key update skip locked
      ) d cross join lateral (
        select from webhook_attempts a
        where a.delivery_id = d.id and a.next_attempt_at = d.next_attempt_at limit 1
      ) failed
      where ${endpoint} and e.url <> ${url}))`
}

/** The accounts of the endpoints, by id. */
export const accountsOf = async (
  tx: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await tx<{ id: string; account: string }[]>`
    select id, account from webhook_endpoints where id = any(${textArray(ids)}::text::text[])`
  return new Map(rows.map(({ id, account }) => [id, account]))
}

export type EndpointVerdict = {
  readonly id: string
  /** The URL that this was learned of: it says nothing of another. */
  readonly url: string
  readonly succeeded: boolean
  readonly gone: boolean
}

/**
 * Notes successes and failures; disables an endpoint that is gone or has failed for too long. A failure after a longer
 * gap than `failingGapMaxSeconds` is the first of new ones: nothing was sent meanwhile.
 *
 * @returns the endpoints disabled now
 */
export const judgeEndpoints = (
  tx: Transaction,
  verdicts: readonly EndpointVerdict[],
  failingMaxSeconds: number,
  failingGapMaxSeconds: number,
): Promise<readonly { readonly id: string; readonly reason: string }[]> =>
  tx<{ id: string; reason: string }[]>`
    with verdict as (
      select * from json_to_recordset(${JSON.stringify(verdicts)}::text::json)
        as v(id text, url text, succeeded boolean, gone boolean, nothing text)
      where ${looksLikeOne(tx)}
    ), old as materialized (
      -- Locked first: of two with the same verdict, the second sees what the first has decided.
      select e.id, e.active, v.succeeded, v.gone,
        case when e.last_failed_at > now() - make_interval(secs => ${failingGapMaxSeconds})
          then e.failing_since end as since
      from verdict v join webhook_endpoints e on e.id = v.id
      -- A success of an endpoint that does not fail changes nothing, and locks nothing.
      where e.url = v.url and (v.gone or not v.succeeded or e.failing_since is not null)
      order by e.id for update of e
    ), judged as (
      select *, gone or (not succeeded and since is not null
        and since <= now() - make_interval(secs => ${failingMaxSeconds})) as is_over
      from old
    ), changed as (
      update webhook_endpoints e set
        failing_since = case when not old.succeeded then coalesce(old.since, now()) end,
        last_failed_at = case when not old.succeeded then now() end,
        active = e.active and not old.is_over,
        disabled_reason = case when not e.active then e.disabled_reason when old.gone then 'gone'
          when old.is_over then 'failing' end,
        disabled_at = case when e.active and old.is_over then clock_timestamp() else e.disabled_at end
      from judged old where e.id = old.id
      returning e.id, e.disabled_reason as reason, old.active as was_active, e.active as is_active
    )
    select id, reason from changed where was_active and not is_active`
