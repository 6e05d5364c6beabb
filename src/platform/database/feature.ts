import type { HealthCheck } from '../http/index.ts'
import type { Feature } from '../lifecycle/index.ts'
import { createOutageLog, type Logger } from '../observe/index.ts'
import { SameDatabaseError } from './apart.ts'
import type { Database } from './database.ts'
import { createListening } from './listening.ts'
import { type Migration, migrate, pendingMigrations, SchemaMismatchError } from './migrate.ts'
import { createSilentSessions } from './silent-sessions.ts'
import { createWriteProbe } from './write-probe.ts'

export type DatabaseFeatureOptions = {
  /** `database` for the shared one: the key in `/health`. */
  readonly name: string
  readonly dsn: string
  /** The setting that names it. */
  readonly setting: string
  readonly database: Database
  readonly migrations: readonly Migration[]
  /** False: waits until another process has brought the schema up to date. */
  readonly migrateOnStart: boolean
  /** Called before anything is done in it. @returns false if it cannot tell now @throws SameDatabaseError */
  readonly demandApart?: () => Promise<boolean>
  readonly logger: Logger
}

const retryFirstMs = 500
/** A retry this often costs the server one connection; everything else waits for it. */
const retryMaxMs = 2_000

/**
 * Starts and stops the database with the process. If the server cannot be reached at the start, or the schema is
 * behind, the process goes on: it reports not ready and tries again, as it does when the server goes away later. Until
 * the schema is this program's, the database is away for everything in the process: a statement on another schema would
 * blame the payment that it is about. A schema that this program does not know ends the start, and so does a database
 * that another setting names; if either appears later, while it waits, it waits on, as that may change again.
 */
export const createDatabaseFeature = (options: DatabaseFeatureOptions): Feature => {
  const { database, logger } = options
  let isCurrent = false
  let refusal: string | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  const writes = createWriteProbe({ name: options.name, sql: database.sql, logger })
  const jobs = [
    createSilentSessions({ ...options, sql: database.sql }),
    createListening(options.name, database.listenAgain, logger),
  ]
  const outage = createOutageLog(logger, {
    level: 'error',
    away: 'the database cannot be used yet: not ready',
    back: 'the database can be used',
    about: { database: options.name, setting: options.setting },
  })

  /** The other one was away at the start: we ask again until it can be told, and are not ready if it is the same. */
  const askApart = async (): Promise<void> => {
    try {
      if ((await options.demandApart?.()) !== false) return
    } catch (error) {
      refusal = refusalOf(error)
      outage.failed(error)
      if (refusal !== undefined) {
        isCurrent = false
        return
      }
    }
    if (!isStopped) timer = setTimeout(() => void askApart(), retryMaxMs)
  }

  const attempt = async (waitMs: number, isStart: boolean): Promise<void> => {
    let isApart = true
    try {
      isApart = (await options.demandApart?.()) ?? true
      const pending = await bringUpToDate(options)
      isCurrent = pending.length === 0
      refusal = undefined
      if (isCurrent) outage.worked()
      else outage.failed(new Error('the schema is behind: run trilho migrate'), { pending })
    } catch (error) {
      refusal = refusalOf(error)
      if (refusal !== undefined && isStart) throw error
      outage.failed(error)
    }
    if (isStopped) return
    if (isCurrent) {
      database.gate.open()
      writes.start()
      for (const job of jobs) void job.start()
      if (!isApart) timer = setTimeout(() => void askApart(), retryMaxMs)
      return
    }
    timer = setTimeout(() => void attempt(Math.min(waitMs * 2, retryMaxMs), false), waitMs)
  }

  const health = async (): Promise<HealthCheck> => {
    if (!isCurrent) {
      return { status: 'down', ready: false, detail: { reason: refusal ?? 'not migrated yet' } }
    }
    if (!(await database.ping())) {
      return { status: 'down', ready: false, detail: { reason: 'no answer' } }
    }
    const refused = await writes.refusal()
    if (refused === undefined) return { status: 'ok', ready: true }
    const reason = `${options.name} takes no writes: ${refused}`
    return { status: 'down', ready: false, reason, detail: { reason: refused } }
  }

  return {
    name: options.name,
    start: () => {
      database.gate.close()
      return attempt(retryFirstMs, true)
    },
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

/** Why this program may not start on the database; undefined if it may later. */
const refusalOf = (error: unknown): string | undefined => {
  if (error instanceof SameDatabaseError) return error.message
  return error instanceof SchemaMismatchError ? 'the schema is not one of this program' : undefined
}

/** @returns the migrations that the schema lacks */
const bringUpToDate = async (options: DatabaseFeatureOptions): Promise<readonly string[]> => {
  const { dsn, migrations, logger } = options
  if (!options.migrateOnStart) return pendingMigrations(dsn, migrations)
  await migrate(dsn, migrations, logger)
  return []
}
