/** Creating something once: checked first, written in one transaction, answered after it. */
import type { Transaction } from '#src/platform/database/index.ts'

export type Creation<T> = {
  /** Writes it, in the transaction that also keeps the answer to its Idempotency-Key. */
  readonly write: (sql: Transaction) => Promise<T>
  /** Makes the answer for the caller after the commit, when we may know more. */
  readonly settle: (written: T) => Promise<T>
}
