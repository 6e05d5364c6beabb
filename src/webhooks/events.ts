import type { EmitWithin } from '#src/events/index.ts'
import { afterCommit, type Queryable, textArray, textRows } from '#src/platform/database/index.ts'
import { currentTraceparent } from '#src/platform/observe/index.ts'
import { newUuid } from '#src/platform/runtime/index.ts'
import { patternsOf } from './domain.ts'
import { tellOfEvents } from './hints.ts'
import type { webhookEvents } from './schema.ts'

/**
 * An event as its emitter gives it.
 *
 * @property full - what subscribers with `include: "full"` get instead of `data`
 */
export type WebhookEvent = {
  readonly type: string
  readonly subject: string
  /** The account that owns it; undefined: the institution. */
  readonly account?: string | undefined
  readonly data: object
  readonly full?: object | undefined
  /** The topic of endpoints that are subscribed to nothing else. */
  readonly topic?: string | undefined
}

type Fragment = ReturnType<EmitWithin['ctes']>

/** The parts that decide who takes an event. */
type Kind = Pick<WebhookEvent, 'type' | 'topic'>

/**
 * The types that nobody took when we last looked. A hint, for less work: whether an event is written, the statement
 * that writes it decides.
 */
const untaken = new Set<string>()

/**
 * Writes several events, in order: one statement for any number. We do not write events that no active endpoint takes,
 * because an endpoint gets only what happens after it was made.
 */
export const emitEvents = async (tx: Queryable, events: readonly WebhookEvent[]): Promise<void> => {
  if (events.length === 0) return
  // The question costs less than a statement that writes nothing.
  const isLikelyTaken = events.some(({ type }) => !untaken.has(type))
  const wanted = isLikelyTaken ? events : await takenOf(tx, events)
  if (wanted.length === 0) return
  const rows = JSON.stringify(wanted.map(rowOf))
  const written = await tx<{ type: string }[]>`
    with ${emitWithin.ctes(tx, tx`select value from json_array_elements(${rows}::text::json)`)}
    select distinct type from event_rows`
  learned(wanted, new Set(written.map(({ type }) => type)))
  if (written.length > 0) tell(tx)
}

const tell: EmitWithin['tell'] = (sql) => afterCommit(sql, tellOfEvents)

const learned: EmitWithin['learned'] = (events, taken) => {
  for (const { type } of events) {
    if (taken.has(type)) untaken.delete(type)
    else untaken.add(type)
  }
}

/** How many endpoints of types are looked at one by one. */
const fewMax = 100

/**
 * Whether an active endpoint takes one of the patterns. If many endpoints take it, one of the first few mostly does;
 * the index over all others gathers every endpoint that takes it before it answers. The order, and a limit that the
 * planner cannot know, make it read the few one by one from the index of endpoints with types, whatever is known of the
 * table. `offset 0` keeps each a question: joined, the table is read as a whole by a plan that knew it as an empty one.
 */
const isTakenBy = (sql: Queryable, patterns: Fragment): Fragment => sql`(
  exists (
    select from (
      select active, events from webhook_endpoints where topic is null order by account
      limit (select ${fewMax}::int)
    ) few
    where few.active and few.events && ${patterns}
    offset 0)
  or exists (
    select from webhook_endpoints p
    where case when p.active then p.events end = p.events and p.events && ${patterns}
    offset 0))`

/**
 * The patterns of given events that are taken. If many endpoints take a pattern, but none of the first few, it takes
 * some milliseconds to find out: we ask once for all events of a kind.
 */
export const takenKinds = (sql: Queryable, given: Fragment): Fragment => sql`
  with taken as materialized (
    select patterns from (select distinct patterns from ${given}) kinds
    where ${isTakenBy(sql, sql`kinds.patterns`)}
  ) select patterns from taken`

/** Writes within a statement. In the endpoints' database we do not write events that nobody takes. */
export const emitWithin: EmitWithin = {
  isTaken: async (sql, events) => (await takenOf(sql, events)).length > 0,
  unlessTaken: (sql, events) => {
    if (events.some(({ type }) => !untaken.has(type))) return undefined
    const patterns = textArray([...new Set(events.flatMap(allPatternsOf))])
    return sql`not ${isTakenBy(sql, sql`(select ${patterns}::text::text[])`)}`
  },
  learned,
  rowOf: (event) => rowOf(event, 0),
  ctes: (sql, rows) =>
    ctes(sql, rows, sql`where patterns in (${takenKinds(sql, sql`event_given`)})`),
  taken: (sql) => sql`(select string_agg(distinct type, ' ') from event_rows)`,
  tell,
}

