import { randomInt } from 'node:crypto'
import { inTimeOr } from '#src/platform/runtime/index.ts'
import type { Logger } from '../observe/index.ts'
import { type Client, openDatabase } from './database.ts'

/** Two settings name one database, which the program would take for two. */
export class SameDatabaseError extends Error {
  override readonly name = 'SameDatabaseError'
}

const askMs = 5_000
const keyMax = 2 ** 47

/**
 * Whether two connection strings lead to one schema of one database. Any role may ask, on any way to the server: a
 * session's lock stops only sessions of the same database.
 *
 * @returns undefined if one of them cannot be asked now
 */
export const isSameDatabase = async (
  one: string,
  other: string,
  logger: Logger,
): Promise<boolean | undefined> => {
  const open = (dsn: string) =>
    openDatabase({ dsn, connectionsMax: 1, statementTimeoutMs: askMs, logger })
  const databases = [open(one), open(other)] as const
  try {
    const asked = isLockSeen(databases[0].sql, databases[1].sql)
    return await inTimeOr(asked, askMs, undefined)
  } catch {
    return undefined
  } finally {
    await Promise.all(databases.map((database) => database.close()))
  }
}

const isLockSeen = (one: Client, other: Client): Promise<boolean> =>
  one.begin(async (tx) => {
    const key = randomInt(keyMax)
    const [held] = await tx`
      select current_schema() as schema from pg_advisory_xact_lock(${key})`
    const [seen] = await other`
      select current_schema() as schema, pg_try_advisory_xact_lock(${key}) as "isFree"`
    return seen?.['isFree'] === false && seen['schema'] === held?.['schema']
  })
