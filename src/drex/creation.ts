/** Creating something once: checked first, written in one transaction, answered after it. */
import type { Transaction } from '#src/platform/database/index.ts'

export type Creation<T> = {
  /** Writes it, in the transaction that also keeps the answer to its Idempotency-Key. */
  readonly write: (sql: Transaction) => Promise<T>
  /** After the commit: what the caller is told, which may know more by then. */
  readonly settle: (written: T) => Promise<T>
}
