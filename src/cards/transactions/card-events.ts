import type { Client, Queryable } from '#src/platform/database/index.ts'

export type CardEventRow = {
  readonly id: bigint
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly at: Date
}

type SentOperation = {
  readonly operation: 'capture' | 'partial_capture' | 'refund' | 'increment'
  readonly transmission: string
  readonly amountCents: bigint
}

/** Whether the refund or increment that was sent under the STAN counts. */
export const isCounted = async (sql: Queryable, id: string, stan: string): Promise<boolean> => {
  const found = await sql`
    select from card_events
    where transaction_id = ${id} and type in ('refunded', 'incremented') and data ->> 'stan' = ${stan} limit 1`
  return found.length > 0
}

/** A capture, refund or increment that was sent under the STAN, with its DE 7 and DE 4; undefined if there was none. */
export const sentUnder = async (
  sql: Queryable,
  id: string,
  stan: string,
): Promise<SentOperation | undefined> => {
  const [sent] = await sql<SentOperation[]>`
    select replace(type, '_sent', '') as operation, data ->> 'transmission' as transmission, (data ->> 'amount')::bigint as "amountCents"
    from card_events
    where transaction_id = ${id} and data ->> 'stan' = ${stan}
      and type in ('capture_sent', 'partial_capture_sent', 'refund_sent', 'increment_sent')
    order by id desc limit 1`
  return sent
}

/** Oldest first. */
export const eventsOf = async (
  sql: Client,
  id: string,
  limit: number,
): Promise<readonly CardEventRow[]> => sql<CardEventRow[]>`
  select id, type, data, at from card_events where transaction_id = ${id} order by id limit ${limit}`
