import { type Client, constants, type Queryable, textArray } from '#src/platform/database/index.ts'
import { amissStatuses, type cardReconciliations, type ReconciliationStatus } from './schema.ts'
import { movementKinds, type StoredTotals } from './totals.ts'

type Stored = typeof cardReconciliations.$inferSelect

/** A comparison that is to be sent; `lease` is the end of its lease, by which it is told from later ones. */
export type Due = Pick<
  Stored,
  | ('id' | 'network' | 'day' | 'currency' | 'ours' | 'stan' | 'transmission')
  | ('attempts' | 'upload' | 'uploadedTo' | 'uploadingId' | 'uploadingCents')
> & { readonly lease: string }

/** The currency of a day in which nothing moved. */
const currencyOfNothing = 'BRL'
/** How long ago a day may be that was passed over and is compared all the same. */
const passedOverDaysMax = 31
/** How long we count again what a network told: later, movements may be gone. */
const recountDaysMax = 7

/** Opens the first business day of a network; does nothing if one is open. */
export const openDay = async (sql: Queryable, network: string, day: string): Promise<void> => {
  await sql`
    insert into card_business_days (network, day) values (${network}, ${day})
    on conflict do nothing`
}

/** The business day that is open, and the moment by the clock of the database, which all processes share. */
export const openDayOf = async (
  sql: Queryable,
  network: string,
): Promise<{ readonly day: string | null; readonly at: Date }> => {
  const [row] = await sql<{ day: string | null; at: Date }[]>`
    select (select day::text from card_business_days where network = ${network}) as day, now() as at`
  return row!
}

/**
 * Ends the business day that is open, if `next` is a later one, and has what was booked in it compared after
 * `waitSeconds`, in each currency. A day in which nothing moved is compared too; one that the network told of while it
 * was open is counted again by then. Days that the next one passes over wait until they are over by the calendar.
 *
 * @param today the day by the calendar
 * @param next gives the day to open, from the open one and its age in seconds; undefined: it goes on
 * @returns the day that has ended
 */
export const endDay = async (
  tx: Queryable,
  network: string,
  waitSeconds: number,
  today: string,
  next: (open: string, ageSeconds: number) => string | undefined,
): Promise<string | undefined> => {
  const [open] = await tx<{ day: string; ageSeconds: number }[]>`
    select day::text, extract(epoch from now() - since)::float8 as "ageSeconds"
    from card_business_days where network = ${network} for update`
  const day = open && next(open.day, open.ageSeconds)
  if (open === undefined || day === undefined || day <= open.day) return undefined
  await tx`
    insert into card_reconciliations as r (network, day, currency, next_attempt_at)
    select ${network}, b.day, b.currency, now() + make_interval(secs => ${waitSeconds})
    from (
      select distinct day, currency from card_movements
      where network = ${network} and day >= ${open.day}::date and day < ${day}::date
        and (day = ${open.day}::date or day < ${today}::date)
      union
      select ${open.day}::date, ${currencyOfNothing} where not exists (
        select from card_movements where network = ${network} and day = ${open.day}::date)
    ) b order by b.day, b.currency
    on conflict do nothing`
  await tx`
    update card_reconciliations set next_attempt_at = now() + make_interval(
      secs => ${waitSeconds},
      days => case when day = ${open.day}::date then 0 else greatest(day - ${today}::date + 1, 0) end)
    where network = ${network} and day >= ${open.day}::date and day < ${day}::date
      and status in ('balanced', 'different') and stan is null`
  await tx`
    update card_business_days set day = ${day}::date, since = now() where network = ${network}`
  return open.day
}

/** Has the currencies of days compared, after `waitSeconds`, that something was booked in, and that are not yet. */
const addCurrencies = async (
  sql: Queryable,
  network: string,
  days: ReturnType<Queryable>,
  waitSeconds = 0,
): Promise<void> => {
  await sql`
    with days as materialized (${days})
    insert into card_reconciliations (network, day, currency, next_attempt_at)
    select ${network}, d.day, b.currency, now() + make_interval(secs => ${waitSeconds})
    from days d cross join lateral (
      select distinct m.currency from card_movements m
      where m.network = ${network} and m.day = d.day) b
    on conflict do nothing`
}

