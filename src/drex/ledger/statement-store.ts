/** SQL of statements. */
import type { Queryable } from '#src/platform/database/index.ts'
import type { Hex } from '../evm/hex.ts'
import { type Side, signed } from './entries.ts'
import { type Booked, readBooked } from './store.ts'

/** What a statement shows of a movement. */
export type StatementRow = Booked & {
  readonly total: bigint
  /** This and the reference are shown if the transfer belongs to the account that asks. */
  readonly transferId: string | undefined
  readonly reference: string | undefined
}

export type StatementQuery = {
  readonly network: string
  readonly token: Hex
  readonly wallet: Hex
  readonly account: string
  /** Booked then or later. */
  readonly from: Date | undefined
  /** Booked before. */
  readonly to: Date | undefined
  readonly after: StatementKey | undefined
  readonly limit: number
}

/** Orders the movements of a wallet. */
export type StatementKey = Pick<Booked, 'bookedAt' | 'blockNumber' | 'logIndex' | 'side'>

/** A page of a wallet's movements, oldest first. */
export const statementPage = async (
  sql: Queryable,
  query: StatementQuery,
): Promise<readonly StatementRow[]> => {
  const { network, token, wallet, account, from, to, after, limit } = query
  const rows = await sql`
    select m.id, m.token, m.wallet, m.side, m.counterparty, m.amount::text, m.total::text,
      m.block_number::text, m.block_hash, m.log_index, m.hash, m.booked_at,
      f.id as transfer_id, f.reference
    from drex_movements m left join lateral (
      select subject from drex_transactions where network = m.network and hash = m.hash
      union all
      select t.subject from drex_attempts a join drex_transactions t on t.id = a.transaction_id
      where a.network = m.network and a.hash = m.hash
      limit 1
    ) t on true left join drex_transfers f on f.id = t.subject and f.account = ${account}
    where m.network = ${network} and m.token = ${token} and m.wallet = ${wallet}
      and m.removed_at is null
      ${from === undefined ? sql`` : sql`and m.booked_at >= ${from.toISOString()}::timestamptz`}
      ${to === undefined ? sql`` : sql`and m.booked_at < ${to.toISOString()}::timestamptz`}
      ${
        after === undefined
          ? sql``
          : sql`and (m.booked_at, m.block_number, m.log_index, m.side) > (
              ${after.bookedAt.toISOString()}::timestamptz, ${after.blockNumber}::bigint,
              ${after.logIndex}::int, ${after.side})`
      }
    order by m.booked_at, m.block_number, m.log_index, m.side limit ${limit}`
  return rows.map((row) => ({
    ...(readBooked(row) as Omit<StatementRow, 'total'>),
    total: BigInt(row['total']),
  }))
}

/** Sum of a wallet's movements before a time, those that retention has deleted included; of all of them without one. */
export const totalBefore = async (
  sql: Queryable,
  { network, token, wallet }: Pick<StatementQuery, 'network' | 'token' | 'wallet'>,
  before: Date | undefined,
): Promise<bigint> => {
  const [last] = await sql<{ total: string }[]>`
    select total::text from drex_movements
    where network = ${network} and token = ${token} and wallet = ${wallet} and removed_at is null
      ${before === undefined ? sql`` : sql`and booked_at < ${before.toISOString()}::timestamptz`}
    order by booked_at desc, block_number desc, log_index desc, side desc limit 1`
  if (last !== undefined) return BigInt(last.total)
  if (before === undefined) return 0n
  const [first] = await sql<{ total: string; amount: string; side: Side }[]>`
    select total::text, amount::text, side from drex_movements
    where network = ${network} and token = ${token} and wallet = ${wallet} and removed_at is null
      and booked_at >= ${before.toISOString()}::timestamptz
    order by booked_at, block_number, log_index, side limit 1`
  if (first === undefined) return 0n
  return BigInt(first.total) - signed({ side: first.side, amount: BigInt(first.amount) })
}

export type HoldingState = {
  readonly opening: bigint | undefined
  readonly checkedBlock: number | undefined
  readonly difference: bigint
}

/** @returns undefined if the wallet has had no movement */
export const holdingOf = async (
  sql: Queryable,
  { network, token, wallet }: Pick<StatementQuery, 'network' | 'token' | 'wallet'>,
): Promise<HoldingState | undefined> => {
  const [row] = await sql<{ opening: string | null; checked: string | null; difference: string }[]>`
    select opening::text, checked_block::text as checked, difference::text from drex_holdings
    where network = ${network} and token = ${token} and wallet = ${wallet}`
  return (
    row && {
      opening: row.opening === null ? undefined : BigInt(row.opening),
      checkedBlock: row.checked === null ? undefined : Number(row.checked),
      difference: BigInt(row.difference),
    }
  )
}
