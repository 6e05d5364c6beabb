import {
  alterTable,
  type Client,
  ensurePartitions,
  type PartitionedTable,
  partitionNames,
  partitionRange,
  timestampBound,
} from '#src/platform/database/index.ts'
import { createJob, type Job } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'

const log: PartitionedTable = { name: 'broker_log', unit: 'day', bound: timestampBound }
const daysAhead = 3
const everyMs = 3_600_000

export type MaintenanceOptions = {
  readonly sql: Client
  readonly retentionDays: number
  readonly logger: Logger
}

/** Creates the coming days' partitions and drops those past their retention. */
export const createMaintenance = (options: MaintenanceOptions): Job => {
  const { sql, logger } = options
  return createJob({
    ...{ name: 'partitions of the broker', everyMs, isAwaited: true, fleet: { sql }, logger },
    run: () => maintainLog(options, new Date()),
  })
}

/** Drops a day past its retention, unless a group still has messages there to settle. */
export const maintainLog = async (
  { sql, retentionDays, logger }: MaintenanceOptions,
  at: Date,
): Promise<void> => {
  await ensurePartitions(sql, log, daysAhead, at)
  const oldestKept = partitionRange(log, at, -retentionDays).name
  for (const name of await partitionNames(sql, log)) {
    if (name >= oldestKept) return
    const [behind] = await sql<{ group: string; topic: string }[]>`
      select at.group_name as group, at.topic from broker_positions at
      where exists (
        select from ${sql(name)} log
        where log.topic = at.topic and log.partition = at.partition
          and (log.xid, log.id) > (at.xid, at.id)
      ) limit 1`
    if (behind === undefined) {
      await alterTable(sql, `drop table ${name}`)
      logger.info({ partition: name }, 'a day of the broker is past its retention')
    } else {
      logger.warn({ partition: name, ...behind }, 'a group is behind the retention of the broker')
    }
  }
}
