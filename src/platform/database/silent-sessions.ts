import { createJob, type Job } from '../jobs/index.ts'
import type { Logger } from '../observe/index.ts'
import type { Client } from './database.ts'
import { textArray } from './fragments.ts'
import { sessionBase } from './session-name.ts'
import { silenceMaxMs } from './transactions.ts'

const everyMsDefault = 10_000

/**
 * Ends sessions of this program whose process was stopped within a statement. The driver prepares a statement in two
 * steps, and a process that is stopped between them leaves a session that the server counts as active, though it waits
 * for its client: no limit of the server ends that before version 17, and what it has locked stays locked. The server
 * tells since when a statement lasts, and not since when it waits for its client: a statement that waited long for a
 * lock waits for its client for a moment, too. So we count from where we saw it wait first.
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
  /** When we first saw a session wait as it still does. */
  let waiting: ReadonlyMap<string, number> = new Map()
  return createJob({
    name: `silent sessions of ${options.name}`,
    everyMs,
    logger,
    run: async () => {
      const nowMs = performance.now()
      const since = (wait: string): number => waiting.get(wait) ?? nowMs
      const overdue = [...waiting].filter(([, atMs]) => nowMs - atMs >= silenceMs)
      // The server may judge conditions in any order: only those of a finished list may be ended.
      const silent = await sql<{ wait: string; application: string; isEnded: boolean }[]>`
        with silent as materialized (
          select pid, application_name, pid || ' ' || state_change as wait from pg_stat_activity
          where datname = current_database() and usename = current_user
            and starts_with(application_name, ${`${base}-`}) and xact_start is not null
            and state = 'active' and wait_event = 'ClientRead'
        )
        select wait, application_name as application,
          case when wait = any(${textArray(overdue.map(([wait]) => wait))}::text::text[])
            then pg_terminate_backend(pid) else false end as "isEnded"
        from silent`
      waiting = new Map(silent.map(({ wait }) => [wait, since(wait)]))
      for (const { application, isEnded } of silent) {
        if (!isEnded) continue
        logger.warn({ application }, 'a session was ended: nobody went on with its statement')
      }
    },
  })
}
