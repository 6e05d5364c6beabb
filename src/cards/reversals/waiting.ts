import { type Client, textArray } from '#src/platform/database/index.ts'
import type { AdvisedOperation, ReversedOperation } from './schema.ts'
import { isAdviceRow } from './store.ts'

/** A reversal, or an advice, that no network has confirmed yet. */
export type WaitingReversal = {
  readonly id: bigint
  readonly transactionId: string
  readonly network: string
  readonly reverses: ReversedOperation | AdvisedOperation
  readonly amountCents: bigint
  readonly currency: string
  readonly attempts: number
  readonly nextAttemptAt: Date
  readonly lastAttemptAt: Date | null
  readonly responseCode: string | null
  readonly createdAt: Date
  /** When it is given up; null: as the settings say. */
  readonly expiresAt: Date | null
}

export type ReversalFilter = {
  /** Advices, or reversals. */
  readonly isAdvice: boolean
  readonly account: string
  /** Undefined: of every merchant. */
  readonly merchantIds: readonly string[] | undefined
  /** Younger than this one. */
  readonly afterId: string | undefined
  readonly limit: number
}

/** The waiting reversals of an account, oldest first. The index holds only what waits. */
export const waitingReversals = (
  sql: Client,
  { isAdvice, account, merchantIds, afterId, limit }: ReversalFilter,
): Promise<readonly WaitingReversal[]> => sql<WaitingReversal[]>`
  with waiting as materialized (select * from card_reversals where status = 'pending' and ${isAdviceRow(sql)} = ${isAdvice}::boolean)
  select r.id, r.transaction_id as "transactionId", r.network, r.reverses,
    r.amount_cents as "amountCents", r.currency, r.attempts,
    greatest(r.next_attempt_at, r.created_at, case when r.lease_owner is null then r.lease_until end)
      as "nextAttemptAt",
    r.last_attempt_at as "lastAttemptAt", r.response_code as "responseCode",
    r.created_at as "createdAt",
    r.created_at + make_interval(hours => r.expiry_hours) as "expiresAt"
  from waiting r join card_transactions t on t.id = r.transaction_id
  where t.account = ${account}
    ${merchantIds === undefined ? sql`` : sql`and t.merchant_id = any(${textArray(merchantIds)}::text::text[])`}
    ${afterId === undefined ? sql`` : sql`and r.id > ${afterId}::bigint`}
  order by r.id limit ${limit}`
