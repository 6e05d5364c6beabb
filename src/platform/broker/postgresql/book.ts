import type { Client } from '#src/platform/database/index.ts'
import { type BookLine, bookCountedMax } from '#src/platform/lifecycle/index.ts'

/** What waits in the queues of the database, by topic, and what could not be handled. Ids below 0 are no messages. */
export const bookOf = async (sql: Client): Promise<readonly BookLine[]> => {
  const queues = await sql<Omit<BookLine, 'last'>[]>`
    select 'messages of ' || topic as what, count(*)::int as open, min(at) as "oldestOpen"
    from (
      select topic, published_at as at from broker_queue where id >= 0
      order by id limit ${bookCountedMax}
    ) waiting
    group by topic order by topic`
  const [letters] = await sql<Omit<BookLine, 'what' | 'last'>[]>`
    select count(*)::int as open, min(at) as "oldestOpen"
    from (select published_at as at from broker_dead_letters limit ${bookCountedMax}) letters`
  return [...queues, { what: 'dead letters', ...letters! }].map((line) => ({ ...line, last: null }))
}
