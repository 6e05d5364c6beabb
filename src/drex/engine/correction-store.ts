/** SQL of what goes against the usual course: nonces that others used, and ends that the chain took back. */
import {
  type Client,
  type Queryable,
  type Transaction,
  valueOfRow,
} from '#src/platform/database/index.ts'
import type { TransactionStatus } from '../domain.ts'
import type { Hex } from '../evm/hex.ts'
import { before } from './store.ts'
import {
  type Ended,
  errorColumn,
  type TransactionError,
  type TransactionKind,
} from './transaction.ts'

/** An end that we have told and that no longer holds. */
export type Corrected = {
  readonly id: string
  readonly kind: TransactionKind
  readonly subject: string
  readonly previous: TransactionStatus
  readonly status: 'broadcast'
  readonly hash: Hex | undefined
  readonly reason: TransactionError
}

/** To stand before a `from` of rows with id, status and hash. */
export const insertCorrections = (
  sql: Queryable,
  to: TransactionStatus,
  reason: TransactionError,
) => sql`
  insert into drex_corrections (id, transaction_id, from_status, to_status, reason, hash)
  select 'cor_' || replace(gen_random_uuid()::text, '-', ''), id, status, ${to}::text,
    ${errorColumn(reason)}::text::jsonb, hash`

/** Time that a transaction has to be signed again, whatever is left of its own. */
const againMinutes = 10

/**
 * Makes transactions pending again whose nonce another transaction used. Their bytes are kept, so that they are known
 * should the chain bring them after all.
 */
export const loseNonces = async (
  sql: Transaction,
  ids: readonly string[],
  reason: TransactionError,
): Promise<void> => {
  const lost = [...ids]
  await sql`
    insert into drex_attempts (network, hash, transaction_id, kind, raw, max_fee, tip)
    select network, hash, id, 'lost', raw, max_fee, tip from drex_transactions
    where id = any(${lost}::text[]) and status in (${before(sql, 'nonce_lost')})
    on conflict do nothing`
  await sql`update drex_attempts set kind = 'lost' where transaction_id = any(${lost}::text[])`
  await sql`
    with lost as (
      select id, status, hash from drex_transactions
      where id = any(${lost}::text[]) and status in (${before(sql, 'nonce_lost')}) for update
    ), told as (
      ${insertCorrections(sql, 'pending', reason)} from lost
    )
    update drex_transactions t set status = 'pending', nonce = null, hash = null, raw = null,
      signed_at = null, broadcast_at = null, due_at = now(), attempts = 0,
      expires_at = greatest(expires_at, now() + ${againMinutes} * interval '1 minute')
    from lost where t.id = lost.id`
}

/** Ends transactions that were only to use a nonce which another used: it is not theirs any more. */
export const nonceUsed = async (
  sql: Transaction,
  ids: readonly string[],
): Promise<readonly Ended[]> => {
  const rows = await sql`
    update drex_transactions set status = 'cancelled', nonce = null, settled_at = now()
    where id = any(${[...ids]}::text[]) and status in (${before(sql, 'nonce_used')})
    returning id, kind, subject, status, hash`
  return rows.map(valueOfRow<Ended>)
}

export type BlockOfEnds = { readonly number: number; readonly hash: Hex }

/**
 * The blocks, from one on, that ends were told of.
 * @param depth of the oldest below the newest: no head that a node tells decides it
 */
export const blocksOfEnds = async (
  sql: Client,
  network: string,
  from: number,
  depth: number,
): Promise<readonly BlockOfEnds[]> => {
  const ends = sql`network = ${network} and status in (${before(sql, 'corrected')})`
  const rows = await sql<{ number: bigint; hash: Hex }[]>`
    select distinct block_number as number, block_hash as hash from drex_transactions
    where ${ends} and block_number >= greatest(${from}::bigint,
      (select max(block_number) from drex_transactions where ${ends}) - ${depth}::bigint)`
  return rows.map(({ number, hash }) => ({ number: Number(number), hash }))
}

/** Takes back the ends told of blocks that have left the chain: what was in them is in flight again. */
export const correct = async (
  sql: Transaction,
  network: string,
  blocks: readonly BlockOfEnds[],
  reason: TransactionError,
): Promise<readonly Corrected[]> => {
  const rows = await sql`
    with gone as (
      select t.id, t.status, coalesce(t.mined_hash, t.hash) as hash from drex_transactions t
      join unnest(
        ${blocks.map(({ number }) => number)}::bigint[], ${blocks.map(({ hash }) => hash)}::text[]
      ) as b(number, hash) on t.block_number = b.number and t.block_hash = b.hash
      where t.network = ${network} and t.status in (${before(sql, 'corrected')})
      for update of t
    ), told as (
      ${insertCorrections(sql, 'broadcast', reason)} from gone
    )
    update drex_transactions t set status = 'broadcast', block_number = null, block_hash = null,
      mined_hash = null, succeeded = null, gas_used = null, mismatch = null, mined_at = null,
      settled_at = null, error = null, due_at = now()
    from gone where t.id = gone.id
    returning t.id, t.kind, t.subject, gone.status as previous, gone.hash`
  return rows.map((row) => ({
    ...valueOfRow<Omit<Corrected, 'reason' | 'status'>>(row),
    status: 'broadcast',
    reason,
  }))
}
