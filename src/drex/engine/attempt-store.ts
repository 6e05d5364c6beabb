/** SQL of attempts: further signed bytes for a nonce that is already in flight. */
import { type Client, type Queryable, valueOfRow } from '#src/platform/database/index.ts'
import type { Hex } from '../evm/hex.ts'

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
  sql: Client,
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

export const insertAttempt = async (
  sql: Queryable,
  network: string,
  attempt: Attempt,
): Promise<void> => {
  await sql`
    insert into drex_attempts (network, hash, transaction_id, kind, raw, max_fee, tip)
    values (${network}, ${attempt.hash}, ${attempt.transactionId}, ${attempt.kind}, ${attempt.raw},
      ${String(attempt.maxFee)}, ${String(attempt.tip)})
    on conflict do nothing`
}
