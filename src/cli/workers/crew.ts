import type { HealthCheck } from '#src/platform/http/index.ts'
import type { Feature } from '#src/platform/lifecycle/index.ts'
import type { Logger, LogLevel, Metrics, MetricValues } from '#src/platform/observe/index.ts'
import { collectMsMax, type FromWorker, type ToWorker } from './messages.ts'

/** The workers of one `trilho serve`, as one of them sees them. */
export type Crew = {
  readonly worker: number
  /** Tells of workers that are missing. */
  readonly feature: Feature
  /** Renders the metrics of all workers, and of this one alone when the others cannot be asked. */
  readonly share: (metrics: Metrics) => Metrics
  /** Lets the other workers set the level of these loggers; returns a function that sets the others' level. */
  readonly shareLevel: (loggers: readonly Logger[]) => (level: LogLevel) => void
  readonly listening: (urls: Readonly<Record<string, string>>) => void
  /** Resolves when the process that started the workers is gone. */
  readonly abandoned: Promise<void>
}

export const joinCrew = (worker: number): Crew => {
  const abandoned = Promise.withResolvers<void>()
  const asked = new Map<number, (text: string) => void>()
  let lastId = 0
  let own: Metrics | undefined
  let levelled: readonly Logger[] = []
  let crew = { running: 1, of: 1 }
  const tell = (message: FromWorker): void => {
    if (process.connected) process.send?.(message)
  }
  const collect = async (id: number): Promise<void> => {
    const values = ((await own?.registry.getMetricsAsJSON()) ?? []) as unknown as MetricValues
    tell({ kind: 'collected', id, values })
  }
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'ping') tell({ kind: 'pong' })
    else if (message.kind === 'collect') void collect(message.id)
    else if (message.kind === 'rendered') asked.get(message.id)?.(message.text)
    else {
      crew = message
      for (const logger of levelled) logger.level = message.level ?? logger.level
    }
  })
  process.on('disconnect', () => abandoned.resolve())

  const renderAll = async (): Promise<string | undefined> => {
    if (!process.connected) return undefined
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const id = ++lastId
    const timer = setTimeout(() => resolve(undefined), 2 * collectMsMax)
    asked.set(id, resolve)
    tell({ kind: 'render', id })
    const text = await promise
    clearTimeout(timer)
    asked.delete(id)
    return text
  }
  return {
    worker,
    abandoned: abandoned.promise,
    listening: (urls) => tell({ kind: 'listening', urls }),
    feature: { name: 'workers', health: () => healthOf(crew) },
    shareLevel: (loggers) => {
      levelled = loggers
      return (level) => tell({ kind: 'log_level', level })
    },
    share: (metrics) => {
      own = metrics
      const { contentType } = metrics.registry
      const render = async () => {
        const text = await renderAll()
        return text === undefined ? metrics.render() : { contentType, text }
      }
      return { ...metrics, render }
    },
  }
}

/** A worker that ended is started again: the others serve meanwhile. */
const healthOf = ({
  running,
  of,
}: {
  readonly running: number
  readonly of: number
}): HealthCheck =>
  running < of
    ? {
        status: 'degraded',
        ready: true,
        reason: `${running} of ${of} workers run`,
        detail: { running, of },
      }
    : { status: 'ok', ready: true, detail: { running, of } }
