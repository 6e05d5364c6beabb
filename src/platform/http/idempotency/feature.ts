import type { Client } from '#src/platform/database/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'

const sweepEveryMs = 600_000

/** Forgets keys after their retention: a repetition later than that is a new request. */
export const createIdempotencySweep = (options: {
  readonly sql: Client
  readonly retentionHours: number
  readonly logger: Logger
}): Feature & { readonly sweep: () => Promise<number> } => {
  const { sql, retentionHours, logger } = options
  let timer: ReturnType<typeof setInterval> | undefined

  const sweep = async (): Promise<number> => {
    const gone = await sql`
      delete from idempotency_keys where created_at < now() - make_interval(hours => ${retentionHours})`
    return gone.count
  }
  return {
    name: 'idempotency',
    sweep,
    start: () => {
      timer = setInterval(() => {
        sweep().catch((error: unknown) => logger.warn({ err: error }, 'sweep of keys failed'))
      }, sweepEveryMs)
      timer.unref()
    },
    stop: () => clearInterval(timer),
  }
}
