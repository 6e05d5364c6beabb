import type { Queryable } from '#src/platform/database/index.ts'
import { currentTraceparent } from '#src/platform/observe/index.ts'
import { patternsOf } from './domain.ts'

/**
 * Something that happened.
 *
 * @property subject - what it happened to; `sequence` grows by one per event of a subject
 * @property data - what every subscriber gets: identifiers and states, no personal data
 * @property full - what subscribers with `include: "full"` get instead
 */
export type WebhookEvent = {
  readonly type: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
  readonly full?: Readonly<Record<string, unknown>> | undefined
}

/** The port other features take: writes the event in the caller's transaction. */
export type EmitEvent = (tx: Queryable, event: WebhookEvent) => Promise<EmittedEvent>

export type EmittedEvent = { readonly id: string; readonly sequence: bigint }

/** PostgreSQL tells listeners at commit. */
export const eventsChannel = 'webhook_events'

export const emitEvent: EmitEvent = async (tx, event) => {
  const [emitted] = await writeEvents(tx, [event])
  if (emitted === undefined) throw new Error('an event was not written')
  return emitted
}

/**
 * {@link emitEvent} for several, in their order: two statements for any number. Those that no active endpoint takes are
 * not written, as nothing would come of them: an endpoint gets what happens after it was made.
 */
export const emitEvents = async (tx: Queryable, events: readonly WebhookEvent[]): Promise<void> => {
  if (events.length === 0) return
  const subscribed = await subscriptionsOf(tx)
  if (subscribed.size === 0) return
  const wanted = events.filter(({ type }) => patternsOf(type).some((one) => subscribed.has(one)))
  if (wanted.length > 0) await writeEvents(tx, wanted)
}

/** What the active endpoints take. */
const subscriptionsOf = async (tx: Queryable): Promise<ReadonlySet<string>> => {
  const rows = await tx<{ pattern: string }[]>`
    select distinct unnest(events) as pattern from webhook_endpoints where active`
  return new Set(rows.map(({ pattern }) => pattern))
}

/** Subjects are counted in one order by all writers: two with the same ones wait and do not deadlock. */
const writeEvents = (
  tx: Queryable,
  events: readonly WebhookEvent[],
): Promise<readonly EmittedEvent[]> => {
  const traceparent = currentTraceparent()
  const rows = events.map(({ type, subject, data, full }, place) => ({
    place,
    id: `evt_${Bun.randomUUIDv7()}`,
    type,
    patterns: patternsOf(type),
    subject,
    data: JSON.stringify(data),
    full: full === undefined ? null : JSON.stringify(full),
    traceparent,
  }))
  return tx<EmittedEvent[]>`
    with given as materialized (
      select *, row_number() over (partition by subject order by place) as turn,
        count(*) over (partition by subject) as turns
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as given(
        place int, id text, type text, patterns text[], subject text, data text, "full" text,
        traceparent text)
    ), numbered as (
      insert into webhook_sequences as s (subject, last)
      select subject, turns from given where turn = 1 order by subject
      on conflict (subject) do update set last = s.last + excluded.last
      returning subject, last
    ), counted as materialized (
      -- To be looked up in: a join of the two would compare each with each.
      select jsonb_object_agg(subject, last) as lasts from numbered
    ), written as (
      insert into webhook_events (id, type, patterns, subject, sequence, data, data_full,
        traceparent)
      select id, type, patterns, subject, (lasts ->> subject)::bigint - turns + turn, data,
        "full", traceparent
      from given, counted order by place
      returning id, sequence
    ), told as (
      select pg_notify(${eventsChannel}, '')
    )
    select written.id, written.sequence from written, told`
}

/** What is sent: the same bytes on every attempt. */
export const bodyOf = (event: {
  readonly id: string
  readonly type: string
  readonly createdAt: Date
  readonly sequence: bigint
  /** JSON text. */
  readonly data: string
}): string =>
  `{"id":${JSON.stringify(event.id)},"type":${JSON.stringify(event.type)},"timestamp":"${event.createdAt.toISOString()}","sequence":${event.sequence},"data":${event.data}}`
