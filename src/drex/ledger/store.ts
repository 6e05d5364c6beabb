/** SQL of the ledger: the position, the movements, and what each wallet holds by them. */
import type { Row } from 'postgres'
import {
  type Client,
  type Queryable,
  type Transaction,
  valueOfRow,
} from '#src/platform/database/index.ts'
import type { Hex } from '../evm/hex.ts'
import { newId } from '../ids.ts'
import { allWallets } from '../wallets/store.ts'
import { type Entry, signed } from './entries.ts'
import type { Anchor, Place } from './place.ts'

export type Position = Place & {
  readonly anchors: readonly Anchor[]
  readonly historyUntil: number
}

export const positionOf = async (
  sql: Queryable,
  network: string,
): Promise<Position | undefined> => {
  const [row] = await sql<
    { number: string; hash: Hex | null; anchors: readonly Anchor[]; until: string }[]
  >`
    select block_number::text as number, block_hash as hash, anchors, history_until::text as until
    from drex_positions where network = ${network}`
  return (
    row && {
      number: Number(row.number),
      hash: row.hash ?? undefined,
      anchors: row.anchors,
      historyUntil: Number(row.until),
    }
  )
}

/** Begins after the block `number`, if no process has begun yet. */
export const beginPosition = async (
  sql: Client,
  network: string,
  number: number,
  historyUntil: number,
): Promise<void> => {
  await sql`
    insert into drex_positions (network, block_number, history_until)
    values (${network}, ${number}, ${historyUntil}) on conflict do nothing`
}

/** @returns false if another process has moved it meanwhile; if not, none does until the transaction ends */
export const movePosition = async (
  sql: Transaction,
  network: string,
  from: Place,
  to: Place,
  anchors: readonly Anchor[],
): Promise<boolean> => {
  const moved = await sql`
    update drex_positions set block_number = ${to.number}, block_hash = ${to.hash ?? null},
      anchors = ${JSON.stringify(anchors)}::text::jsonb, updated_at = now()
    where network = ${network} and block_number = ${from.number}
      and block_hash is not distinct from ${from.hash ?? null}`
  return moved.count === 1
}

export type Owned = { readonly id: string; readonly account: string }

/** The accounts' wallets of each of the addresses that anybody has here. */
export const walletsAmong = async (
  sql: Queryable,
  addresses: readonly Hex[],
): Promise<ReadonlyMap<Hex, readonly Owned[]>> => {
  const rows = await sql<(Owned & { readonly address: Hex })[]>`
    select address, id, account from ${allWallets(sql)}
    where address = any(${[...addresses]}::text[]) order by id`
  return Map.groupBy(rows, ({ address }) => address)
}

/** @property bookedAt - of its block */
export type Booking = Entry & { readonly bookedAt: Date }
export type Booked = Booking & { readonly id: string }

const nameOf = ({ token, wallet }: { readonly token: Hex; readonly wallet: Hex }) =>
  `${token} ${wallet}`

/** More than an honest currency can come to, and less than a column holds, with what it is compared with. */
const totalMax = 2n ** 257n

/** The sums of a currency that lies end there: its ledger is shared with others. */
const bounded = (total: bigint): bigint => {
  if (total > totalMax) return totalMax
  return total < -totalMax ? -totalMax : total
}

/** Writes movements, in order. Only whoever moves the position may: each builds on the sum before it. */
export const book = async (
  sql: Transaction,
  network: string,
  bookings: readonly Booking[],
): Promise<readonly Booked[]> => {
  if (bookings.length === 0) return []
  const holdings = new Map(bookings.map((each) => [nameOf(each), { ...each, total: 0n }]))
  const all = [...holdings.values()]
  const before = await sql<{ token: Hex; wallet: Hex; total: string }[]>`
    select token, wallet, total::text from drex_holdings
    join unnest(${all.map(({ token }) => token)}::text[], ${all.map(({ wallet }) => wallet)}::text[])
      as v(token, wallet) using (token, wallet)
    where network = ${network}`
  for (const row of before) holdings.get(nameOf(row))!.total = BigInt(row.total)
  const rows = bookings.map((booking) => {
    const holding = holdings.get(nameOf(booking))!
    holding.total = bounded(holding.total + signed(booking))
    return { ...booking, id: newId('mov'), total: holding.total }
  })
  const last = new Map(rows.map((row) => [nameOf(row), row]))
  const first = new Map(rows.toReversed().map((row) => [nameOf(row), row]))
  await insertMovements(sql, network, rows)
  await sql`
    insert into drex_holdings as h (network, token, wallet, total, since_block, moved_block)
    select ${network}, * from unnest(
      ${[...last.values()].map(({ token }) => token)}::text[],
      ${[...last.values()].map(({ wallet }) => wallet)}::text[],
      ${[...last.values()].map(({ total }) => String(total))}::numeric[],
      ${[...last.keys()].map((name) => first.get(name)!.blockNumber)}::bigint[],
      ${[...last.values()].map(({ blockNumber }) => blockNumber)}::bigint[])
    on conflict (network, token, wallet) do update
      set total = excluded.total, moved_block = excluded.moved_block`
  return rows
}

