/** SQL of lanes: the next nonce of each sender, and the nonces missing below those in flight. */
import {
  type Client,
  optionalNumber,
  type Queryable,
  type Transaction,
} from '#src/platform/database/index.ts'
import { transition } from '../domain.ts'
import type { Hex } from '../evm/hex.ts'
import { before, type SignedRow, serverOf } from './store.ts'

/**
 * Locks senders in one order, so that two processes cannot block each other.
 * @param servers of each, the server of the database that told of its lane when its nonces were compared
 * @returns without those whose nonces are doubted, or were compared on another server than this, which may lack some
 */
export const lockLanes = async (
  sql: Transaction,
  network: string,
  senders: readonly Hex[],
  servers: ReadonlyMap<Hex, string>,
): Promise<Map<Hex, number>> => {
  const rows = await sql<{ sender: Hex; next_nonce: bigint; server: string }[]>`
    select sender, next_nonce, ${serverOf(sql)} from drex_lanes
    where network = ${network} and sender = any(${[...senders]}::text[]) and doubt is null
    order by sender for update`
  return new Map(
    rows.flatMap((row) =>
      servers.get(row.sender) === row.server ? [[row.sender, Number(row.next_nonce)]] : [],
    ),
  )
}

/** Creates missing lanes, and moves those behind the chain up to it. */
export const seedLanes = async (
  sql: Queryable,
  network: string,
  nonces: ReadonlyMap<string, number>,
): Promise<void> => {
  await sql`
    insert into drex_lanes (network, sender, next_nonce)
    select ${network}, sender, nonce
    from unnest(${[...nonces.keys()]}::text[], ${[...nonces.values()]}::bigint[]) as t(sender, nonce)
    on conflict (network, sender)
      do update set next_nonce = greatest(drex_lanes.next_nonce, excluded.next_nonce)`
}

export type Lane = {
  /** Undefined as long as there is none. */
  readonly next: number | undefined
  readonly doubt: string | undefined
  /** Which server of the database has told it. */
  readonly server: string
}

/** The lane of each of these senders. */
export const lanesOf = async (
  sql: Queryable,
  network: string,
  senders: readonly string[],
): Promise<ReadonlyMap<string, Lane>> => {
  const rows = await sql<
    { sender: string; next: bigint | null; doubt: string | null; server: string }[]
  >`
    select wanted.sender, lane.next_nonce as next, lane.doubt, ${serverOf(sql)}
    from unnest(${[...senders]}::text[]) wanted(sender) left join lateral (
      select next_nonce, doubt from drex_lanes
      where network = ${network} and sender = wanted.sender limit 1
    ) lane on true`
  return new Map(
    rows.map(({ sender, next, doubt, server }) => [
      sender,
      { next: optionalNumber(next ?? undefined), doubt: doubt ?? undefined, server },
    ]),
  )
}

/** Nobody signs for these senders until a look that begins after this has compared their nonces with the chain. */
export const doubt = async (
  sql: Transaction,
  network: string,
  senders: readonly string[],
): Promise<void> => {
  await sql`
    with locked as (
      select sender from drex_lanes where network = ${network} and sender = any(${[...senders]}::text[])
      order by sender for update
    )
    update drex_lanes l set doubt = gen_random_uuid()::text
    from locked where l.network = ${network} and l.sender = locked.sender`
}

/** @param doubt as it was before the comparison began @returns false if there is a newer one */
export const clearDoubt = async (
  sql: Transaction,
  network: string,
  sender: string,
  doubt: string | undefined,
): Promise<boolean> => {
  const cleared = await sql`
    update drex_lanes set doubt = null where network = ${network} and sender = ${sender}
      and (doubt is null or doubt = ${doubt ?? null}::text)`
  return cleared.count === 1
}

/** The most that each sender's transactions in flight can cost, in wei: any of the attempts may be the one that counts. */
export const boundBy = async (
  sql: Client,
  network: string,
  senders: readonly string[],
): Promise<ReadonlyMap<Hex, bigint>> => {
  const rows = await sql<{ sender: Hex; wei: string }[]>`
    select sender, sum(value + gas_limit * greatest(max_fee, (
      select max(a.max_fee) from drex_attempts a where a.transaction_id = t.id and a.kind <> 'lost'
    )))::text as wei
    from drex_transactions t
    where network = ${network} and status in (${before(sql, 'accepted')})
      and sender = any(${[...senders]}::text[]) group by sender`
  return new Map(rows.map((row) => [row.sender, BigInt(row.wei)]))
}

/** Senders of signed transactions that no node takes, for a reason that was told: more of theirs would wait too. */
export const stuck = async (sql: Client, network: string): Promise<readonly Hex[]> => {
  const rows = await sql<{ sender: Hex }[]>`
    select distinct sender from drex_transactions
    where network = ${network} and status in (${signed(sql)}) and error is not null`
  return rows.map(({ sender }) => sender)
}

const signed = (sql: Queryable) => sql.unsafe(`'${transition('pending', 'signed')}'`)

export const saveLanes = async (
  sql: Transaction,
  network: string,
  nonces: ReadonlyMap<string, number>,
): Promise<void> => {
  await sql`
    update drex_lanes l set next_nonce = t.nonce
    from unnest(${[...nonces.keys()]}::text[], ${[...nonces.values()]}::bigint[]) as t(sender, nonce)
    where l.network = ${network} and l.sender = t.sender`
}

