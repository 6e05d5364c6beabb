import postgres, { type Sql, type TransactionSql } from 'postgres'
import { inTime } from '#src/platform/runtime/index.ts'
import type { Logger, Metrics } from '../observe/index.ts'
import { tellingOfCommits } from './after-commit.ts'
import { createGate, type Gate } from './gate.ts'
import { listenAgain } from './listening.ts'
import { namedConnection } from './session-name.ts'
import { columnTypes, sessionSettings } from './session-settings.ts'
import { watchSilence } from './silent-server.ts'
import { traced } from './traced.ts'
import { withTransactionRules } from './transactions.ts'

type ColumnTypes = { bigint: bigint; bytea: Uint8Array }

/** postgres.js with bigint columns as JavaScript bigint. */
export type Client = Sql<ColumnTypes>
/** Inside `sql.begin`. */
export type Transaction = TransactionSql<ColumnTypes>
/** A client or a transaction, for a statement that may run in the caller's transaction. */
export type Queryable = Client | Transaction

export type Database = {
  readonly sql: Client
  readonly gate: Gate
  /** True when the server answers in time. */
  ping(): Promise<boolean>
  /** Listens again where the server has refused to let us; rejects with what it refused. */
  listenAgain(): Promise<void>
  close(): Promise<void>
}

export type DatabaseOptions = {
  readonly dsn: string
  readonly connectionsMax: number
  readonly statementTimeoutMs: number
  readonly logger: Logger
  /** A span for every statement. */
  readonly isTraced?: boolean
  /** Absent in tools that serve no metrics. */
  readonly metrics?: Metrics
}

const connectTimeoutSeconds = 10
const reconnectMinSeconds = 0.05
/** The driver's own limit of 20 s would add as much to every outage of the server. */
const reconnectMaxSeconds = 1
const idleTimeoutSeconds = 300
const lifetimeMaxSeconds = 3600
const answerTimeoutMs = 400
const closeTimeoutSeconds = 5

/** Opens a pool; connections are made when first needed. Every option of the driver that matters is explicit. */
export const openDatabase = (options: DatabaseOptions): Database => {
  const named = namedConnection(options.dsn)
  const { dsn, name, hosts } = named
  const client: Client = postgres(dsn, {
    ...hosts,
    ...watchSilence({ ...options, ...named }),
    max: options.connectionsMax,
    connect_timeout: connectTimeoutSeconds,
    idle_timeout: idleTimeoutSeconds,
    max_lifetime: lifetimeMaxSeconds,
    backoff: reconnectAfterSeconds,
    prepare: true,
    types: columnTypes,
    connection: {
      ...sessionSettings,
      application_name: name,
      statement_timeout: options.statementTimeoutMs,
    },
    onnotice: (notice) =>
      options.logger.debug({ severity: notice['severity'], code: notice['code'] }, 'notice'),
  })
  const sql = tellingOfCommits(withTransactionRules(client))
  options.metrics?.gauge(
    'spigw_db_connections_active',
    'Active database connections.',
    [],
    async (gauge) => {
      const count = await soonOrNever(connections(sql, name))
      if (count !== undefined) gauge.set(count)
    },
  )
  return {
    sql: options.isTraced === true ? traced(sql) : sql,
    gate: createGate(sql, hosts),
    ping: async () => (await soonOrNever(sql`select 1`)) !== undefined,
    listenAgain: () => listenAgain(sql),
    close: () => sql.end({ timeout: closeTimeoutSeconds }),
  }
}

/** Half to all of an exponential wait: the connections of a pool do not come back all at once. */
const reconnectAfterSeconds = (retries: number): number =>
  (0.5 + Math.random() / 2) * Math.min(reconnectMinSeconds * 2 ** retries, reconnectMaxSeconds)

/** Counts this process's connections to this database, with those of its consumers; the driver does not tell. */
const connections = async (sql: Client, name: string): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and starts_with(application_name, ${name})`
  return row?.count ?? 0
}

/** The answer, or undefined when it is late or an error: probes and scrapes must not wait for a database. */
const soonOrNever = <T>(asked: PromiseLike<T>): Promise<T | undefined> =>
  inTime(asked, answerTimeoutMs).catch(() => undefined)
