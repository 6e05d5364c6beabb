import { parseCents } from '#codecs/iso20022'
import { type Queryable, rowCount, uuidBound } from '#src/platform/database/index.ts'
import { dayAt, dayMs, startOfDay } from '#src/platform/runtime/index.ts'
import { countsIn } from './booked.ts'
import { clocksDifferMs, countedAt, toldLateMs } from './days.ts'
import { type Counts, type Figures, nothing, plus } from './figures.ts'
import { directions, findOurs } from './project.ts'
import type { Balance, ReportedEntry } from './reported.ts'

/** What a document says that has not been received: it takes the place of what has. */
type Told = {
  readonly balances?: readonly (readonly Balance[])[]
  readonly declaredEntries?: number
  readonly entries?: readonly ReportedEntry[]
}

export type FigureQuery = {
  /** Brazil's days, the first and the last. */
  readonly days: readonly [from: string, to: string]
  readonly told?: Told
  readonly bounds: Bounds
}

/** How much may be counted at most. */
type Bounds = {
  readonly balancesMax: number
  /** Settlements and entries. */
  readonly countedMax: number
}

const readAtOnce = 2_000
/** An opening balance is no older than this: what lies between is counted. */
const openingDaysMax = 7

type Period = {
  readonly afterMs: number
  readonly untilMs: number
  readonly balances: Figures['balances']
  readonly counts: { -readonly [Name in keyof Counts]: Counts[Name] }
}

/**
 * The figures of days, and of what lies between each two balances of which the second was told in them. All is counted
 * in one walk, page by page: a day of many payments takes as many statements.
 */
export const figuresOf = async (
  sql: Queryable,
  { days, told = {}, bounds }: FigureQuery,
): Promise<readonly Figures[]> => {
  const fromMs = startOfDay(days[0]).getTime()
  const toMs = startOfDay(days[1]).getTime() + dayMs
  const balances = await balancesBetween(sql, [fromMs, toMs], bounds, told.balances)
  const whole = period(fromMs - 1, toMs - 1, null)
  const all = [whole, ...between(balances ?? [], told.balances)]
  const declared = told.declaredEntries ?? (await declaredOn(sql, days, toMs))
  const counted = { left: balances === undefined ? -1 : bounds.countedMax }
  await countEntries(sql, all, { whole, days, told: told.entries }, counted)
  await countOurs(sql, all, counted)
  return all.map(({ afterMs, untilMs, balances, counts }) => ({
    after: new Date(afterMs),
    until: new Date(untilMs),
    balances,
    counts: counted.left < 0 ? null : counts,
    declaredEntries: balances === null ? declared : null,
  }))
}

const period = (afterMs: number, untilMs: number, balances: Period['balances']): Period => ({
  afterMs,
  untilMs,
  balances,
  counts: {
    ours: nothing,
    lateSettlements: 0,
    unknownSettlements: 0,
    reported: nothing,
    others: nothing,
  },
})

const holds = ({ afterMs, untilMs }: Period, atMs: number): boolean =>
  atMs > afterMs && atMs <= untilMs

type Moment = { readonly atMs: number; readonly cents: bigint }

/** The balances that count: available and held, because a held payment has not left the account. */
const available = 'SADP'
const held = 'SABK'

const momentOf = (balances: readonly Balance[]): readonly Moment[] => {
  const first = balances.find(({ type }) => type === available)
  if (first === undefined) return []
  const atMs = Date.parse(first.at)
  const cents = balances
    .filter(({ type }) => type === available || type === held)
    .reduce((sum, { amount }) => sum + parseCents(amount), 0n)
  return Number.isNaN(atMs) ? [] : [{ atMs, cents }]
}

/**
 * The balances told in the days, oldest first, and before them the last one of the days before.
 *
 * @returns undefined if more were told in the days than may be counted
 */
const balancesBetween = async (
  sql: Queryable,
  [fromMs, toMs]: readonly [number, number],
  { balancesMax }: Bounds,
  more: Told['balances'] = [],
): Promise<readonly Moment[] | undefined> => {
  const oldestMs = fromMs - openingDaysMax * dayMs
  const ofDays = await balancesTold(sql, [fromMs, toMs], balancesMax + 1)
  if (ofDays.length > balancesMax) return undefined
  const before = await balancesTold(sql, [oldestMs, fromMs], 1)
  const all = new Map(
    [...before, ...ofDays, ...more].flatMap(momentOf).map((one) => [one.atMs, one]),
  )
  const sorted = [...all.values()].sort((a, b) => a.atMs - b.atMs)
  const opening = sorted.findLast(({ atMs }) => atMs < fromMs && atMs >= oldestMs)
  const inDays = sorted.filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
  return opening === undefined ? inDays : [opening, ...inDays]
}

