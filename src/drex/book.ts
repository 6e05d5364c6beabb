import { type Client, constants } from '#src/platform/database/index.ts'
import { type BookLine, bookCountedMax } from '#src/platform/lifecycle/index.ts'
import { openStatuses } from './domain.ts'

/** Transactions of digital currency that have not ended. */
export const bookOf = async (sql: Client): Promise<readonly BookLine[]> => {
  const isOpen = sql`drex_transactions.status in (${constants(sql, openStatuses)})`
  const [line] = await sql<Omit<BookLine, 'what'>[]>`
    with recursive networks as (
      select min(network) as network from drex_transactions where ${isOpen}
      union all
      select (select min(network) from drex_transactions where ${isOpen} and network > before.network)
      from networks before where before.network is not null
    )
    select least(count(*), ${bookCountedMax})::int as open, min(at) as "oldestOpen",
      (select created_at from drex_transactions order by id desc limit 1) as last
    from networks
      cross join unnest(array[${constants(sql, openStatuses)}]) as open(status)
      cross join lateral (
        select created_at as at from drex_transactions
        where ${isOpen} and drex_transactions.network = networks.network
          and drex_transactions.status = open.status
        order by id limit ${bookCountedMax}
      ) waiting`
  return [{ what: 'digital currency transactions', ...line! }]
}