/** Completes the day of a comparison whose wait is over. */
export const completeDay = (
  sql: Queryable,
  { network, day }: Pick<Due, 'network' | 'day'>,
): Promise<void> => addCurrencies(sql, network, sql`select ${day}::date as day`)

/**
 * A cut-over may pass over days, as at a weekend, in which nothing had moved by then, or which were not over by the
 * calendar: has those before `today` compared, after `waitSeconds`, that something is booked in. What was before the
 * first day that was compared is nobody's.
 */
export const addPassedOver = (
  sql: Queryable,
  network: string,
  waitSeconds: number,
  today: string,
): Promise<void> => {
  const comparison = sql`select from card_reconciliations r where r.network = o.network`
  return addCurrencies(
    sql,
    network,
    sql`
      select o.day - ago as day
      from card_business_days o cross join generate_series(1, ${passedOverDaysMax}::int) as ago
      where o.network = ${network} and o.day - ago < ${today}::date
        and not exists (${comparison} and r.day = o.day - ago)
        and exists (${comparison} and r.day < o.day - ago)`,
    waitSeconds,
  )
}

/**
 * Once the wait after the end of a day is over, has what the network told of it before compared anew where our book has
 * more by now. What it told stays, so that the same told again is known.
 */
export const recountTold = (sql: Client, network: string): Promise<void> =>
  sql.begin(async (tx) => {
    const due = tx`
      r.network = ${network} and r.status in ('balanced', 'different') and r.stan is null
      and r.next_attempt_at > r.ended_at
      and r.next_attempt_at between now() - make_interval(days => ${recountDaysMax}) and now()`
    await tx`
      update card_reconciliations r
      set status = 'pending', created_at = now(), ours = null, ended_at = null, resolved_at = null,
        resolved_by = null, resolved_reason = null
      where ${due} and (
        select count(*) from card_movements m
        where m.network = r.network and m.day = r.day and m.currency = r.currency
          and (m.kind <> 'authorization' or r.ours -> 'authorizations' is not null)
      ) <> (
        select coalesce(sum((r.ours -> kind ->> 'count')::int), 0)
          + coalesce((r.ours ->> 'authorizations')::int, 0)
        from unnest(${textArray(movementKinds)}::text::text[]) as kind)`
    await addCurrencies(
      tx,
      network,
      tx`select distinct r.day from card_reconciliations r where ${due}`,
    )
    await tx`update card_reconciliations r set next_attempt_at = r.ended_at where ${due}`
  })

/**
 * Claims a comparison that is due at one of the networks for `leaseSeconds`, the oldest first; undefined if there is
 * none that nobody works on.
 */
export const claimDue = async (
  sql: Client,
  network: string,
  leaseSeconds: number,
): Promise<Due | undefined> => {
  const [due] = await sql<Due[]>`
    update card_reconciliations
    set lease_until = now() + make_interval(secs => ${leaseSeconds})
    where id = (
      select id from card_reconciliations
      where network = ${network} and status = 'pending' and next_attempt_at <= now()
        and (lease_until is null or lease_until <= now())
      order by next_attempt_at, id limit 1 for update skip locked)
    returning id, lease_until::text as lease, network, day::text, currency, ours, stan, transmission, attempts, upload,
      uploaded_to as "uploadedTo", uploading_id as "uploadingId", uploading_cents as "uploadingCents"`
  return due
}

type Claim = Pick<Due, 'id' | 'lease'>

/** A process that stood still for longer than its lease must not change what another has taken over. */
const held = (sql: Queryable, { id, lease }: Claim) => sql`
  id = ${id} and status = 'pending' and lease_until = ${lease}::text::timestamptz`

/** Stores, before the first byte, what goes out. @returns false if it is another's by now */
export const beginAttempt = async (
  sql: Queryable,
  claim: Claim,
  ours: StoredTotals,
  { stan, transmission }: { readonly stan: string; readonly transmission: string },
): Promise<boolean> =>
  (
    await sql`
      update card_reconciliations
      set attempts = attempts + 1, ours = ${JSON.stringify(ours)}::text::jsonb, stan = ${stan},
        transmission = ${transmission}, sent_at = coalesce(sent_at, now())
      where ${held(sql, claim)}`
  ).count === 1

