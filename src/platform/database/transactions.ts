import { hasCode } from '#src/platform/runtime/index.ts'
import type { Client, Transaction } from './database.ts'

/** Has several statements see the database as of one moment, while others go on writing. */
export const inSnapshot = <T>(sql: Client, read: (tx: Transaction) => Promise<T>) =>
  sql.begin('isolation level repeatable read read only', read)

const deadlockDetected = '40P01'
const attemptsMax = 4

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
      if (attempt === attemptsMax || !hasCode(error, deadlockDetected)) throw error
    }
  }
}

/** A process that says nothing within a transaction for so long has been stopped: others take over what it holds. */
export const silenceMaxMs = 10_000

/** What follows a lock sees what was committed before it, whatever the role prefers. */
const isolation = 'isolation level read committed'

/**
 * Has transactions see what others commit meanwhile, and ends them when their process says nothing for so long: a
 * process that was stopped within a transaction then no longer holds its locks, and its work is another's. When it goes
 * on, the transaction fails there. Both are set in each transaction, because poolers refuse them at the start of a
 * connection.
 */
export const withTransactionRules = (sql: Client, idleMs = silenceMaxMs): Client => {
  const begin = sql.begin.bind(sql) as (...args: unknown[]) => Promise<unknown>
  const ruled = (...args: unknown[]): Promise<unknown> => {
    const work = args.pop() as (tx: Transaction) => unknown
    const [options = isolation] = args
    return begin(options, async (tx: Transaction): Promise<unknown> => {
      const limit = limitSilence(tx, idleMs)
      // Both are on their way before the first answer: the limit costs no round trip of its own.
      const [, result] = await Promise.all([limit.execute(), work(tx)])
      return result
    })
  }
  return Object.assign(sql, { begin: ruled as Client['begin'] })
}

/** For a transaction that waits for something other than its database. */
export const limitSilence = (tx: Transaction, idleMs: number) =>
  tx.unsafe(`set local idle_in_transaction_session_timeout = ${idleMs}`)
