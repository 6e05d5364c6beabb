import { type Client, type Queryable, rowCount } from '#src/platform/database/index.ts'
import type { FeeSums, MovementFees } from './fees.ts'
import type { cardMovements } from './schema.ts'
import type { Due } from './store.ts'
import { type BookedKind, type Totals, totalsFrom } from './totals.ts'

/** Money that a network has moved. */
export type Movement = {
  readonly network: string
  /** `YYYY-MM-DD` as the network told it. */
  readonly day: string | undefined
  /**
   * Where it did not, and our clock ends its days: the minutes from a moment to one whose date is its business day.
   * Undefined: the day is the one that is open.
   */
  readonly shiftMinutes?: number | undefined
  readonly currency: string
  readonly kind: BookedKind
  readonly cents: bigint
  readonly transactionId: string
  readonly stan: string
  readonly transmission: string
  readonly fees?: MovementFees | undefined
}

/** Movements in the form that `movementRows` takes. */
export const movementJson = (movements: readonly Movement[]) =>
  movements.map(({ fees, ...one }) => ({
    ...one,
    cents: String(one.cents),
    transactionFee: fees?.transaction?.toString(),
    processingFee: fees?.processing?.toString(),
  }))

/**
 * Inserts what a statement selects as `movements json`, an array of {@link movementJson}; each counts once. The clock of
 * the database, by which days end, tells the day, whether or not the end of the one before is stored by then; it is none
 * that has ended.
 */
export const movementRows = (sql: Queryable, selected: ReturnType<Queryable>) => sql`
  insert into card_movements
    (network, day, currency, kind, amount_cents, transaction_id, stan, transmission,
      transaction_fee_cents, processing_fee_cents)
  select v.network, coalesce(v.day,
      greatest(((now() + make_interval(mins => v."shiftMinutes")) at time zone 'UTC')::date, d.day),
      (now() at time zone 'UTC')::date), v.currency, v.kind, v.cents, v."transactionId", v.stan,
    v.transmission, v."transactionFee", v."processingFee"
  from (${selected}) s cross join json_to_recordset(s.movements) as v(
    network text, day date, "shiftMinutes" int, currency text, kind text, cents bigint,
    "transactionId" text, stan text, transmission text, "transactionFee" bigint,
    "processingFee" bigint)
  left join card_business_days d on d.network = v.network
  on conflict do nothing`

/** Books movements within the caller's transaction. */
export const insertMovements = async (
  tx: Queryable,
  movements: readonly Movement[],
): Promise<void> => {
  if (movements.length === 0) return
  const text = JSON.stringify(movementJson(movements))
  await movementRows(tx, tx`select ${text}::text::json as movements`)
}

/**
 * A sale or refund of a day that nothing has taken back in it, with what voids of parts have left of it, and what
 * increments have added in that day.
 */
export type UploadedMovement = {
  readonly id: bigint
  readonly kind: 'debit' | 'credit'
  readonly cents: bigint
  readonly transactionId: string
  readonly stan: string
  readonly transmission: string
  /** The network heard of it by an advice. */
  readonly isAdvised: boolean
  /** True: it has raised a sale of an earlier day. */
  readonly isIncrement: boolean
}

type Sql = ReturnType<Queryable>

/**
 * At the end of `exists`: it is looked up for each row by an index, and its table is not read as a whole. No index but
 * that of transactions helps, so the day is compared in a way that none takes.
 */
const oneByOne = (sql: Queryable) => sql`offset 0`

/** Whether `of`, an alias of a movement, is of an increment. */
const isIncrement = (sql: Queryable, of: Sql) => sql`exists (
  select from card_events e
  where e.transaction_id = ${of}.transaction_id and e.type = 'increment_sent'
    and e.data ->> 'stan' = ${of}.stan ${oneByOne(sql)})`

/** Whether a movement of the same day takes `of`, an alias, back by its numbers. */
const isTakenBack = (sql: Queryable, of: Sql) => sql`exists (
  select from card_movements r
  where r.transaction_id = ${of}.transaction_id and r.kind = ${of}.kind || '_reversal'
    and r.stan = ${of}.stan and r.transmission = ${of}.transmission
    and r.day - ${of}.day = 0 ${oneByOne(sql)})`

/** Whether `of`, an alias, has the numbers of the authorization `t`. */
const isFirst = (sql: Queryable, of: Sql) =>
  sql`(${of}.stan = t.stan and ${of}.transmission = t.transmission)`

/**
 * What was added to `m`, the sale or an increment of `t`, in its day, and taken from it. The sale has all increments of
 * its day. Where it is of an earlier one, what takes back a part or the whole is taken from the first increment, and
 * what that leaves from the next.
 */
