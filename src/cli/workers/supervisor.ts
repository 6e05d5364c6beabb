import type { Logger, LogLevel, Metrics } from '#src/platform/observe/index.ts'
import { createCollector } from './collector.ts'
import type { FromWorker, ToWorker } from './messages.ts'

export type Supervisor = {
  /** Starts the first worker, which may migrate, then the others. @throws WorkerEndedError if one ends before it listens */
  readonly start: () => Promise<Readonly<Record<string, string>>>
  /** Ends all in order. @returns true when each did within its time */
  readonly stop: (signal: NodeJS.Signals) => Promise<boolean>
  /** Ends all at once. */
  readonly kill: () => void
}

export type SupervisorOptions = {
  readonly count: number
  /** The command that starts a worker, and the environment of each. */
  readonly command: readonly string[]
  readonly environmentOf: (worker: number) => Readonly<Record<string, string>>
  /** Takes whole lines of the log. */
  readonly onLines: (lines: string) => void
  readonly metrics: Metrics
  readonly logger: Logger
  /** We end a worker that answers nothing for so long; 0: never. */
  readonly stallMs: number
  /** We end a worker that has not ended by itself after so long. */
  readonly stopMs: number
}

/** A worker could not even start: the reason is in the log. */
export class WorkerEndedError extends Error {
  override readonly name = 'WorkerEndedError'
  readonly code: number
  constructor(worker: number, code: number) {
    super(`worker ${worker} ended before it listened, with ${code}`)
    this.code = code
  }
}

const againFirstMs = 1_000
const againMaxMs = 30_000
/** A worker that lived for so long begins anew with the shortest pause. */
const soundMs = 60_000
/** Pings within the time after which a worker counts as stuck. */
const pingsMax = 6

type Child = ReturnType<typeof spawn>

type Worker = {
  readonly number: number
  child: Child | undefined
  isListening: boolean
  againMs: number
  startedMs: number
  unanswered: number
  again: Timer | undefined
}

const newWorker = (number: number): Worker => ({
  number,
  child: undefined,
  isListening: false,
  again: undefined,
  againMs: againFirstMs,
  startedMs: 0,
  unanswered: 0,
})

/** The pause after the life that has just ended. */
const pauseAfter = ({ startedMs, againMs }: Worker): number =>
  performance.now() - startedMs > soundMs ? againFirstMs : againMs

/** Starts it after its pause, and again where the system cannot: that it ended is answered where it ends. */
const beginLater = (worker: Worker, logger: Logger, begin: () => Promise<unknown>): void => {
  worker.again = setTimeout(() => {
    begin().catch((error: unknown) => {
      if (error instanceof WorkerEndedError) return
      const fields = { worker: worker.number, again_in_ms: worker.againMs, err: error }
      logger.error(fields, 'a worker could not be started: it is tried again')
      beginLater(worker, logger, begin)
    })
  }, worker.againMs)
  worker.againMs = Math.min(2 * worker.againMs, againMaxMs)
}