/** Moves lanes whose next nonce a transaction of the sender has to the first that none has: earlier releases left them there. */
export const passTaken = async (
  sql: Client,
  network: string,
  senders: readonly Hex[],
): Promise<void> => {
  await sql`
    with locked as (
      select network, sender, next_nonce from drex_lanes
      where network = ${network} and sender = any(${[...senders]}::text[])
      order by sender for update
    )
    update drex_lanes l set next_nonce = free.nonce
    from locked cross join lateral (
      select t.nonce + 1 as nonce from drex_transactions t
      where t.network = locked.network and t.sender = locked.sender and t.nonce >= locked.next_nonce
        and not exists (
          select 1 from drex_transactions u
          where u.network = t.network and u.sender = t.sender and u.nonce = t.nonce + 1)
      order by t.nonce limit 1
    ) free
    where l.network = locked.network and l.sender = locked.sender and exists (
      select 1 from drex_transactions t where t.network = locked.network
        and t.sender = locked.sender and t.nonce = locked.next_nonce)`
}

/** Each sender's lowest nonce in flight. */
export const lowestInFlight = async (
  sql: Client,
  network: string,
): Promise<ReadonlyMap<Hex, number>> => {
  const rows = await sql<{ sender: Hex; nonce: bigint }[]>`
    select sender, min(nonce) as nonce from drex_transactions
    where network = ${network} and status in (${before(sql, 'accepted')}) group by sender`
  return new Map(rows.map((row) => [row.sender, Number(row.nonce)]))
}

/** Whether a sender's transaction at or after a nonce has a receipt: then the node's count is out of date. */
export const hasMinedFrom = async (
  sql: Client,
  network: string,
  sender: Hex,
  nonce: number,
): Promise<boolean> => {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select 1 from drex_transactions where network = ${network} and sender = ${sender}
        and nonce >= ${nonce} and status in (${before(sql, 'settled_success')})
    ) as found`
  return row?.found ?? false
}

/**
 * The bytes that were sent, or mined, at nonces of a sender from one up to another, exclusively. Only of a nonce whose
 * own bytes were mined is it known what the chain has under it.
 */
export const sentBetween = async (
  sql: Client,
  network: string,
  sender: Hex,
  from: number,
  end: number,
): Promise<
  ReadonlyMap<number, { readonly id: string; readonly raw: Hex; readonly isMined: boolean }>
> => {
  const rows = await sql<{ id: string; nonce: bigint; raw: Hex; isMined: boolean }[]>`
    select t.id, t.nonce, coalesce(a.raw, t.raw) as raw, t.mined_hash is not null as "isMined"
    from drex_transactions t
    left join drex_attempts a on a.network = t.network and a.hash = t.mined_hash
    where t.network = ${network} and t.sender = ${sender}
      and t.nonce >= ${from} and t.nonce < ${end}`
  return new Map(rows.map(({ nonce, ...sent }) => [Number(nonce), sent]))
}

/** @returns those of the hashes that transactions with a nonce have, or had before it was given another */
export const ownHashes = async (
  sql: Queryable,
  network: string,
  hashes: readonly Hex[],
): Promise<ReadonlySet<Hex>> => {
  const rows = await sql<{ hash: Hex }[]>`
    select hash from drex_transactions where network = ${network} and hash = any(${[...hashes]}::text[])
    union all
    select a.hash from drex_attempts a join drex_transactions t on t.id = a.transaction_id
    where a.network = ${network} and a.hash = any(${[...hashes]}::text[])
      and t.status not in (${before(sql, 'signed')})`
  return new Set(rows.map(({ hash }) => hash))
}

/** Whether another transaction of the sender has one of these nonces, or any has one of these hashes; under the lane's lock. */
export const isTaken = async (
  sql: Transaction,
  network: string,
  sender: Hex,
  sent: readonly { readonly nonce: number; readonly hash: Hex }[],
): Promise<boolean> => {
  const nonces = sent.map(({ nonce }) => nonce)
  // Earlier releases left the nonce of another to what was only to use it up.
  await sql`
    update drex_transactions set nonce = null where network = ${network} and sender = ${sender}
      and nonce = any(${nonces}::bigint[]) and status = 'cancelled' and mined_hash is null`
  const rows = await sql`
    select 1 from drex_transactions where network = ${network} and sender = ${sender}
      and nonce = any(${nonces}::bigint[]) limit 1`
  if (rows.length > 0) return true
  const hashes = sent.map(({ hash }) => hash)
  return (await ownHashes(sql, network, hashes)).size > 0
}

/** @returns false if the nonce has a transaction already */
export const insertGapFill = async (
  sql: Client,
  network: string,
  sender: Hex,
  row: SignedRow,
  dueInMs: number,
): Promise<boolean> => {
  const inserted = await sql`
    insert into drex_transactions (id, network, sender, kind, subject, status, recipient, data,
      nonce, hash, raw, gas_limit, max_fee, tip, created_by, expires_at, signed_at, due_at)
    values (${row.id}, ${network}, ${sender}, 'gap_fill', ${row.id}, 'signed', ${sender}, '0x',
      ${row.nonce}, ${row.hash}, ${row.raw}, ${String(row.gasLimit)}, ${String(row.maxFee)},
      ${String(row.tip)}, 'engine', now(), now(), now() + ${dueInMs} * interval '1 millisecond')
    on conflict do nothing`
  return inserted.count === 1
}
