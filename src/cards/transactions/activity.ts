import { type Client, textArray } from '#src/platform/database/index.ts'
import type { ActivityRows } from '#src/platform/http/index.ts'
import { clockMarginMs, idAt, type TransactionFilter } from './store.ts'

/** What the network's answer to the request makes of a transaction. */
const answers = ['authorized', 'declined', 'verified'] as const

/**
 * Transactions of late of an account, by its index; the answer by the index of events. Fenced off: in the order of its id
 * the planner would walk all events until one of the transaction comes.
 */
export const cardActivity =
  (
    sql: Client,
    { account, merchantIds }: Pick<TransactionFilter, 'account' | 'merchantIds'>,
  ): ActivityRows =>
  ({ from, limit }) =>
    sql`
    select t.created_at as at, t.status,
      coalesce(t.reason, case when t.status = 'declined' then t.response_code end) as reason,
      (select extract(epoch from e.at - t.created_at)::float8 * 1000
        from (select id, at, type from card_events where transaction_id = t.id offset 0) e
        where e.type = any(${textArray(answers)}::text[])
        order by e.id limit 1) as ms
    from (
      select id, status, reason, response_code, created_at from card_transactions
      where account = ${account} and created_at >= ${from}
        and id >= ${idAt(from.getTime() - clockMarginMs)}
        ${merchantIds === undefined ? sql`` : sql`and merchant_id = any(${textArray(merchantIds)}::text::text[])`}
      order by id desc limit ${limit}
    ) t`