/** Gives it back, due after `waitMs`. `isUnsent` means that the attempt wrote no byte. */
export const release = async (
  sql: Queryable,
  claim: Claim,
  waitMs: number,
  isUnsent: boolean,
  responseCode: string | undefined,
): Promise<void> => {
  await sql`
    update card_reconciliations
    set attempts = attempts - ${isUnsent ? 1 : 0}::int, lease_until = null,
      response_code = coalesce(${responseCode ?? null}, response_code),
      next_attempt_at = now() + make_interval(secs => ${waitMs / 1_000})
    where ${held(sql, claim)}`
}

/** The message that is sent next is another one. */
const nextMessage = (sql: Queryable) => sql`
  stan = null, transmission = null, attempts = 0, lease_until = null, next_attempt_at = now()`

/** Has each transaction of the day sent, before the totals are compared again. Keeps what the network told. */
export const beginUpload = async (sql: Queryable, claim: Claim, told: End): Promise<void> => {
  await sql`
    update card_reconciliations
    set upload = 'under_way', ${toldBy(sql, told)}, ${nextMessage(sql)}
    where ${held(sql, claim)} and upload is null`
}

/**
 * Stores, before the first byte of a 0320, the numbers that it goes out with, and what it tells of.
 *
 * @returns false if it is another's by now
 */
export const beginUploading = async (
  sql: Queryable,
  claim: Claim,
  { id, cents }: { readonly id: bigint; readonly cents: bigint },
  { stan, transmission }: { readonly stan: string; readonly transmission: string },
): Promise<boolean> =>
  (
    await sql`
      update card_reconciliations
      set attempts = 1 + case when stan = ${stan} and transmission = ${transmission} then attempts else 0 end,
        stan = ${stan}, transmission = ${transmission}, uploading_id = ${id}, uploading_cents = ${cents}
      where ${held(sql, claim)} and upload = 'under_way'`
  ).count === 1

/** The network has answered for the movement: the next one is due. */
export const uploaded = async (
  sql: Queryable,
  due: Claim & Pick<Due, 'uploadedTo'>,
  movementId: bigint,
  verdict: 'taken' | 'refused',
): Promise<void> => {
  const count =
    verdict === 'taken' ? sql`uploaded = uploaded + 1` : sql`uploads_refused = uploads_refused + 1`
  await sql`
    update card_reconciliations set uploaded_to = ${movementId}, ${count}, ${nextMessage(sql)}
    where ${held(sql, due)} and upload = 'under_way'
      and uploaded_to is not distinct from ${due.uploadedTo}::bigint`
}

export const endUpload = async (sql: Queryable, claim: Claim): Promise<void> => {
  await sql`
    update card_reconciliations set upload = 'done', ${nextMessage(sql)}
    where ${held(sql, claim)} and upload = 'under_way'`
}

export type End = {
  readonly status: Exclude<ReconciliationStatus, 'pending'>
  readonly responseCode: string | undefined
  readonly settlementCode: string | undefined
  readonly theirs: StoredTotals | undefined
}

const toldBy = (sql: Queryable, { responseCode, settlementCode, theirs }: End) => sql`
  response_code = coalesce(${responseCode ?? null}, response_code),
  settlement_code = ${settlementCode ?? null},
  theirs = ${theirs === undefined ? null : JSON.stringify(theirs)}::text::jsonb`

/** @returns false if it has ended before, or is another's by now */
export const end = async (sql: Queryable, claim: Claim, ended: End): Promise<boolean> =>
  (
    await sql`
      update card_reconciliations
      set status = ${ended.status}, lease_until = null, ended_at = now(), ${toldBy(sql, ended)}
      where ${held(sql, claim)}`
  ).count === 1

