import { randomUUID } from 'node:crypto'
import { type Client, openDatabase } from '#src/platform/database/index.ts'
import type { Check } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'

const name = 'Connection pooler'
const mark = 'trilho.doctor'
const waitMs = 2_000

/**
 * Finds PgBouncer or its like: it names to clients another process than the one that answers. In transaction mode, what
 * a session sets is gone when another client has had its server connection meanwhile.
 */
export const checkPooler = async (dsn: string, logger: Logger): Promise<readonly Check[]> => {
  const options = { dsn, connectionsMax: 1, statementTimeoutMs: 5_000, logger }
  const [one, other] = [openDatabase(options), openDatabase(options)]
  try {
    if (!(await isBetween(one.sql))) return []
    const isShared = await sharesSessions(one.sql, other.sql)
    if (!isShared) return [{ name, status: 'ok', detail: 'one that pools sessions' }]
    return [
      {
        ...{ name, status: 'failed' },
        detail:
          'one that pools transactions: prepared statements, LISTEN and session locks do not work through it',
        fix: 'set pool_mode = session for this database in PgBouncer, or connect to PostgreSQL directly',
      },
    ]
  } finally {
    await Promise.all([one.close(), other.close()])
  }
}

const isBetween = async (sql: Client): Promise<boolean> => {
  const rows = await sql.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid')
  return rows.state?.pid !== rows[0]?.pid
}

/** Statements without preparation: it is what fails there. */
const sharesSessions = async (one: Client, other: Client): Promise<boolean> => {
  const value = randomUUID()
  await one.unsafe(`select set_config('${mark}', '${value}', false)`)
  const held = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  // Takes the server connection that was used last, if it is free.
  const holding = other.begin(async (transaction) => {
    await transaction.unsafe('select 1')
    held.resolve()
    await letGo.promise
  })
  const late = Bun.sleep(waitMs).then(() => undefined)
  try {
    await Promise.race([held.promise, holding, late])
    const rows = await Promise.race([
      one.unsafe<{ value: string | null }[]>(`select current_setting('${mark}', true) as value`),
      late,
    ])
    return rows?.[0]?.value !== value
  } finally {
    letGo.resolve()
    await holding
  }
}
