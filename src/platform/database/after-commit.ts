import type { Client, Queryable, Transaction } from './database.ts'

/** @param client whose transaction it was; undefined if that is not known */
type Act = (client: Client | undefined) => void
type Work = (tx: Transaction) => unknown

/** Kept on the transaction itself, which we find behind its wrappers. */
const due = Symbol('after the commit')

/**
 * Acts once the transaction has committed, or never; at once without a transaction. The process may end in
 * between, so this serves only hints and counts.
 *
 * @param act never throws
 */
export const afterCommit = (sql: Queryable, act: Act): void => {
  const acts: Act[] | undefined = Reflect.get(sql, due)
  if (acts === undefined) act('begin' in sql ? sql : undefined)
  else acts.push(act)
}

/** Lets {@link afterCommit} know when transactions of the client commit. */
export const tellingOfCommits = (sql: Client): Client => {
  const begin = sql.begin.bind(sql) as (...args: unknown[]) => Promise<unknown>
  const telling = async (...args: unknown[]): Promise<unknown> => {
    const acts: Act[] = []
    const work = args.pop() as Work
    const result = await begin(...args, (tx: Transaction) => work(noting(tx, acts)))
    for (const act of acts) act(sql)
    return result
  }
  return Object.assign(sql, { begin: telling as Client['begin'] })
}

/** Notes the acts of its savepoints, too; those of a savepoint that was rolled back are dropped. */
const noting = (tx: Transaction, acts: Act[]): Transaction => {
  const savepoint = tx.savepoint.bind(tx) as (...args: unknown[]) => Promise<unknown>
  const within = async (...args: unknown[]): Promise<unknown> => {
    const work = args.pop() as Work
    const inners: Act[] = []
    const result = await savepoint(...args, (inner: Transaction) => work(noting(inner, inners)))
    acts.push(...inners)
    return result
  }
  return Object.assign(tx, { [due]: acts, savepoint: within as Transaction['savepoint'] })
}
