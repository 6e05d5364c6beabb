import { type Client, textArray } from '#src/platform/database/index.ts'
import type { ReversedOperation } from './schema.ts'

/** A reversal that no network has confirmed yet. */
export type WaitingReversal = {
  readonly id: bigint
  readonly transactionId: string
  readonly network: string
  readonly reverses: ReversedOperation
  readonly amountCents: bigint
  readonly attempts: number
  readonly nextAttemptAt: Date
  readonly lastAttemptAt: Date | null
  readonly responseCode: string | null
  readonly createdAt: Date
}

export type ReversalFilter = {
  readonly account: string
  /** Undefined: of every merchant. */
  readonly merchantIds: readonly string[] | undefined
  /** Younger than this one. */
  readonly afterId: string | undefined
  readonly limit: number
}

/** Those of an account, oldest first. Reads what waits, by its index, and nothing that has ended. */
export const waitingReversals = (
  sql: Client,
  { account, merchantIds, afterId, limit }: ReversalFilter,
): Promise<readonly WaitingReversal[]> => sql<WaitingReversal[]>`
  with waiting as materialized (select * from card_reversals where status = 'pending')
  select r.id, r.transaction_id as "transactionId", r.network, r.reverses,
    r.amount_cents as "amountCents", r.attempts, r.next_attempt_at as "nextAttemptAt",
    r.last_attempt_at as "lastAttemptAt", r.response_code as "responseCode",
    r.created_at as "createdAt"
  from waiting r join card_transactions t on t.id = r.transaction_id
  where t.account = ${account}
    ${merchantIds === undefined ? sql`` : sql`and t.merchant_id = any(${textArray(merchantIds)}::text::text[])`}
    ${afterId === undefined ? sql`` : sql`and r.id > ${afterId}::bigint`}
  order by r.id limit ${limit}`
