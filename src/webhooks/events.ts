import type { Queryable } from '#src/platform/database/index.ts'
import { textArray } from '#src/platform/sql/index.ts'
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

export const emitEvent: EmitEvent = async (tx, { type, subject, data, full }) => {
  const id = `evt_${Bun.randomUUIDv7()}`
  const fullText = full === undefined ? null : JSON.stringify(full)
  const [row] = await tx<{ sequence: bigint }[]>`
    with numbered as (
      insert into webhook_sequences as s (subject, last) values (${subject}, 1)
      on conflict (subject) do update set last = s.last + 1
      returning last
    ), written as (
      insert into webhook_events (id, type, patterns, subject, sequence, data, data_full)
      select ${id}, ${type}, ${textArray(patternsOf(type))}::text::text[], ${subject}, last,
             ${JSON.stringify(data)}, ${fullText}
      from numbered
      returning sequence
    )
    select sequence, pg_notify(${eventsChannel}, '') from written`
  return { id, sequence: row?.sequence ?? 0n }
}

/** {@link emitEvent} for several, in their order. */
export const emitEvents = async (tx: Queryable, events: readonly WebhookEvent[]): Promise<void> => {
  for (const event of events) await emitEvent(tx, event)
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
