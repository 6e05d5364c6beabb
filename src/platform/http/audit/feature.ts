import { join } from 'node:path'
import {
  type Client,
  daysAgo,
  dropExpired,
  ensurePartitions,
  type RetentionDeps,
  uuidBound,
} from '#src/platform/database/index.ts'
import { createJob, type Round } from '#src/platform/jobs/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { routesWithout } from '../route.ts'
import { archiveChain } from './chain/export.ts'
import { exportLinks } from './chain/lines.ts'
import { sealEntries, sealLate, sealLateEveryMs } from './chain/seal.ts'
import { forgetEntriesOf } from './chain/store.ts'
import { verifyPage } from './chain/verify.ts'
import { auditRoutes } from './routes.ts'
import { listAudit, writeAudit } from './store.ts'

const monthsAhead = 2
const everyMs = 6 * 3_600_000
const sealEveryMs = 10_000
const table = { name: 'audit_log', unit: 'month', bound: uuidBound } as const

/** A row without its partition goes to the default one, which then keeps those of the whole month. */
export const ensureAuditPartitions = (sql: Client): Promise<readonly string[]> =>
  ensurePartitions(sql, table, monthsAhead, new Date())

/** Drops months past their retention. Nothing in the log is open: it tells of what was done. */
export const forgetAudit = async (
  deps: RetentionDeps,
  round?: Round,
): Promise<readonly string[]> => {
  const { sql, archiveDirectory } = deps
  const kept = await daysAgo(sql, deps.days)
  // One bound for entries and links, wherever they lie: the links are of whole months.
  const before = new Date(Date.UTC(kept.getUTCFullYear(), kept.getUTCMonth()))
  const bound = uuidBound(before)
  // While the entries are there.
  if (archiveDirectory !== undefined) await archiveChain(sql, archiveDirectory, bound, round)
  const dropped = await dropExpired(
    deps,
    { tables: [table], keys: { audit_log: 'id' }, isOpen: (sql) => sql`false` },
    before,
    round,
  )
  await forgetEntriesOf(sql, bound)
  return dropped
}

/** Two databases have months and links of the same names, so only the first has the directory itself. */
const placeOf = (directory: string | undefined, number: number): string | undefined =>
  directory === undefined || number === 1 ? directory : join(directory, `database-${number}`)

/** The audit tables, one in each database, and the endpoint that reads them as one. */
export const createAudit = ({
  databases,
  retentionDays: days,
  archiveDirectory,
  logger,
}: {
  /** If there is none, the endpoint answers 503 and names DATABASE_DSN. */
  readonly databases: readonly Client[]
  readonly retentionDays: number
  readonly archiveDirectory: string | undefined
  readonly logger: Logger
}): Feature => {
  const name = 'audit'
  const [first] = databases
  if (first === undefined) return { name, routes: routesWithout(['DATABASE_DSN'], auditRoutes) }
  // A failure here does not stop the service.
  const sealingOf = (sql: Client, at: number) => ({
    sql,
    logger: logger.child({ database: at + 1 }),
  })
  const jobs = databases.flatMap((sql, at) => [
    createJob({
      name: 'partitions of the audit log',
      everyMs,
      isAwaited: true,
      fleet: { sql },
      logger,
      run: () => ensureAuditPartitions(sql),
    }),
    createJob({
      name: 'sealing of the audit log',
      everyMs: sealEveryMs,
      logger,
      fleet: { sql, isBrief: true },
      run: async (round) => {
        await sealEntries({ ...sealingOf(sql, at), round })
      },
    }),
    createJob({
      name: 'sealing of late audit entries',
      everyMs: sealLateEveryMs,
      fleet: { sql },
      logger,
      run: async (round) => {
        await sealLate({ ...sealingOf(sql, at), round })
      },
    }),
    createJob({
      name: 'old audit entries',
      everyMs,
      fleet: { sql },
      logger,
      run: (round) => {
        const place = placeOf(archiveDirectory, at + 1)
        return forgetAudit({ sql, days, archiveDirectory: place, logger }, round)
      },
    }),
  ])
  return {
    name,
    recordAct: (entry) => writeAudit(first, entry),
    routes: auditRoutes({
      list: async (filter, page) => {
        const found = await Promise.all(databases.map((sql) => listAudit(sql, filter, page)))
        return found
          .flat()
          .sort((a, b) => (a.id < b.id ? 1 : -1))
          .slice(0, page.limit)
      },
      links: (number, after) => {
        const sql = databases[number - 1]
        return sql && exportLinks(sql, after)
      },
      verify: (number, page) => {
        const sql = databases[number - 1]
        return sql && verifyPage(sql, { ...page, retentionDays: days })
      },
    }),
    start: async () => {
      for (const job of jobs) await job.start()
    },
    drain: async () => {
      for (const job of jobs) await job.stop()
    },
  }
}
