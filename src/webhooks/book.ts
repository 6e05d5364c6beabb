import type { Client } from '#src/platform/database/index.ts'
import { type BookLine, bookCountedMax } from '#src/platform/lifecycle/index.ts'

/** The events that are not yet deliveries, and the deliveries that have not ended. */
export const bookOf = async (sql: Client): Promise<readonly BookLine[]> => {
  const [events] = await sql<Omit<BookLine, 'what'>[]>`
    select count(*)::int as open, min(at) as "oldestOpen",
      (select created_at from webhook_events order by id desc limit 1) as last
    from (
      select created_at as at from webhook_events where published_at is null
      order by created_at limit ${bookCountedMax}
    ) waiting`
  const [deliveries] = await sql<Omit<BookLine, 'what'>[]>`
    select least(count(*), ${bookCountedMax})::int as open, min(at) as "oldestOpen",
      null::timestamptz as last
    from webhook_endpoints e cross join lateral (
      select created_at as at from webhook_deliveries
      where endpoint_id = e.id and status = 'pending'
      order by next_attempt_at limit ${bookCountedMax}
    ) waiting`
  return [
    { what: 'webhook events', ...events! },
    { what: 'webhook deliveries', ...deliveries! },
  ]
}
