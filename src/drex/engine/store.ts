/** SQL of the engine. Each statement handles a whole batch; arrays travel as unnested columns. */
import type { Row } from 'postgres'
import {
  type Client,
  constants,
  looksLikeOne,
  optionalBigint,
  optionalNumber,
  type Queryable,
  type Transaction,
  valueOfRow,
} from '#src/platform/database/index.ts'
import {
  isFinal,
  openStatuses,
  sourcesOf,
  type TransactionEvent,
  type TransactionStatus,
  transition,
} from '../domain.ts'
import type { Hex } from '../evm/hex.ts'
import type { Judged } from './evidence.ts'
import {
  errorColumn,
  type Following,
  type NewTransaction,
  type OpenTransaction,
  type TransactionError,
  withCall,
} from './transaction.ts'

/** The columns of `t` that the engine reads. */
const columns = (sql: Queryable) => sql`
  t.id, t.sender, t.kind, t.subject, t.status, t.recipient, t.data, t.value, t.nonce, t.hash, t.raw, t.gas_limit,
  t.max_fee, t.tip, t.block_number, t.block_hash, t.mined_hash, t.gas_used, t.succeeded, t.mismatch, t.attempts,
  ${deploymentOf(sql)}`

/** The columns with which {@link withCall} completes the call of a permit. */
export const deploymentOf = (sql: Queryable) => sql`
  case when t.kind = 'permit' then (
    select jsonb_build_object('sender', p.sender, 'nonce', p.nonce) from drex_transactions p
    where p.id = t.after_id and p.nonce is not null
  ) end as deployment`

const read = (row: Row): OpenTransaction => {
  const value = valueOfRow<
    Omit<OpenTransaction, Counted | Wei> & { readonly [P in Counted]?: bigint } & {
      readonly [P in Wei]?: string
    } & Following
  >(row)
  return {
    ...withCall(value),
    value: BigInt(value.value!),
    maxFee: optionalBigint(value.maxFee),
    tip: optionalBigint(value.tip),
    nonce: optionalNumber(value.nonce),
    blockNumber: optionalNumber(value.blockNumber),
    gasUsed: optionalNumber(value.gasUsed),
  }
}

type Counted = 'nonce' | 'blockNumber' | 'gasUsed'
type Wei = 'value' | 'maxFee' | 'tip'

/**
 * The statuses from which an event leads on, for `status in (…)`: the guard of every UPDATE, from the one table of
 * transitions. They are constants in the statement, so that the planner can choose the partial index.
 */
export const before = (sql: Queryable, event: TransactionEvent) => constants(sql, sourcesOf(event))

export type SignedRow = {
  readonly id: string
  readonly nonce: number
  readonly hash: Hex
  readonly raw: Hex
  readonly gasLimit: bigint
  readonly maxFee: bigint
  readonly tip: bigint
}

export type MinedRow = {
  readonly id: string
  readonly minedHash: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly succeeded: boolean
  readonly mismatch: string | undefined
  readonly gasUsed: number
}

export const insertTransactions = async (
  sql: Queryable,
  rows: readonly NewTransaction[],
): Promise<void> => {
  const column = (key: Exclude<keyof NewTransaction, 'expiresAt' | 'value' | 'requestAttempt'>) =>
    rows.map((row) => row[key] ?? null)
  await sql`
    insert into drex_transactions
      (id, network, sender, kind, subject, status, recipient, data, value, after_id, request_attempt,
        created_by, expires_at)
    select id, network, sender, kind, subject, 'pending', recipient, data, value::numeric, after_id,
      request_attempt, created_by, expires_at::timestamptz
    from unnest(
      ${column('id')}::text[], ${column('network')}::text[], ${column('sender')}::text[],
      ${column('kind')}::text[], ${column('subject')}::text[], ${column('recipient')}::text[],
      ${column('data')}::text[], ${rows.map(({ value }) => String(value ?? 0n))}::text[],
      ${column('afterId')}::text[], ${rows.map((row) => row.requestAttempt ?? 1)}::smallint[],
      ${column('createdBy')}::text[], ${rows.map((row) => row.expiresAt.toISOString())}::text[]
    ) as t(id, network, sender, kind, subject, recipient, data, value, after_id, request_attempt,
      created_by, expires_at)`
}

