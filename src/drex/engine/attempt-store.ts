/** SQL of attempts: further signed bytes for a nonce that is already in flight. */
import { type Queryable, type Transaction, valueOfRow } from '#src/platform/database/index.ts'
import type { Hex } from '../evm/hex.ts'
import { before } from './store.ts'

export type Attempt = {
  readonly transactionId: string
  /** `lost`: its nonce was used by another; kept in case the chain brings it after all. */
  readonly kind: 'bump' | 'cancel' | 'lost'
  readonly hash: Hex
  readonly raw: Hex
  readonly maxFee: bigint
  readonly tip: bigint
}

export const attemptsOf = async (
  sql: Queryable,
  ids: readonly string[],
): Promise<readonly Attempt[]> => {
  const rows = await sql`
    select transaction_id, kind, hash, raw, max_fee, tip from drex_attempts
    where transaction_id = any(${[...ids]}::text[]) order by created_at`
  return rows.map((row) => {
    const { maxFee, tip, ...value } = valueOfRow<
      Omit<Attempt, 'maxFee' | 'tip'> & { readonly maxFee: string; readonly tip: string }
    >(row)
    return { ...value, maxFee: BigInt(maxFee), tip: BigInt(tip) }
  })
}

/** The newest attempt of each transaction that may still be mined. */
export const newestOf = (attempts: readonly Attempt[]): ReadonlyMap<string, Attempt> =>
  new Map(attempts.filter(({ kind }) => kind !== 'lost').map((each) => [each.transactionId, each]))

/**
 * Locks a transaction, so that one at a time writes what replaces it.
 * @returns whether it is in flight, and these are its newest bytes still; undefined: its first
 */
export const lockNewest = async (
  sql: Transaction,
  id: string,
  newest: Attempt | undefined,
): Promise<boolean> => {
  const rows = await sql`
    select 1 from drex_transactions where id = ${id} and status in (${before(sql, 'accepted')}) for update`
  return rows.length === 1 && newestOf(await attemptsOf(sql, [id])).get(id)?.hash === newest?.hash
}

export const insertAttempt = async (
  sql: Queryable,
  network: string,
  attempt: Attempt,
): Promise<void> => {
  await sql`
    insert into drex_attempts (network, hash, transaction_id, kind, raw, max_fee, tip, created_at)
    values (${network}, ${attempt.hash}, ${attempt.transactionId}, ${attempt.kind}, ${attempt.raw},
      ${String(attempt.maxFee)}, ${String(attempt.tip)}, clock_timestamp())
    on conflict do nothing`
}
