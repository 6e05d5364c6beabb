import { createJob, type Job } from '../jobs/index.ts'
import type { Logger } from '../observe/index.ts'
import type { Client } from './database.ts'
import { patient } from './silent-server.ts'

const everyMs = 6 * 3_600_000
/** An almost empty table would teach the planner that it stays empty. */
const analyzedBytesMin = 1_000_000

/** Tells the planner of partitioned tables as wholes; the server analyzes their partitions by itself, and only those. */
export const createStatistics = ({
  sql,
  logger,
}: {
  readonly sql: Client
  readonly logger: Logger
}): Job =>
  createJob({
    name: 'statistics of partitioned tables',
    everyMs,
    fleet: { sql },
    logger,
    run: async ({ signal, advance }) => {
      for (const name of await partitionedTables(sql)) {
        if (signal.aborted) return
        await analyze(sql, name)
        advance()
      }
    },
  })

/** The partitioned tables that hold something. */
const partitionedTables = async (sql: Client): Promise<readonly string[]> => {
  const rows = await sql<{ name: string }[]>`
    select parent.relname as name
    from pg_class parent join pg_inherits on inhparent = parent.oid
    where parent.relkind = 'p' and parent.relnamespace = current_schema()::regnamespace
    group by parent.relname having sum(pg_relation_size(inhrelid)) >= ${analyzedBytesMin}
    order by parent.relname`
  return rows.map(({ name }) => name)
}

/** A table of many partitions takes longer than a statement may. */
const analyze = async (sql: Client, name: string): Promise<void> => {
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = 0`
    await patient(tx`analyze ${tx(name)}`)
  })
}
