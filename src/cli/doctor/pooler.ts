import { randomUUID } from 'node:crypto'
import { type Client, openDatabase } from '#src/platform/database/index.ts'
import { type Check, checkOf } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'

const check = checkOf('Connection pooler')
const mark = 'trilho.doctor'
const waitMs = 2_000

/**
 * Finds PgBouncer or its like: clients get the id of another process than the one that answers. In transaction mode, a
 * session loses its settings when another client has had its server connection meanwhile.
 */
export const checkPooler = async (dsn: string, logger: Logger): Promise<readonly Check[]> => {
  const options = { dsn, connectionsMax: 1, statementTimeoutMs: 5_000, logger }
  const [one, other] = [openDatabase(options), openDatabase(options)]
  const value = randomUUID()
  try {
    if (!(await isBetween(one.sql))) return []
    await one.sql.unsafe(`select set_config('${mark}', '${value}', false)`)
    await prepared(one.sql)
    const after = await displaced(one.sql, other.sql)
    if (after === value) return [check.ok('one that pools sessions')]
    return [await checkTransactions(one.sql, other.sql)]
  } finally {
    await Promise.all([one.close(), other.close()])
  }
}

const isBetween = async (sql: Client): Promise<boolean> => {
  const rows = await sql.unsafe<{ pid: number }[]>('select pg_backend_pid() as pid')
  return rows.state?.pid !== rows[0]?.pid
}

const prepared = async (sql: Client): Promise<void> => {
  await sql`select ${mark}::text as prepared`
}

/** Whether a statement prepared on one connection to the server works on another. */
const checkTransactions = async (one: Client, other: Client): Promise<Check> => {
  const detail = 'one that pools transactions'
  try {
    await prepared(one)
    await displaced(one, other, prepared)
    return check.warning(
      `${detail}: LISTEN is not heard through it`,
      'expected? Then set TRILHO_MIGRATE_ON_START=false, and run trilho migrate over a direct connection',
    )
  } catch {
    return check.failed(
      `${detail}, without prepared statements`,
      'set max_prepared_statements = 200 (PgBouncer 1.21 or newer), or pool_mode = session, or connect directly',
    )
  }
}

/** What the one reads while the other holds the last used connection to the server, if it is free. */
const displaced = async (
  one: Client,
  other: Client,
  ask: (sql: Client) => Promise<unknown> = async (sql) => {
    const rows = await sql.unsafe<{ value: string | null }[]>(
      `select current_setting('${mark}', true) as value`,
    )
    return rows[0]?.value
  },
): Promise<unknown> => {
  const held = Promise.withResolvers<void>()
  const letGo = Promise.withResolvers<void>()
  const holding = other.begin(async (transaction) => {
    await transaction.unsafe('select 1')
    held.resolve()
    await letGo.promise
  })
  const late = Bun.sleep(waitMs).then(() => undefined)
  try {
    await Promise.race([held.promise, holding, late])
    return await Promise.race([ask(one), late])
  } finally {
    letGo.resolve()
    await holding
  }
}
