import { type Client, deletedMax, deleteInBatches } from '#src/platform/database/index.ts'
import { createJob, type Job, type Round } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'

const everyMs = 3_600_000

export type MaintenanceOptions = {
  readonly sql: Client
  readonly retentionDays: number
  readonly logger: Logger
}

export const createMaintenance = (options: MaintenanceOptions): Job => {
  const { sql, logger } = options
  return createJob({
    name: 'old dead letters',
    everyMs,
    fleet: { sql },
    logger,
    run: (round) => dropOldLetters(options, round),
  })
}

/** Drops dead letters past their retention. What waits in a queue is kept until it is settled. */
export const dropOldLetters = async (
  { sql, retentionDays, logger }: MaintenanceOptions,
  round?: Round,
): Promise<void> => {
  const letters = await deleteInBatches(async () => {
    const gone = await sql`
      delete from broker_dead_letters where id = any(array(
        select id from broker_dead_letters
        where published_at < now() - make_interval(days => ${retentionDays})
        order by published_at limit ${deletedMax}))`
    return gone.count
  }, round)
  if (letters > 0) logger.info({ letters }, 'dead letters were past their retention')
}
