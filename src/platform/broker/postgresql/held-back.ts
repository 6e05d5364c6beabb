import type { Client } from '#src/platform/database/index.ts'
import { createJob, type Job } from '#src/platform/jobs/index.ts'
import { createOutageLog, type Logger } from '#src/platform/observe/index.ts'

const lookEveryMs = 10_000

type Running = { readonly pid: number; readonly application: string; readonly xid: string }

/**
 * A message is delivered once every older writing transaction of this database has ended. Names a transaction that
 * runs for long, so that an operator can end it by its pid.
 */
export const createHeldBackWatch = (
  { sql, logger }: { readonly sql: Client; readonly logger: Logger },
  everyMs = lookEveryMs,
): Job => {
  const outage = createOutageLog(logger, {
    level: 'warn',
    away: 'a transaction that does not end holds back every message published since it began to write',
    back: 'messages are held back no more',
  })
  let oldest: { readonly xid: string; readonly seenMs: number } | undefined
  const look = async (): Promise<void> => {
    const [running] = await oldestRunning(sql)
    if (running === undefined || running.xid !== oldest?.xid) {
      outage.worked()
      oldest = running && { xid: running.xid, seenMs: performance.now() }
      return
    }
    const { pid, application } = running
    const seconds = Math.round((performance.now() - oldest.seenMs) / 1000)
    outage.failed(undefined, { pid, application, seen_for_seconds: seconds })
  }
  return createJob({ name: 'transactions that hold messages back', everyMs, run: look, logger })
}

const oldestRunning = (sql: Client): Promise<readonly Running[]> => sql<Running[]>`
  select pid, application_name as application, backend_xid::text as xid
  from pg_stat_get_activity(null)
  where backend_xid is not null and pid <> pg_backend_pid()
    and datid = (select oid from pg_database where datname = current_database())
  order by age(backend_xid) desc limit 1`