const changeOf = (sql: Queryable) => sql`(
  select coalesce(sum(case p.kind when 'debit' then p.amount_cents else -p.amount_cents end), 0)
  from card_movements p
  where p.transaction_id = m.transaction_id and p.day - m.day = 0 and case p.kind
    when 'debit' then (p.id < m.id or ${isFirst(sql, sql`m`)}) and ${isIncrement(sql, sql`p`)}
      and not ${isTakenBack(sql, sql`p`)}
    -- What takes a part back has numbers of its own.
    when 'debit_reversal' then ${isFirst(sql, sql`p`)} or not exists (
      select from card_movements d
      where d.transaction_id = p.transaction_id and d.kind = 'debit' and d.stan = p.stan
        and d.transmission = p.transmission ${oneByOne(sql)})
    else false end)::bigint`

type Day = Pick<Due, 'network' | 'day' | 'currency'>

/** How many one statement looks at: a day may be long, and few of its movements stand. */
const lookedAtMax = 500

/** The movements of the day after that one. Only the index of days has their order: ids would lead through other days. */
const bookedAfter = (
  sql: Queryable,
  { network, day }: Readonly<Record<'network' | 'day', string | Sql>>,
  id: bigint | string,
) => sql`
  select * from card_movements
  where (network, day, id) > (${network}::text, ${day}::date, ${id}::bigint)
    and (network, day) <= (${network}::text, ${day}::date)
  order by network, day, id`

/** The next of them to upload, in the order of booking; undefined after the last one. */
export const standingAfter = async (
  sql: Queryable,
  of: Day & { readonly uploadedTo: bigint | null },
): Promise<UploadedMovement | undefined> => {
  for (let after = of.uploadedTo ?? 0n; ; ) {
    const [movement] = await standingNear(sql, of, after)
    if (movement !== undefined) return movement
    const [last] = await sql<{ id: bigint }[]>`
      select id from (${bookedAfter(sql, of, after)} limit ${rowCount(sql, lookedAtMax)}) m
      offset ${rowCount(sql, lookedAtMax - 1)}`
    if (last === undefined) return undefined
    after = BigInt(last.id)
  }
}

const standingNear = (sql: Queryable, of: Day, after: bigint) => sql<UploadedMovement[]>`
  select m.id, m.kind, standing.cents, m.transaction_id as "transactionId", m.stan,
    m.transmission, exists (
      select from card_reversals a
      where a.transaction_id = m.transaction_id and a.reverses like '%\\_advice'
        and a.stan || '' = m.stan ${oneByOne(sql)}
    ) as "isAdvised", kind."isIncrement"
  from (${bookedAfter(sql, of, after)} limit ${rowCount(sql, lookedAtMax)}) m
  left join lateral (
    select stan, transmission from card_transactions where id = m.transaction_id limit 1) t on true
  cross join lateral (
    select m.kind = 'debit' and ${isIncrement(sql, sql`m`)} as "isIncrement") kind
  cross join lateral (
    select m.amount_cents + case
      when kind."isIncrement" then least(${changeOf(sql)}, 0)
      when m.kind = 'debit' and ${isFirst(sql, sql`m`)} then ${changeOf(sql)}
      else 0 end as cents) standing
  where m.currency = ${of.currency} and m.kind in ('debit', 'credit')
    and not ${isTakenBack(sql, sql`m`)} and standing.cents > 0
    and not (kind."isIncrement" and exists (
      select from card_movements f
      where f.transaction_id = m.transaction_id and f.kind = 'debit' and f.stan = t.stan
        and f.transmission = t.transmission and f.day - m.day = 0 ${oneByOne(sql)}))
  order by m.network, m.day, m.id limit 1`

export type MovementRow = Pick<
  typeof cardMovements.$inferSelect,
  'id' | 'kind' | 'transactionId' | 'stan' | 'at'
> & { readonly cents: bigint; readonly rrn: string | null }

/** The movements that a reconciliation sums up, in the order of booking. */
export const movementsOf = (
  sql: Client,
  reconciliationId: string,
  afterId: string | undefined,
  limit: number,
): Promise<readonly MovementRow[]> => sql<MovementRow[]>`
  select m.id, m.kind, m.amount_cents as cents, m.transaction_id as "transactionId", m.stan, t.rrn,
    m.at
  from card_reconciliations r
  cross join lateral (
    select * from (${bookedAfter(sql, { network: sql`r.network`, day: sql`r.day` }, afterId ?? 0n)}) b
    where b.currency = r.currency order by b.network, b.day, b.id limit ${rowCount(sql, limit)}
  ) m
  left join lateral (select rrn from card_transactions where id = m.transaction_id limit 1) t on true
  where r.id = ${reconciliationId}::bigint
  order by m.id`

/** The totals by our book. */
export const totalsOf = async (
  sql: Queryable,
  { network, day, currency }: Pick<Due, 'network' | 'day' | 'currency'>,
): Promise<Totals> =>
  totalsFrom(
    await sql<(FeeSums & { kind: BookedKind; cents: bigint })[]>`
      select kind, count(*)::int as count, sum(amount_cents)::bigint as cents,
        count(transaction_fee_cents)::int as "transactionCount",
        sum(transaction_fee_cents)::bigint as "transactionCents",
        count(processing_fee_cents)::int as "processingCount",
        sum(processing_fee_cents)::bigint as "processingCents"
      from card_movements
      where network = ${network} and day = ${day}::date and currency = ${currency}
      group by kind`,
  )