/** Starts workers and keeps them going: when one ends, another starts in its place, after a pause that grows. */
export const createSupervisor = (options: SupervisorOptions): Supervisor => {
  const { count, metrics, logger, stopMs } = options
  const workers = Array.from({ length: count }, (_, index) => newWorker(index + 1))
  let isStopping = false
  let isRunning = false
  let level: LogLevel | undefined
  const running = () => workers.filter(({ isListening }) => isListening)
  const collector = createCollector({ metrics, workers: running, send })
  const restarts = metrics.counter(
    'trilho_worker_restarts_total',
    'Workers that ended and were started again.',
    ['worker'],
  )
  const serving = 'Workers that serve.'
  metrics.gauge('trilho_workers', serving, [], (gauge) => gauge.set({}, running().length))

  const tellCrew = (): void => tellAll(workers, level)

  /** @throws what the system says where it starts no process now, WorkerEndedError once all are to stop */
  const begin = async (worker: Worker): Promise<Readonly<Record<string, string>>> => {
    if (isStopping) throw new WorkerEndedError(worker.number, 0)
    Object.assign(worker, { startedMs: performance.now(), unanswered: 0 })
    const listening = Promise.withResolvers<Readonly<Record<string, string>>>()
    const child = spawn(options, worker.number, (message) => {
      if (message.kind === 'pong') worker.unanswered = 0
      else if (message.kind === 'listening') {
        worker.isListening = true
        logger.info({ worker: worker.number, pid: child.pid }, 'a worker serves')
        tellCrew()
        listening.resolve(message.urls)
      } else if (message.kind === 'log_level') {
        level = message.level
        logger.level = level
        tellCrew()
      } else collector.hear(worker, message)
    })
    worker.child = child
    void child.exited.then((code) => {
      listening.reject(new WorkerEndedError(worker.number, code))
      onEnd(worker, code)
    })
    return listening.promise
  }

  const onEnd = (worker: Worker, code: number): void => {
    const signal = worker.child?.signalCode ?? undefined
    Object.assign(worker, { child: undefined, isListening: false, againMs: pauseAfter(worker) })
    collector.retire(worker)
    if (isStopping || !isRunning) return
    tellCrew()
    const fields = { worker: worker.number, code, signal, again_in_ms: worker.againMs }
    logger.error(fields, 'a worker ended: it is started again')
    beginLater(worker, logger, () => {
      restarts.inc({ worker: worker.number })
      return begin(worker)
    })
  }

  const stopWatching = watchPulse(options, workers)

  const kill = (): void => killAll(workers)
  return {
    kill,
    start: async () => {
      const [first, ...others] = workers
      if (first === undefined) throw new Error('no worker')
      const urls = await begin(first)
      await Promise.all(others.map(begin))
      demandAll(workers)
      isRunning = true
      return urls
    },
    stop: async (signal) => {
      isStopping = true
      stopWatching()
      const timer = setTimeout(kill, stopMs)
      const codes = await Promise.all(workers.map((worker) => end(worker, signal)))
      clearTimeout(timer)
      return codes.every((code) => code === undefined || code === 0)
    },
  }
}

const killAll = (workers: readonly Worker[]): void => {
  for (const { child } of workers) child?.kill('SIGKILL')
}

const tellAll = (workers: readonly Worker[], level: LogLevel | undefined): void => {
  const running = workers.filter(({ isListening }) => isListening).length
  for (const worker of workers) send(worker, { kind: 'crew', running, of: workers.length, level })
}

/** A worker may have ended while the next one began. */
const demandAll = (workers: readonly Worker[]): void => {
  const lost = workers.find(({ child }) => child === undefined)
  if (lost !== undefined) throw new WorkerEndedError(lost.number, 1)
}

/** A worker that ends just now is noticed by its end. */
const send = ({ child }: Worker, message: ToWorker): void => {
  try {
    child?.send(message)
  } catch {}
}

/** A worker that does not listen yet may end by the signal itself: it has nothing to end in order. */
const end = async (
  { child, again, isListening }: Worker,
  signal: NodeJS.Signals,
): Promise<number | undefined> => {
  clearTimeout(again)
  child?.kill(signal)
  const code = await child?.exited
  return !isListening && child?.signalCode === signal ? undefined : code
}

/** Ends workers that no longer answer, or do not answer yet. */
const watchPulse = (
  { stallMs, logger }: SupervisorOptions,
  workers: readonly Worker[],
): (() => void) => {
  if (stallMs === 0) return () => {}
  const ping = (): void => {
    for (const worker of workers) {
      if (worker.child === undefined) continue
      // We count pings instead of time: if this process stood still with the others, nobody is late.
      if (worker.unanswered++ < pingsMax) send(worker, { kind: 'ping' })
      else {
        logger.error({ worker: worker.number }, 'a worker answers nothing: it is ended')
        worker.child?.kill('SIGKILL')
      }
    }
  }
  const timer = setInterval(ping, stallMs / pingsMax)
  return () => clearInterval(timer)
}

const spawn = (
  { command, environmentOf, onLines }: SupervisorOptions,
  worker: number,
  hear: (message: FromWorker) => void,
) => {
  const child = Bun.spawn([...command], {
    env: environmentOf(worker),
    stdio: ['ignore', 'pipe', 'inherit'],
    ipc: (message: FromWorker) => hear(message),
    serialization: 'json',
  })
  void forwardLines(child.stdout, onLines)
  return child
}

/** Lines of several workers must not run into each other. */
const forwardLines = async (
  stream: ReadableStream<Uint8Array>,
  onLines: (lines: string) => void,
): Promise<void> => {
  let rest = ''
  for await (const text of stream.pipeThrough(
    new TextDecoderStream() as never,
  ) as AsyncIterable<string>) {
    const end = text.lastIndexOf('\n') + 1
    if (end === 0) rest += text
    else {
      onLines(rest + text.slice(0, end))
      rest = text.slice(end)
    }
  }
  if (rest !== '') onLines(`${rest}\n`)
}