/** The balances of a time, those asked for last first; the answer to a request may come a day later. */
const balancesTold = async (
  sql: Queryable,
  [fromMs, toMs]: readonly [number, number],
  limit: number,
): Promise<readonly (readonly Balance[])[]> => {
  const [since, until] = [new Date(fromMs - dayMs), new Date(toMs + dayMs)]
  const at = sql`jsonb_path_query_first(balances, ${`$[*] ? (@.type == "${available}").at`}::text::jsonpath) #>> '{}' collate "C"`
  const rows = await sql<{ balances: readonly Balance[] }[]>`
    select balances from spi_reports
    where id >= ${uuidBound(since)}::uuid and id < ${uuidBound(until)}::uuid
      and balances is not null
      and ${at} >= ${new Date(fromMs).toISOString()} and ${at} < ${new Date(toMs).toISOString()}
    order by id desc limit ${rowCount(sql, limit)}`
  return rows.map(({ balances }) => balances)
}

/** @param only - of a document: what ends with another balance is not asked for */
const between = (balances: readonly Moment[], only: Told['balances']): readonly Period[] => {
  const wanted =
    only === undefined ? undefined : new Set(only.flatMap(momentOf).map((one) => one.atMs))
  return balances.slice(1).flatMap((closing, place) => {
    const opening = balances[place]
    if (opening === undefined || wanted?.has(closing.atMs) === false) return []
    const told = { opening: opening.cents, closing: closing.cents }
    return [period(opening.atMs, closing.atMs, told)]
  })
}

/** What the last file of entries of the day has; null: none was told, or before the day was over. */
const declaredOn = async (
  sql: Queryable,
  [from, to]: FigureQuery['days'],
  toMs: number,
): Promise<number | null> => {
  if (from !== to) return null
  const [row] = await sql<{ declared: string }[]>`
    select declared_entries as declared from spi_reports
    where day between ${from} and ${from} and declared_entries is not null
      and id >= ${uuidBound(new Date(toMs))}::uuid
    order by day desc, id desc limit 1`
  return row === undefined ? null : Number(row.declared)
}

type EntryRow = {
  readonly bookedOn: string
  readonly messageId: string
  readonly position: number
  readonly reference: string
  readonly direction: string
  readonly cents: bigint
  readonly valuedMs: number
}

type Counted = { left: number }

const countEntries = async (
  sql: Queryable,
  all: readonly Period[],
  {
    whole,
    days,
    told,
  }: { readonly whole: Period; readonly told: Told['entries'] } & Pick<FigureQuery, 'days'>,
  counted: Counted,
): Promise<void> => {
  const add = (
    one: Period,
    { reference, direction, cents }: Omit<EntryRow, 'messageId' | 'position'>,
  ) => {
    const kind = /^[ED]/.test(reference) ? 'reported' : 'others'
    one.counts[kind] = plus(one.counts[kind], direction === 'CRDT', cents)
  }
  for (const entry of told ?? []) {
    add(whole, { ...entry, cents: entry.amountCents, bookedOn: '', valuedMs: 0 })
  }
  const first = dayAt(new Date(Math.min(...all.map(({ afterMs }) => afterMs)) - dayMs))
  const last = dayAt(new Date(Math.max(...all.map(({ untilMs }) => untilMs)) + dayMs))
  let place: Pick<EntryRow, 'bookedOn' | 'messageId' | 'position'> | undefined
  while (counted.left >= 0) {
    const rows: readonly EntryRow[] = await entriesAfter(sql, first, last, place)
    counted.left -= rows.length
    for (const row of rows) {
      const isOfDays = row.bookedOn >= days[0] && row.bookedOn <= days[1]
      if (isOfDays && told === undefined) add(whole, row)
      for (const one of all) if (one !== whole && holds(one, row.valuedMs)) add(one, row)
    }
    if (rows.length < readAtOnce) return
    place = rows.at(-1)
  }
}

