import { type Client, uuidBound } from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import { forgetTransactions } from './store.ts'

const everyMs = 600_000
const batchMax = 500
const dayMs = 86_400_000

export type Retention = {
  readonly start: () => void
  readonly stop: () => Promise<void>
  /** One round. @returns how many were forgotten */
  readonly sweep: () => Promise<number>
}

/**
 * Forgets transactions, with their events and reversals, that were made and last changed more than `days` ago; what
 * is pending, under way or in need of attention stays. Undefined days: nothing is ever forgotten.
 */
export const createRetention = (options: {
  readonly sql: Client
  readonly days: number | undefined
  readonly logger: Logger
  readonly now: () => Date
}): Retention => {
  const { sql, days, logger, now } = options
  let timer: ReturnType<typeof setInterval> | undefined
  let running: Promise<number> | undefined
  let isStopping = false

  const round = async (keptDays: number): Promise<number> => {
    const before = new Date(now().getTime() - keptDays * dayMs)
    const beforeId = `txn_${uuidBound(before).replaceAll('-', '')}`
    let total = 0
    while (!isStopping) {
      const forgotten = await forgetTransactions(sql, before, beforeId, batchMax)
      total += forgotten
      if (forgotten < batchMax) break
    }
    if (total > 0) logger.info({ transactions: total }, 'old card transactions are forgotten')
    return total
  }

  const sweep = (): Promise<number> => {
    if (days === undefined) return Promise.resolve(0)
    running ??= round(days).finally(() => {
      running = undefined
    })
    return running
  }

  const quietly = (): void => {
    sweep().catch((err: unknown) => logger.warn({ err }, 'old card transactions stay for now'))
  }

  return {
    sweep,
    start: () => {
      if (days === undefined) return
      timer = setInterval(quietly, everyMs)
      timer.unref()
      quietly()
    },
    stop: async () => {
      isStopping = true
      clearInterval(timer)
      await running?.catch(() => undefined)
    },
  }
}