const insertMovements = (
  sql: Transaction,
  network: string,
  rows: readonly (Booked & { readonly total: bigint })[],
) => sql`
  insert into drex_movements (network, id, token, wallet, side, counterparty, amount, total,
    block_number, block_hash, log_index, hash, booked_at)
  select ${network}, * from unnest(
    ${rows.map(({ id }) => id)}::text[], ${rows.map(({ token }) => token)}::text[],
    ${rows.map(({ wallet }) => wallet)}::text[], ${rows.map(({ side }) => side)}::text[],
    ${rows.map(({ counterparty }) => counterparty)}::text[],
    ${rows.map(({ amount }) => String(amount))}::numeric[],
    ${rows.map(({ total }) => String(total))}::numeric[],
    ${rows.map(({ blockNumber }) => blockNumber)}::bigint[],
    ${rows.map(({ blockHash }) => blockHash)}::text[],
    ${rows.map(({ logIndex }) => logIndex)}::int[], ${rows.map(({ hash }) => hash)}::text[],
    ${rows.map(({ bookedAt }) => bookedAt.toISOString())}::timestamptz[])`

/** The transfers of this gateway among transactions of a network, by hash. */
export const transfersByHash = async (
  sql: Queryable,
  network: string,
  hashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, Owned>> => {
  const wanted = [...new Set(hashes)]
  const rows = await sql<(Owned & { readonly hash: Hex })[]>`
    select t.hash, f.id, f.account from drex_transactions t join drex_transfers f on f.id = t.subject
    where t.network = ${network} and t.hash = any(${wanted}::text[])
    union all
    select a.hash, f.id, f.account from drex_attempts a
      join drex_transactions t on t.id = a.transaction_id join drex_transfers f on f.id = t.subject
    where a.network = ${network} and a.hash = any(${wanted}::text[])`
  return new Map(rows.map(({ hash, ...transfer }) => [hash, transfer]))
}

/** Blocks above one that have movements, in order. */
export const bookedBlocks = async (
  sql: Client,
  network: string,
  above: number,
): Promise<readonly Anchor[]> => {
  const rows = await sql<{ number: string; hash: Hex }[]>`
    select distinct block_number::text as number, block_hash as hash from drex_movements
    where network = ${network} and block_number > ${above} and removed_at is null`
  return rows
    .map(({ number, hash }) => ({ number: Number(number), hash }))
    .sort((a, b) => a.number - b.number)
}

/** Takes back what blocks above one told; the rows stay, marked. @returns what came in */
export const removeAbove = async (
  sql: Transaction,
  network: string,
  above: number,
): Promise<readonly Booked[]> => {
  const removed = await sql`
    update drex_movements set removed_at = now()
    where network = ${network} and block_number > ${above} and removed_at is null
    returning id, token, wallet, side, counterparty, amount::text, block_number::text,
      block_hash, log_index, hash, booked_at`
  const booked = removed.map(readBooked)
  const tokens = booked.map(({ token }) => token)
  const wallets = booked.map(({ wallet }) => wallet)
  await sql`
    with changed as (
      select distinct token, wallet from unnest(${tokens}::text[], ${wallets}::text[])
        as v(token, wallet)
    ), ends as (
      select c.token, c.wallet, m.total, m.block_number from changed c left join lateral (
        select total, block_number from drex_movements
        where network = ${network} and token = c.token and wallet = c.wallet
          and removed_at is null
        order by booked_at desc, block_number desc, log_index desc, side desc limit 1
      ) m on true
    ), emptied as (
      delete from drex_holdings h using ends e where e.total is null
        and h.network = ${network} and h.token = e.token and h.wallet = e.wallet
    )
    update drex_holdings h set total = e.total, moved_block = e.block_number,
      checked_block = null, difference = 0
    from ends e where e.total is not null
      and h.network = ${network} and h.token = e.token and h.wallet = e.wallet`
  return booked
}

/** Reads a row whose numbers are text. */
export const readBooked = (row: Row): Booked => {
  const value = valueOfRow<
    Omit<Booked, 'amount' | 'blockNumber'> & {
      readonly amount: string
      readonly blockNumber: string
    }
  >(row)
  return { ...value, amount: BigInt(value.amount), blockNumber: Number(value.blockNumber) }
}

export type Holding = {
  readonly token: Hex
  readonly wallet: Hex
  readonly total: bigint
  readonly opening: bigint | undefined
  readonly movedBlock: number
}

/**
 * Holdings that moved since they were compared with the chain, and the block up to which they count all.
 *
 * @param after the one that they are to come after; undefined: from the first on
 */
export const uncheckedHoldings = async (
  sql: Client,
  network: string,
  after: Holding | undefined,
  limit: number,
): Promise<{ readonly at: Anchor | undefined; readonly holdings: readonly Holding[] }> => {
  const rows = await sql<
    {
      number: string
      hash: Hex
      token: Hex
      wallet: Hex
      total: string
      opening: string | null
      moved: string
    }[]
  >`
    select p.block_number::text as number, p.block_hash as hash, h.token, h.wallet, h.total::text,
      h.opening::text, h.moved_block::text as moved
    from drex_positions p join drex_holdings h using (network)
    where network = ${network} and p.block_hash is not null
      and (h.checked_block is null or h.checked_block < h.moved_block)
      and (h.moved_block, h.token, h.wallet) >
        (${after?.movedBlock ?? -1}, ${after?.token ?? ''}, ${after?.wallet ?? ''})
    order by h.moved_block, h.token, h.wallet limit ${limit}`
  const [first] = rows
  return {
    at: first && { number: Number(first.number), hash: first.hash },
    holdings: rows.map(({ token, wallet, total, opening, moved }) => ({
      token,
      wallet,
      total: BigInt(total),
      opening: opening === null ? undefined : BigInt(opening),
      movedBlock: Number(moved),
    })),
  }
}

/**
 * Writes down what the chain's own balances say. The first comparison makes the opening balance.
 *
 * @param checked those that have moved since are left for the next time
 */
export const saveChecks = async (
  sql: Client,
  network: string,
  block: number,
  checked: readonly (Holding & { readonly balance: bigint })[],
): Promise<void> => {
  await sql`
    update drex_holdings h set checked_block = ${block},
      opening = coalesce(h.opening, v.balance - v.total),
      difference = case when h.opening is null then 0 else v.balance - h.opening - v.total end
    from unnest(
      ${checked.map(({ token }) => token)}::text[], ${checked.map(({ wallet }) => wallet)}::text[],
      ${checked.map(({ total }) => String(total))}::numeric[],
      ${checked.map(({ balance }) => String(balance))}::numeric[]
    ) as v(token, wallet, total, balance)
    where h.network = ${network} and h.token = v.token and h.wallet = v.wallet
      and h.total = v.total and h.moved_block <= ${block}`
}

/** Wallets whose balance by the ledger is not the chain's, on each network that was read. */
export const countDiffering = (
  sql: Client,
): Promise<readonly { readonly network: string; readonly count: number }[]> => sql<
  { network: string; count: number }[]
>`
    select p.network, count(h.network)::int as count from drex_positions p
    left join drex_holdings h on h.network = p.network and h.difference <> 0
    group by p.network`

/** All positions, for the metrics. */
export const positions = (
  sql: Client,
): Promise<readonly { readonly network: string; readonly number: number }[]> =>
  sql<
    { network: string; number: number }[]
  >`select network, block_number::float8 as number from drex_positions`
