import type { Client } from '../database/index.ts'
import { withMissingSettings } from '../http/index.ts'
import type { Feature } from '../lifecycle/index.ts'
import { ensurePartitions, uuidBound } from '../partitions/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { auditRoutes } from './routes.ts'
import { listAudit } from './store.ts'

const monthsAhead = 2
const everyMs = 6 * 3_600_000
const table = { name: 'audit_log', unit: 'month', bound: uuidBound } as const

/** The table of who did what, and the endpoint that reads it. */
export const createAudit = ({
  sql,
  logger,
}: {
  /** Undefined: the endpoint answers 503 and names DATABASE_DSN. */
  readonly sql: Client | undefined
  readonly logger: Logger
}): Feature => {
  const name = 'audit'
  if (sql === undefined) {
    const never = (): never => {
      throw new Error('no database')
    }
    return { name, routes: withMissingSettings(auditRoutes(never), ['DATABASE_DSN']) }
  }
  let timer: ReturnType<typeof setInterval> | undefined
  // Without its partition a row lies in the default one: a failure here is not one of the service.
  const makePartitions = async (): Promise<void> => {
    try {
      await ensurePartitions(sql, table, monthsAhead, new Date())
    } catch (err) {
      logger.warn({ err }, 'the partitions of the audit table could not be made')
    }
  }
  return {
    name,
    routes: auditRoutes((filter, page) => listAudit(sql, filter, page)),
    start: async () => {
      await makePartitions()
      timer = setInterval(makePartitions, everyMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}
