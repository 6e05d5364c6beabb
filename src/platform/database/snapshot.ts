import type { Client, Transaction } from './database.ts'

/** Has several statements see the database as of one moment, while others go on writing. */
export const inSnapshot = <T>(sql: Client, read: (tx: Transaction) => Promise<T>) =>
  sql.begin('isolation level repeatable read read only', read)
