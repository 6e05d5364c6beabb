import { type Client, type Queryable, textArray } from '#src/platform/database/index.ts'
import { isAdviceRow } from '../reversals/store.ts'
import type { Capture, ShownMessage } from './schema.ts'

export type CardEventRow = {
  readonly id: bigint
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly messages: readonly ShownMessage[] | null
  readonly at: Date
}

type SentOperation = {
  readonly operation: 'capture' | 'partial_capture' | 'refund' | 'increment'
  readonly transmission: string
  readonly amountCents: bigint
  /** The network heard of it by an advice. */
  readonly isAdvised: boolean
}

type RefusedVoid = {
  readonly operation: 'void' | 'partial_void' | 'release'
  readonly transmission: string
  /** Null: the whole. */
  readonly amountCents: bigint | null
  /** Money has moved since it was sent: what it took back then is not what it would take back now. */
  readonly isOvertaken: boolean
}

const movingEvents = [
  ...['captured', 'partially_captured', 'refunded', 'incremented', 'partially_voided', 'released'],
  ...['advice_confirmed', 'reversal_confirmed', 'resolved'],
]

/** Whether the refund or increment that was sent under the STAN counts. */
export const isCounted = async (sql: Queryable, id: string, stan: string): Promise<boolean> => {
  const found = await sql`
    select from card_events
    where transaction_id = ${id} and type in ('refunded', 'incremented') and data ->> 'stan' = ${stan} limit 1`
  return found.length > 0
}

/** In the data of an event of a late approval: it is not certain that it was one, or that it was of this. */
export const uncertain = { uncertain: 'true' } as const

/** In the data of an event: the network has certainly approved something, but not what it was asked for. */
export const otherApproval = { approval: 'other' } as const

/** Whether the network has certainly approved, late or otherwise than it was asked, what was sent under the STAN. */
export const isKnownApproved = async (
  sql: Queryable,
  id: string,
  event: `late_${string}`,
  stan: string,
): Promise<boolean> => {
  const found = await sql`
    select from card_events
    where transaction_id = ${id} and data ->> 'stan' = ${stan}
      and (data ->> 'approval' = ${otherApproval.approval} or type = ${event}
        and data ->> 'uncertain' is distinct from ${uncertain.uncertain}) limit 1`
  return found.length > 0
}

/** The refunds that count, with the numbers under which the network has them. */
export const refundsOf = async (sql: Queryable, id: string): Promise<readonly Capture[]> =>
  sql<Capture[]>`
    select s.data ->> 'stan' as stan, s.data ->> 'transmission' as transmission,
      (s.data ->> 'amount')::float8 as cents
    from card_events s
    where s.transaction_id = ${id} and s.type = 'refund_sent' and exists (
      select from card_events r where r.transaction_id = s.transaction_id and r.id > s.id
        and r.type = 'refunded' and r.data ->> 'stan' = s.data ->> 'stan')`

/** A capture, refund or increment that was sent under the STAN, with its DE 7 and DE 4; undefined if there was none. */
export const sentUnder = async (
  sql: Queryable,
  id: string,
  stan: string,
): Promise<SentOperation | undefined> => {
  const [sent] = await sql<SentOperation[]>`
    select replace(type, '_sent', '') as operation, data ->> 'transmission' as transmission, (data ->> 'amount')::bigint as "amountCents",
      exists (
        select from card_reversals a
        where a.transaction_id = ${id} and a.stan = ${stan} and ${isAdviceRow(sql)}
      ) as "isAdvised"
    from card_events
    where transaction_id = ${id} and data ->> 'stan' = ${stan}
      and type in ('capture_sent', 'partial_capture_sent', 'refund_sent', 'increment_sent')
    order by id desc limit 1`
  return sent
}

/** A void that the network refused under the STAN, and of which nothing was heard since; undefined if there is none. */
export const refusedVoidUnder = async (
  sql: Queryable,
  id: string,
  stan: string,
): Promise<RefusedVoid | undefined> => {
  const [refused] = await sql<RefusedVoid[]>`
    select replace(s.type, '_sent', '') as operation, s.data ->> 'transmission' as transmission,
      (s.data ->> 'amount')::bigint as "amountCents",
      exists (
        select from card_events m where m.transaction_id = s.transaction_id and m.id > s.id
          and m.type = any(${textArray(movingEvents)}::text::text[])
      ) as "isOvertaken"
    from card_events s
    join card_events d on d.transaction_id = s.transaction_id and d.data ->> 'stan' = ${stan}
      and d.type = replace(s.type, '_sent', '_declined')
    where s.transaction_id = ${id} and s.data ->> 'stan' = ${stan}
      and s.type in ('void_sent', 'partial_void_sent', 'release_sent')
      and not exists (
        select from card_events l where l.transaction_id = s.transaction_id
          and l.data ->> 'stan' = ${stan} and l.type = 'late_' || replace(s.type, '_sent', ''))`
  return refused
}

/** In the data of an event: from now on a person is needed. */
export const attention = { attention: 'true' } as const

/** Whether an event asks for a person, and none has resolved the transaction since. */
export const isPersonAskedFor = async (tx: Queryable, id: string): Promise<boolean> => {
  const found = await tx`
    select from card_events a where a.transaction_id = ${id}
      and a.data ->> 'attention' = ${attention.attention} and not exists (
        select from card_events r
        where r.transaction_id = a.transaction_id and r.type = 'resolved' and r.id > a.id) limit 1`
  return found.length > 0
}

export type CardHistory = {
  /** The trace of the last request; null where nothing was traced. */
  readonly traceId: string | null
  /** Oldest first. */
  readonly events: readonly CardEventRow[]
}

/** @param afterId the last event before the page; undefined: it begins with the first one */
export const historyOf = async (
  sql: Client,
  id: string,
  afterId: string | undefined,
  limit: number,
): Promise<CardHistory> => {
  const [[traced], events] = await Promise.all([
    sql<{ traceId: string | null }[]>`
      select substr(traceparent, 4, 32) as "traceId" from card_transactions where id = ${id}`,
    sql<CardEventRow[]>`
      select * from (
        -- That it was sent, its own row tells; older ones have an event beside, too.
        select 0::bigint as id,
          case when amount_cents = 0 then 'verification_sent' else 'authorization_sent' end as type,
          jsonb_build_object('stan', stan, 'rrn', rrn) as data, null::json as messages, created_at as at
        from card_transactions t
        where id = ${id} and ${afterId === undefined} and not exists (
          select from card_events e where e.transaction_id = t.id
            and e.type in ('verification_sent', 'authorization_sent'))
        union all
        -- What cannot be stored of an older one can be shown as JSON.
        select id, type, data, coalesce(exchange::json, messages::json), at from card_events
        where transaction_id = ${id} ${afterId === undefined ? sql`` : sql`and id > ${afterId}`}
      ) happened order by id limit ${limit}`,
  ])
  return { traceId: traced?.traceId ?? null, events }
}