/** Reads the entries after a place. Where an entry was told twice, it reads the later one. */
const entriesAfter = (
  sql: Queryable,
  first: string,
  last: string,
  place: Pick<EntryRow, 'bookedOn' | 'messageId' | 'position'> | undefined,
): Promise<readonly EntryRow[]> => {
  const { bookedOn = first, messageId = uuidBound(new Date(0)), position = -1 } = place ?? {}
  return sql<EntryRow[]>`
    select booked_on as "bookedOn", message_id as "messageId", position, reference, direction,
      amount_cents as cents, (extract(epoch from valued_at) * 1000)::float8 as "valuedMs"
    from spi_entries e
    where booked_on >= ${first} and booked_on <= ${last}
      and (booked_on, message_id, position) > (${bookedOn}, ${messageId}::uuid, ${position}::int)
      and ${countsIn(sql)}
    order by booked_on, message_id, position limit ${readAtOnce}`
}

type SettlementRow = {
  readonly messageId: string
  readonly position: number
  readonly reference: string
  readonly settledMs: number
}

const countOurs = async (
  sql: Queryable,
  all: readonly Period[],
  counted: Counted,
): Promise<void> => {
  const sinceMs = Math.min(...all.map(({ afterMs }) => afterMs)) - clocksDifferMs
  const untilMs = Math.max(...all.map(({ untilMs: ms }) => ms)) + toldLateMs
  const until = uuidBound(new Date(untilMs))
  const seen = new Set<string>()
  let place: { readonly messageId: string; readonly position: number } | undefined = {
    messageId: uuidBound(new Date(sinceMs)),
    position: -1,
  }
  while (place !== undefined && counted.left >= 0) {
    const rows: readonly SettlementRow[] = await settlementsAfter(sql, place, until)
    counted.left -= rows.length
    const ofPeriods = rows
      .map((row) => ({ ...row, ...countedAt(row.messageId, row.settledMs) }))
      .filter((row) => {
        const { reference } = row
        if (seen.has(reference) || !all.some((one) => isOf(one, row))) return false
        seen.add(reference)
        return true
      })
    const before = await toldBefore(
      sql,
      ofPeriods.filter(({ atMs, settledMs }) => atMs !== settledMs),
    )
    const wanted = ofPeriods.filter(({ reference }) => !before.has(reference))
    const ofBook = await findOurs(
      sql,
      wanted.map(({ reference }) => reference),
    )
    for (const row of wanted) {
      const known = ofBook.get(row.reference)
      for (const { counts } of all.filter((one) => isOf(one, row))) {
        if (row.isLate) counts.lateSettlements++
        if (known === undefined) counts.unknownSettlements++
        else counts.ours = plus(counts.ours, known.direction === directions['CRDT'], known.cents)
      }
    }
    place = rows.length < readAtOnce ? undefined : rows.at(-1)
  }
}

/** What lies between two balances moved the second by the clock of the SPI, whenever it was told. */
const isOf = (
  one: Period,
  { atMs, settledMs }: { readonly atMs: number; readonly settledMs: number },
): boolean => holds(one, one.balances === null ? atMs : settledMs)

/** The references of these settlements that we were told of before: they belong to the day of the first telling. */
const toldBefore = async (
  sql: Queryable,
  moved: readonly SettlementRow[],
): Promise<ReadonlySet<string>> => {
  if (moved.length === 0) return new Set()
  const rows = await sql<{ reference: string }[]>`
    select told.reference
    from json_to_recordset(${JSON.stringify(moved)}::text::json)
        as told(reference text, "messageId" uuid)
      cross join lateral (
        select from spi_transactions
        where instruction_id = told.reference and message_id < told."messageId"
          and status in ('ACCC', 'ACSC') and settled_at is not null
        order by instruction_id, message_id limit 1
      ) earlier`
  return new Set(rows.map(({ reference }) => reference))
}

/** What we were told settled, in the order in which we were. */
const settlementsAfter = (
  sql: Queryable,
  { messageId, position }: { readonly messageId: string; readonly position: number },
  until: string,
): Promise<readonly SettlementRow[]> => {
  const told = (status: string) => sql`(
    select message_id, position, instruction_id, settled_at from spi_transactions
    where status = ${status} and settled_at is not null
      and message_id >= ${messageId}::uuid and message_id < ${until}::uuid
      and (message_id, position) > (${messageId}::uuid, ${position}::int)
    order by status, message_id, position limit ${readAtOnce})`
  return sql<SettlementRow[]>`
    select message_id as "messageId", position, coalesce(instruction_id, '') as reference,
      (extract(epoch from settled_at) * 1000)::float8 as "settledMs"
    from (${told('ACCC')} union all ${told('ACSC')}) t
    order by message_id, position limit ${readAtOnce}`
}