/** The same in a database without endpoints: a relay takes the events from there. */
export const emitElsewhere: EmitWithin = {
  isTaken: async () => true,
  unlessTaken: () => undefined,
  learned: () => undefined,
  rowOf: emitWithin.rowOf,
  ctes: (sql, rows) => ctes(sql, rows, sql``),
  taken: (sql) => sql`null`,
  tell: () => undefined,
}

const takenOf = async <E extends Kind>(
  tx: Queryable,
  events: readonly E[],
): Promise<readonly E[]> => {
  const patterns = [...new Set(events.flatMap(allPatternsOf))]
  const rows = await tx<{ pattern: string }[]>`
    select pattern from ${textRows(tx, patterns)} as asked(pattern)
    where ${isTakenBy(tx, tx`array[asked.pattern]`)}`
  const subscribed = new Set(rows.map(({ pattern }) => pattern))
  return events.filter((event) => allPatternsOf(event).some((one) => subscribed.has(one)))
}

const allPatternsOf = ({ type, topic }: Kind): readonly string[] =>
  topic === undefined ? patternsOf(type) : [...patternsOf(type), topic]

const rowOf = (event: WebhookEvent, place: number) => ({
  place,
  id: `evt_${newUuid()}`,
  type: event.type,
  patterns: allPatternsOf(event),
  subject: event.subject,
  account: event.account,
  data: JSON.stringify(event.data),
  full: event.full === undefined ? null : JSON.stringify(event.full),
  traceparent: currentTraceparent(),
})

/** All writers count subjects in one order: two with the same subjects wait and do not deadlock. */
const ctes = (sql: Queryable, rows: Fragment, filter: Fragment): Fragment => sql`
  event_given as materialized (
    select e.* from (${rows}) as r(event) cross join json_to_record(r.event) as e(
      place int, id text, type text, patterns text[], subject text, account text, data text,
      "full" text, traceparent text)
  ), event_rows as materialized (
    select *, row_number() over (partition by subject order by place) as turn,
      count(*) over (partition by subject) as turns
    from event_given ${filter}
  ), event_numbers as (
    insert into webhook_sequences as s (subject, last)
    select subject, turns from event_rows where turn = 1 order by subject
    on conflict (subject) do update set last = s.last + excluded.last, updated_at = now()
    returning subject, last
  ), event_counts as materialized (
    -- To be looked up in: a join of the two would compare each with each.
    select jsonb_object_agg(subject, last) as lasts from event_numbers
  ), event_writes as (
    insert into webhook_events (id, type, patterns, subject, account, sequence, data, data_full,
      traceparent)
    select id, type, patterns, subject, account, (lasts ->> subject)::bigint - turns + turn, data, "full",
      traceparent
    from event_rows, event_counts order by place
  )`

/** The bytes that we send: the same on every attempt. */
export const bodyOf = (event: Omit<SentEvent, 'dataFull'>): string =>
  `{"id":${JSON.stringify(event.id)},"type":${JSON.stringify(event.type)},"timestamp":"${event.createdAt.toISOString()}","sequence":${event.sequence},"data":${event.data}}`

/** The event of a delivery, as far as it is sent. */
export type SentEvent = Omit<
  typeof webhookEvents.$inferSelect,
  'patterns' | 'subject' | 'account' | 'traceparent' | 'publishedAt'
>

/** How an endpoint takes events. */
export type SentForm = {
  /** Holds personal data only if the endpoint asks for them. */
  readonly include: 'thin' | 'full'
  /** True: as a standard describes the event, and nothing of ours about it. */
  readonly isBare: boolean
}

/** The same as an endpoint takes it. */
export const sentBody = ({ include, isBare }: SentForm, event: SentEvent): string => {
  const data = include === 'full' ? (event.dataFull ?? event.data) : event.data
  return isBare ? data : bodyOf({ ...event, data })
}
