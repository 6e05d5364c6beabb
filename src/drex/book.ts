import type { Client } from '#src/platform/database/index.ts'
import { type BookLine, bookCountedMax } from '#src/platform/lifecycle/index.ts'
import { openStatuses } from './domain.ts'
import { listed } from './engine/store.ts'

/** Transactions of digital currency that have not ended. */
export const bookOf = async (sql: Client): Promise<readonly BookLine[]> => {
  const [line] = await sql<Omit<BookLine, 'what'>[]>`
    select count(*)::int as open, min(at) as "oldestOpen",
      (select created_at from drex_transactions order by id desc limit 1) as last
    from (
      select created_at as at from drex_transactions
      where status in (${listed(sql, openStatuses)}) limit ${bookCountedMax}
    ) waiting`
  return [{ what: 'digital currency transactions', ...line! }]
}