/**
 * Keeps the result of totals that the network told of its own accord. Those of a day that a cut-over has passed over are
 * counted again when that is over by the calendar, after `waitSeconds`. The same ones told again change nothing, unless
 * our book has made another result of them; others are somebody's business again where they differ.
 */
export const endTold = async (
  sql: Queryable,
  { network, day, currency }: Pick<Due, 'network' | 'day' | 'currency'>,
  { status, ours, theirs }: Pick<End, 'status'> & Record<'ours' | 'theirs', StoredTotals>,
  { waitSeconds, today }: { readonly waitSeconds: number; readonly today: string },
): Promise<void> => {
  const isPassed = sql`exists (
    select from card_business_days where network = ${network} and day > ${day}::date)`
  await sql`
    insert into card_reconciliations as r
      (network, day, currency, status, ours, theirs, next_attempt_at, ended_at)
    values (${network}, ${day}::date, ${currency}, ${status}, ${JSON.stringify(ours)}::text::jsonb,
      ${JSON.stringify(theirs)}::text::jsonb, case when ${isPassed} then now() + make_interval(
        secs => ${waitSeconds}, days => greatest(${day}::date - ${today}::date + 1, 0)) else now() end,
      now())
    on conflict (network, day, currency) do update
    set status = excluded.status, ours = excluded.ours, theirs = excluded.theirs, ended_at = now(),
      lease_until = null, resolved_at = null, resolved_by = null, resolved_reason = null
    where r.theirs is distinct from excluded.theirs
      or (r.status <> 'pending' and r.status <> excluded.status)`
}

/** Ends those of a network that were not answered within `expiryHours` after the wait. @returns how many */
export const giveUp = async (
  sql: Queryable,
  network: string,
  { waitSeconds, expiryHours }: { readonly waitSeconds: number; readonly expiryHours: number },
): Promise<number> =>
  (
    await sql`
      update card_reconciliations set status = 'unanswered', ended_at = now(), lease_until = null
      where network = ${network} and status = 'pending'
        and (lease_until is null or lease_until <= now())
        and created_at <= now() - make_interval(hours => ${expiryHours}, secs => ${waitSeconds})`
  ).count

export type ReconciliationRow = Omit<
  Stored,
  | ('transmission' | 'uploadedTo' | 'uploadingId' | 'uploadingCents')
  | ('nextAttemptAt' | 'leaseUntil' | 'resolvedBy')
>

/** Newest first. */
export const listReconciliations = (
  sql: Client,
  filter: {
    readonly network: string | undefined
    readonly status: ReconciliationStatus | undefined
    readonly beforeId: string | undefined
    readonly limit: number
  },
): Promise<readonly ReconciliationRow[]> => sql<ReconciliationRow[]>`
  select id, network, day::text, currency, status, ours, theirs, stan, attempts, upload, uploaded,
    uploads_refused as "uploadsRefused",
    response_code as "responseCode", settlement_code as "settlementCode",
    created_at as "createdAt", sent_at as "sentAt", ended_at as "endedAt",
    resolved_at as "resolvedAt", resolved_reason as "resolvedReason"
  from card_reconciliations
  where true
    ${filter.network === undefined ? sql`` : sql`and network = ${filter.network}`}
    ${filter.status === undefined ? sql`` : sql`and status = ${filter.status}`}
    ${filter.beforeId === undefined ? sql`` : sql`and id < ${filter.beforeId}::bigint`}
  order by id desc limit ${filter.limit}`

/** @returns false if there is none that waits for somebody */
export const resolveReconciliation = async (
  tx: Queryable,
  id: string,
  by: string,
  reason: string,
): Promise<boolean> =>
  (
    await tx`
      update card_reconciliations
      set resolved_at = now(), resolved_by = ${by}, resolved_reason = ${reason}
      where id = ${id}::bigint and status in (${constants(tx, amissStatuses)})
        and resolved_at is null`
  ).count === 1

/** For each network, how many wait for somebody. */
export const openByNetwork = (
  sql: Client,
): Promise<readonly { readonly network: string; readonly value: number }[]> => sql`
  select network, count(*)::int as value from card_reconciliations
  where status in (${constants(sql, amissStatuses)}) and resolved_at is null group by network`