/** A transaction and the database server that told of it. */
export type Taken = OpenTransaction & { readonly server: string }

/** Another one after a failover, or once the same one began anew: what this process remembers may be of a later state. */
export const serverOf = (sql: Queryable) => sql`pg_postmaster_start_time()::text as server`

/** Pending ones whose turn it is, oldest first; other processes leave them alone for a while. */
export const takePending = async (
  sql: Client,
  network: string,
  options: {
    readonly limit: number
    readonly claimMs: number
    /** Senders that have to wait. */
    readonly except: readonly Hex[]
  },
): Promise<readonly Taken[]> => {
  const rows = await sql`
    with taken as (
      select t.id
      from drex_transactions t left join drex_transactions p on p.id = t.after_id
      where t.network = ${network} and t.status in (${before(sql, 'signed')}) and t.due_at <= now()
        and t.expires_at > now() and t.held is null and (t.after_id is null or p.status = 'confirmed')
        ${options.except.length === 0 ? sql`` : sql`and t.sender <> all(${[...options.except]}::text[])`}
      order by t.id limit ${options.limit} for update of t skip locked
    )
    update drex_transactions t
    set due_at = now() + ${options.claimMs} * interval '1 millisecond'
    from taken where t.id = taken.id
    returning ${columns(sql)}, ${serverOf(sql)}`
  return rows.map((row) => read(row) as Taken).toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** Taken by a node, without a receipt. What no node has taken yet is in nobody's pool. */
export const countInFlight = async (sql: Client, network: string): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from drex_transactions
    where network = ${network} and status in (${sql.unsafe(`'${transition('signed', 'accepted')}'`)})`
  return row?.count ?? 0
}

export const countOpen = async (
  sql: Client,
): Promise<readonly { network: string; status: TransactionStatus; count: number }[]> => sql<
  { network: string; status: TransactionStatus; count: number }[]
>`
    select network, status, count(*)::int as count from drex_transactions
    where status in (${constants(sql, openStatuses)}) group by network, status`

/** @returns those still pending and not held; they stay locked until the transaction ends */
export const lockPending = async (
  sql: Transaction,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const rows = await sql<{ id: string }[]>`
    select id from drex_transactions where id = any(${[...ids]}::text[])
      and status in (${before(sql, 'signed')}) and held is null
    order by id for update`
  return new Set(rows.map((row) => row.id))
}

export const saveSigned = async (
  sql: Transaction,
  rows: readonly SignedRow[],
  dueInMs: number,
): Promise<void> => {
  const text = (values: readonly (string | bigint)[]) => values.map(String)
  await sql`
    update drex_transactions t set status = 'signed', nonce = v.nonce, hash = v.hash, raw = v.raw,
      gas_limit = v.gas_limit, max_fee = v.max_fee::numeric, tip = v.tip::numeric, error = null, signed_at = now(),
      due_at = now() + ${dueInMs} * interval '1 millisecond'
    from unnest(
      ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.nonce)}::bigint[],
      ${rows.map((row) => row.hash)}::text[], ${rows.map((row) => row.raw)}::text[],
      ${text(rows.map((row) => row.gasLimit))}::bigint[],
      ${text(rows.map((row) => row.maxFee))}::text[],
      ${text(rows.map((row) => row.tip))}::text[]
    ) as v(id, nonce, hash, raw, gas_limit, max_fee, tip)
    where t.id = v.id`
}

/** A deployment's address is known from its nonce. */
export const savePredictedAddresses = async (
  sql: Transaction,
  addresses: ReadonlyMap<string, Hex>,
): Promise<void> => {
  await sql`
    update drex_contracts c set address = t.address
    from unnest(${[...addresses.keys()]}::text[], ${[...addresses.values()]}::text[])
      as t(transaction_id, address)
    where c.transaction_id = t.transaction_id`
}

export const markBroadcast = async (sql: Client, ids: readonly string[]): Promise<void> => {
  await sql`
    update drex_transactions set status = 'broadcast', attempts = attempts + 1,
      broadcast_at = coalesce(broadcast_at, now()), error = null
    where id = any(${[...ids]}::text[]) and status in (${before(sql, 'accepted')})`
}

/** The time until the next look at a transaction of which we know nothing. */
export const retryMs = 500

/** Delays the next look, and stores an error for the reader. */
export const defer = async (
  sql: Queryable,
  ids: readonly string[],
  dueInMs: number,
  error?: TransactionError,
): Promise<void> => {
  if (ids.length === 0) return
  await sql`
    update drex_transactions set due_at = now() + ${dueInMs} * interval '1 millisecond',
      error = coalesce(${errorColumn(error)}::text::jsonb, error)
    where id = any(${[...ids]}::text[])
      and status in (${before(sql, 'signed')}, ${before(sql, 'accepted')})`
}

/** Delays the next look by the age of a transaction: each look that ends as the last makes the next come later. */
export const deferLonger = async (
  sql: Client,
  ids: readonly string[],
  maxSeconds: number,
): Promise<void> => {
  if (ids.length === 0) return
  await sql`
    update drex_transactions
    set due_at = now() + greatest(${retryMs} * interval '1 millisecond',
      least(now() - created_at, ${maxSeconds} * interval '1 second'))
    where id = any(${[...ids]}::text[]) and status in (${before(sql, 'signed')})`
}

/** @property isFirst - The hash is that of its first bytes: no attempt has replaced them. */
export type Found = Judged & { readonly isFirst: boolean }

/** Finds open transactions by hash, each with the matching attempt. */
export const findByHash = async (
  sql: Client,
  network: string,
  hashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, Found>> => {
  const list = [...hashes]
  const rows = await sql`
    select true as is_first, t.hash, t.id, t.kind, t.sender, t.recipient, ${judgedData(sql)} as data
    from drex_transactions t
    where network = ${network} and hash = any(${list}::text[])
      and status in (${before(sql, 'receipt')})
    union all
    select false, a.hash, t.id, t.kind, t.sender, t.recipient, ${judgedData(sql)} from drex_attempts a
      join drex_transactions t on t.id = a.transaction_id
    where a.network = ${network} and a.hash = any(${list}::text[])
      and t.status in (${before(sql, 'receipt')})`
  return new Map(
    rows.map((row) => {
      const { hash, ...found } = valueOfRow<Found & { readonly hash: Hex }>(row)
      return [hash, found]
    }),
  )
}

/** A deployment's data is large, and says nothing about its receipt; that of all others may. */
const judgedData = (sql: Client) => sql`case when t.kind <> 'deploy' then t.data else '0x' end`

export const markMined = async (sql: Client, rows: readonly MinedRow[]): Promise<void> => {
  await sql`
    update drex_transactions t set status = 'mined', ${minedColumns(sql)}
    from ${minedValues(sql, rows)}
    where t.id = v.id and t.status in (${before(sql, 'receipt')})`
}

/** What a receipt tells, of `v` by {@link minedValues}. */
export const minedColumns = (sql: Queryable) => sql`
  mined_hash = v.mined_hash, block_number = v.block_number, block_hash = v.block_hash,
  succeeded = v.succeeded::boolean, gas_used = v.gas_used, mismatch = v.mismatch, mined_at = now()`

export const minedValues = (sql: Queryable, rows: readonly MinedRow[]) => sql`
  unnest(
    ${rows.map((row) => row.id)}::text[], ${rows.map((row) => row.minedHash)}::text[],
    ${rows.map((row) => row.blockNumber)}::bigint[], ${rows.map((row) => row.blockHash)}::text[],
    ${rows.map((row) => String(row.succeeded))}::text[], ${rows.map((row) => row.gasUsed)}::bigint[],
    ${rows.map((row) => row.mismatch ?? null)}::text[]
  ) as v(id, mined_hash, block_number, block_hash, succeeded, gas_used, mismatch)`

/** Mined at or below a block: deep enough, if that block is still on the chain. */
export const minedUpTo = async (
  sql: Client,
  network: string,
  block: number,
  page: { readonly afterId: string; readonly limit: number },
): Promise<readonly OpenTransaction[]> => {
  const rows = await sql`
    select ${columns(sql)} from drex_transactions t
    where network = ${network} and status in (${before(sql, 'settled_success')})
      and block_number <= ${block} and id > ${page.afterId}
    order by id limit ${page.limit}`
  return rows.map(read)
}

/** A judged transaction, as it was mined in a block. */
export type MinedIn = Pick<OpenTransaction, 'id' | 'blockHash' | 'minedHash'>

const inBlock = ({ id, blockHash, minedHash }: MinedIn): MinedIn => ({ id, blockHash, minedHash })

/** Back to the pool: their block is gone. What another process has found in another since stays there. */
export const unmine = async (sql: Client, rows: readonly MinedIn[]): Promise<void> => {
  await sql`
    update drex_transactions t set status = 'broadcast', block_number = null, block_hash = null,
      mined_hash = null, succeeded = null, gas_used = null, mismatch = null, mined_at = null,
      due_at = now()
    from json_to_recordset(${JSON.stringify(rows.map(inBlock))}::text::json)
      as v(id text, "blockHash" text, "minedHash" text, nothing text)
    where ${looksLikeOne(sql)} and t.id = v.id and t.block_hash = v."blockHash"
      and t.mined_hash = v."minedHash"
      and t.status in (${before(sql, 'reorganised')})`
}

/** In flight and due for another look, or all in flight if `all`, as after a crash. */
export const dueInFlight = async (
  sql: Client,
  network: string,
  limit: number,
  all: { readonly afterId: string } | undefined,
): Promise<readonly OpenTransaction[]> => {
  const rows =
    all === undefined
      ? await sql`
          select ${columns(sql)} from drex_transactions t
          where network = ${network} and status in (${before(sql, 'accepted')}) and due_at <= now()
          order by sender, nonce limit ${limit}`
      : await sql`
          select ${columns(sql)} from drex_transactions t
          where network = ${network} and status in (${before(sql, 'accepted')}) and id > ${all.afterId}
          order by id limit ${limit}`
  return rows.map(read)
}

export const inFlightById = async (
  sql: Client,
  id: string,
): Promise<OpenTransaction | undefined> => {
  const [row] = await sql`
    select ${columns(sql)} from drex_transactions t where id = ${id} and status in (${before(sql, 'accepted')})`
  return row && read(row)
}

/** The newest supply of gas to each wallet that is under way, or ended within this time. */
export const gasSupplies = async (
  sql: Transaction,
  network: string,
  wallets: readonly Hex[],
  withinMs: number,
): Promise<ReadonlyMap<Hex, 'supplied' | 'failed'>> => {
  const rows = await sql<{ recipient: Hex; status: TransactionStatus }[]>`
    select distinct on (recipient) recipient, status from drex_transactions
    where network = ${network} and kind = 'gas' and recipient = any(${[...wallets]}::text[])
      and (status in (${constants(sql, openStatuses)})
        or settled_at > now() - ${withinMs} * interval '1 millisecond')
    order by recipient, id desc`
  const isLost = (status: TransactionStatus) => isFinal(status) && status !== 'confirmed'
  return new Map(rows.map((row) => [row.recipient, isLost(row.status) ? 'failed' : 'supplied']))
}
