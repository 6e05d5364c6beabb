import {
  type Metrics,
  type MetricValues,
  mergeMetrics,
  type WorkerMetrics,
} from '#src/platform/observe/index.ts'
import { collectMsMax, type FromWorker, type ToWorker } from './messages.ts'

type Asked = Extract<FromWorker, { readonly kind: 'collected' | 'render' }>

/** Gathers the metrics of all workers when one of them is asked for them. */
export const createCollector = <W extends { readonly number: number }>(deps: {
  /** The metrics of the process that starts the workers. */
  readonly metrics: Metrics
  /** The workers that can answer. */
  readonly workers: () => readonly W[]
  readonly send: (worker: W, message: ToWorker) => void
}) => {
  const { metrics, workers, send } = deps
  const last = new Map<number, MetricValues>()
  /** The counts of workers that have ended. A count must not fall, or all of it seems to have happened again. */
  let retired: Promise<MetricValues> = Promise.resolve([])
  let lastId = 0
  const waiting = new Map<number, { readonly from: Set<number>; readonly done: () => void }>()

  const collect = async (): Promise<void> => {
    const id = ++lastId
    const asked = workers()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.set(id, { from: new Set(asked.map(({ number }) => number)), done: resolve })
    const timer = setTimeout(resolve, collectMsMax)
    for (const worker of asked) send(worker, { kind: 'collect', id })
    await promise
    clearTimeout(timer)
    waiting.delete(id)
  }

  const render = async (): Promise<string> => {
    await collect()
    const own = (await metrics.registry.getMetricsAsJSON()) as unknown as MetricValues
    const all: readonly WorkerMetrics[] = [
      ...[...last].map(([of, values]) => ({ of, values })),
      { of: 'ended', values: await retired },
      { of: 'all', values: own.filter(({ name }) => name.startsWith('trilho_worker')) },
    ]
    return mergeMetrics(all).render()
  }

  const answered = (worker: W): void => {
    for (const { from, done } of waiting.values()) {
      from.delete(worker.number)
      if (from.size === 0) done()
    }
  }

  return {
    hear: (worker: W, message: Asked): void => {
      if (message.kind === 'render') {
        const { id } = message
        void render().then((text) => send(worker, { kind: 'rendered', id, text }))
        return
      }
      last.set(worker.number, message.values)
      answered(worker)
    },
    /** Keeps the counts of a worker that ended, as far as it told them. */
    retire: (worker: W): void => {
      answered(worker)
      const values = last.get(worker.number)
      if (values === undefined) return
      last.delete(worker.number)
      retired = retired.then((before) =>
        mergeMetrics([
          { of: 'ended', values },
          { of: 'ended', values: before },
        ]).values(),
      )
    },
  }
}
