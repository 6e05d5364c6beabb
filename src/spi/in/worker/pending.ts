import type { Client } from '#src/platform/database/index.ts'
import { createJob, type Job } from '#src/platform/jobs/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { applyCrossed, type LateAnswer, type LateDeps } from '../../messages/index.ts'
import type { WorkerMetrics } from './metrics.ts'

const everyMs = 60_000

export type PendingDeps = LateDeps & {
  readonly sql: Client
  readonly metrics: WorkerMetrics
  readonly logger: Logger
}

/** The rare look for answers that crossed the record of their sending. */
export const createPending = (deps: PendingDeps): Job => {
  const { sql, logger } = deps
  return createJob({
    name: 'remembered answers',
    everyMs,
    isVital: true,
    fleet: { sql },
    logger,
    run: async () => {
      for (const late of await sql.begin((tx) => applyCrossed(tx, deps))) {
        reportLate(late, deps)
      }
    },
  })
}

export const reportLate = (
  { change: { id, status, detail }, sent: { type, bizMsgIdr } }: LateAnswer,
  { metrics, logger }: Pick<PendingDeps, 'metrics' | 'logger'>,
): void => {
  metrics.onStatusChange(type, status)
  logger.info(
    { id, type, biz_msg_idr: bizMsgIdr, status, detail },
    'sent message is answered: the answer had come before its PI-ResourceId was recorded',
  )
}
