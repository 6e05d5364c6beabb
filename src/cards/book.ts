import type { Client } from '#src/platform/database/index.ts'
import { type BookLine, bookCountedMax } from '#src/platform/lifecycle/index.ts'

/** Card transactions with an operation under way, and reversals that no network has confirmed. */
export const bookOf = async (sql: Client): Promise<readonly BookLine[]> => {
  const [transactions] = await sql<Omit<BookLine, 'what'>[]>`
    select count(*)::int as open, min(at) as "oldestOpen",
      (select created_at from card_transactions order by id desc limit 1) as last
    from (
      select created_at as at from card_transactions
      where status = 'pending' or operation is not null order by touched_at limit ${bookCountedMax}
    ) waiting`
  const [reversals] = await sql<Omit<BookLine, 'what'>[]>`
    select count(*)::int as open, min(at) as "oldestOpen",
      (select created_at from card_reversals order by id desc limit 1) as last
    from (
      select created_at as at from card_reversals where status = 'pending'
      order by created_at limit ${bookCountedMax}
    ) waiting`
  return [
    { what: 'card transactions', ...transactions! },
    { what: 'card reversals', ...reversals! },
  ]
}
