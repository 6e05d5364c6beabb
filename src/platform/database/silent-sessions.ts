import { createJob, type Job } from '../jobs/index.ts'
import type { Logger } from '../observe/index.ts'
import type { Client } from './database.ts'
import { sessionBase } from './session-name.ts'

const everyMsDefault = 10_000
/** How long a transaction may be silent between two statements. */
const silenceMaxMs = 10_000

/**
 * Ends sessions of this program whose process was stopped within a statement. The driver prepares a statement in two
 * steps, and a process that is stopped between them leaves a session that the server counts as active, though it waits
 * for its client: no limit of the server ends that before version 17, and what it has locked stays locked.
 */
export const createSilentSessions = (options: {
  readonly name: string
  readonly dsn: string
  readonly sql: Client
  readonly logger: Logger
  readonly everyMs?: number
  readonly silenceMs?: number
}): Job => {
  const { sql, logger, everyMs = everyMsDefault, silenceMs = silenceMaxMs } = options
  const base = sessionBase(options.dsn)
  return createJob({
    name: `silent sessions of ${options.name}`,
    everyMs,
    logger,
    run: async () => {
      // The server may judge conditions in any order: only those of a finished list may be ended.
      const ended = await sql<{ application: string }[]>`
        with silent as materialized (
          select pid, application_name from pg_stat_activity
          where datname = current_database() and usename = current_user
            and starts_with(application_name, ${`${base}-`}) and xact_start is not null
            and state = 'active' and wait_event = 'ClientRead'
            and state_change < now() - make_interval(secs => ${silenceMs / 1_000})
        )
        select application_name as application from silent where pg_terminate_backend(pid)`
      for (const { application } of ended) {
        logger.warn({ application }, 'a session was ended: its process stopped within a statement')
      }
    },
  })
}
