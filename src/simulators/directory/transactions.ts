/** The payments that the directory knows: who paid whom how much, and when it was settled. */
import { putBounded } from '../bounded.ts'

export type Transaction = {
  /** EndToEndId. */
  readonly id: string
  /** ISPB. */
  readonly debited: string
  readonly credited: string
  readonly amountCents: bigint
  /** Undefined: it is not settled. */
  readonly settledMs: number | undefined
}

/** Undefined: there is none of that EndToEndId. */
export type FindTransaction = (id: string) => Transaction | undefined

const transactionsMax = 100_000

/** @param elsewhere who else knows payments, such as the simulated central bank */
export const createTransactions = (elsewhere: FindTransaction = () => undefined) => {
  const told = new Map<string, Transaction>()
  return {
    find: ((id) => told.get(id) ?? elsewhere(id)) satisfies FindTransaction,
    add: (transaction: Transaction): void => {
      putBounded(told, transaction.id, transaction, transactionsMax)
    },
  }
}
