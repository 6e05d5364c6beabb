import postgres from 'postgres'
import {
  type Client,
  columnTypes,
  type Gate,
  namedConnection,
  sessionSettings,
} from '#src/platform/database/index.ts'
import { inTime } from '#src/platform/runtime/index.ts'

/** A connection of its own, replaced after an error: the driver may wait on a dead socket for ever. */
export type Session = {
  readonly ask: <T>(work: (sql: Client) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

const statementTimeoutMs = 30_000

/**
 * @param answerTimeoutMs after which only the connection can be the reason
 * @param gate that of the pool
 */
export const openSession = (
  dsn: string,
  answerTimeoutMs: number,
  gate?: Pick<Gate, 'demandOpen'>,
): Session => {
  let sql: Client | undefined
  return {
    ask: async (work) => {
      gate?.demandOpen()
      sql ??= connect(dsn)
      const own = sql
      try {
        return await inTime(work(own), answerTimeoutMs)
      } catch (error) {
        if (own === sql) sql = undefined
        own.end({ timeout: 0 }).catch(() => {})
        throw error
      }
    },
    close: async () => {
      await sql?.end({ timeout: 2 })
    },
  }
}

const connect = (given: string): Client => {
  const { dsn, name, hosts } = namedConnection(given, 'broker')
  return postgres(dsn, {
    ...hosts,
    max: 1,
    connect_timeout: 10,
    idle_timeout: 0,
    max_lifetime: null,
    types: columnTypes,
    connection: {
      ...sessionSettings,
      application_name: name,
      statement_timeout: statementTimeoutMs,
    },
    onnotice: () => {},
  })
}
