import { type Client, textArray, uuidBound } from '#src/platform/database/index.ts'
import type { ActivityRows } from '#src/platform/http/index.ts'
import type { Visible } from '../wallets/rights.ts'
import { visible } from './store.ts'

/** Identifiers hold the time of their process, rows that of the database. */
const clockMarginMs = 60_000
const idAt = (from: Date): string =>
  `trf_${uuidBound(new Date(from.getTime() - clockMarginMs)).replaceAll('-', '')}`

/** Transfers of late of an account, by its index; the last step of each by its key. */
export const transferActivity =
  (sql: Client, by: Visible): ActivityRows =>
  ({ from, limit }) =>
    sql`
    select f.created_at as at, t.status, t.error ->> 'code' as reason,
      extract(epoch from t.settled_at - f.created_at)::float8 * 1000 as ms
    from (
      select f.id, f.transaction_id, f.created_at from drex_transfers f
      where ${visible(sql, by)} and f.created_at >= ${from} and f.id >= ${idAt(from)}
      ${
        by.wallets === undefined
          ? sql``
          : sql`and (f.from_wallet = any(${textArray(by.wallets)}::text[])
              or f.to_wallet = any(${textArray(by.wallets)}::text[]))`
      }
      order by f.id desc limit ${limit}
    ) f join drex_transactions t on t.id = f.transaction_id`
