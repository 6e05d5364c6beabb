import type { Client, Transaction } from './database.ts'

const deadlockDetected = '40P01'
const attemptsMax = 4

const isDeadlock = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === deadlockDetected

/**
 * A transaction that begins anew where the server ended it because others and it waited for each other: for work that
 * takes many rows. It must take most of them in one order, or two that begin anew stop each other again.
 *
 * @param work has no effect outside of its transaction
 */
export const withDeadlockRetries = async <T>(
  sql: Client,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await sql.begin(work)) as T
    } catch (error) {
      if (attempt === attemptsMax || !isDeadlock(error)) throw error
    }
  }
}
