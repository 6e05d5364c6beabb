import type { HealthCheck } from '../http/index.ts'
import type { Feature } from '../lifecycle/index.ts'
import type { Logger } from '../observe/index.ts'
import type { Database } from './database.ts'
import { createListening } from './listening.ts'
import { type Migration, migrate, pendingMigrations, SchemaMismatchError } from './migrate.ts'
import { createSilentSessions } from './silent-sessions.ts'
import { createWriteProbe } from './write-probe.ts'

export type DatabaseFeatureOptions = {
  /** `database` for the shared one: the key in `/health`. */
  readonly name: string
  readonly dsn: string
  readonly database: Database
  readonly migrations: readonly Migration[]
  /** False: waits until another process has brought the schema up to date. */
  readonly migrateOnStart: boolean
  readonly logger: Logger
}

const retryFirstMs = 500
const retryMaxMs = 15_000

/**
 * Starts and stops the database with the process. If the server cannot be reached at the start, the process goes on:
 * it reports not ready and tries again, as it does when the server goes away later. A schema that this
 * program does not know ends the start.
 */
export const createDatabaseFeature = (options: DatabaseFeatureOptions): Feature => {
  const { database, logger } = options
  let isCurrent = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  const writes = createWriteProbe({ name: options.name, sql: database.sql, logger })
  const jobs = [
    createSilentSessions({ ...options, sql: database.sql }),
    createListening(options.name, database.listenAgain, logger),
  ]

  const attempt = async (waitMs: number): Promise<void> => {
    try {
      isCurrent = await bringUpToDate(options)
    } catch (error) {
      if (error instanceof SchemaMismatchError) throw error
      logger.error({ database: options.name, err: error }, 'the database cannot be reached')
    }
    if (isCurrent && !isStopped) {
      writes.start()
      for (const job of jobs) void job.start()
    }
    if (isCurrent || isStopped) return
    timer = setTimeout(() => {
      attempt(Math.min(waitMs * 2, retryMaxMs)).catch((error: unknown) => {
        logger.error(
          { database: options.name, err: error },
          'the schema is not one of this program',
        )
      })
    }, waitMs)
  }

  const health = async (): Promise<HealthCheck> => {
    if (!isCurrent) return { status: 'down', ready: false, detail: { reason: 'not migrated yet' } }
    if (!(await database.ping())) {
      return { status: 'down', ready: false, detail: { reason: 'no answer' } }
    }
    const refusal = await writes.refusal()
    if (refusal === undefined) return { status: 'ok', ready: true }
    const reason = `${options.name} takes no writes: ${refusal}`
    return { status: 'down', ready: false, reason, detail: { reason: refusal } }
  }

  return {
    name: options.name,
    start: () => attempt(retryFirstMs),
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      writes.stop()
      await Promise.all(jobs.map((job) => job.stop()))
      await database.close()
    },
    health,
  }
}

/** True when the schema is this program's. */
const bringUpToDate = async (options: DatabaseFeatureOptions): Promise<boolean> => {
  const { dsn, migrations, logger } = options
  if (options.migrateOnStart) {
    await migrate(dsn, migrations, logger)
    return true
  }
  const pending = await pendingMigrations(dsn, migrations)
  if (pending.length > 0) {
    logger.warn({ database: options.name, pending }, 'the schema is behind: run trilho migrate')
  }
  return pending.length === 0
}
