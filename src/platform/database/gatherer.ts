import { activeContext } from '../observe/index.ts'

/** Too many rows wait: we tell the caller at once, so that it does not wait without end. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError'
}

export type GathererOptions<Row, Result> = {
  /** Writes all rows or none, one result per row in their order. */
  readonly write: (rows: readonly Row[]) => Promise<readonly Result[]>
  /** Rows of one statement. */
  readonly rowsMax: number
  /** Statements at once, of this gatherer and all others with which it shares `writers`. */
  readonly writersMax: number
  /** Absent: its own. */
  readonly writers?: Writers
  /**
   * Rows that must wait for a statement to start beside one that runs; fewer share the one after it, or start after
   * {@link besideAfterMs}. Each statement costs the server as much as several rows do. 1 when absent.
   */
  readonly besideMin?: number
  /** Rows that may wait or be in writing at once. */
  readonly waitingMax: number
  /**
   * The least time between the starts of two statements, unless {@link rowsEnough} wait: many callers then share
   * statements that would otherwise carry a few rows each. A lone row does not wait, and any other waits this long at
   * most; 0 when absent.
   */
  readonly spacingMs?: number
  /** From so many rows on, a statement waits for no more; `rowsMax` when absent. */
  readonly rowsEnough?: number
  /**
   * A statement of fewer rows tells of few callers, so the next may start as soon as it has ended. Callers would wait
   * for nobody, and the saved statement is not worth their time. 1 when absent.
   */
  readonly crowdMin?: number
  /**
   * True when a row may be to blame (a constraint): the batch is halved until only the row itself fails. False
   * (a connection is away): all rows of the batch fail with the error.
   */
  readonly isRowFault: (error: unknown) => boolean
}

/** A statement that runs for longer may wait for a lock, and few rows do not wait for it any more. */
export const besideAfterMs = 200

/** Counts the statements that are running, for gatherers that take turns. */
export class Writers {
  running = 0
  /** The gatherers that found no room, in the order in which they came. */
  private readonly waiting = new Set<() => void>()

  wait(start: () => void): void {
    this.waiting.add(start)
  }

  ended(): void {
    this.running--
    for (const start of [...this.waiting]) {
      this.waiting.delete(start)
      start()
    }
  }
}

type Waiting<Row, Result> = {
  readonly row: Row
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
  /** The caller's promise. */
  readonly within: ReturnType<typeof activeContext>
}

/** Settles the promises of all rows of a batch. */
const settle = async <Row, Result>(
  { write, isRowFault }: Pick<GathererOptions<Row, Result>, 'write' | 'isRowFault'>,
  batch: readonly Waiting<Row, Result>[],
): Promise<void> => {
  try {
    const results = await write(batch.map(({ row }) => row))
    if (results.length !== batch.length) throw new Error('one result per row was promised')
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result)
  } catch (error) {
    if (batch.length === 1 || !isRowFault(error)) {
      for (const { reject } of batch) reject(error)
      return
    }
    const middle = batch.length >> 1
    await settle({ write, isRowFault }, batch.slice(0, middle))
    await settle({ write, isRowFault }, batch.slice(middle))
  }
}

/**
 * Gathers the rows that callers write at the same time into one statement, so that they share its commit: the rows of
 * one event-loop turn, and rows that come while every writer is busy. A lone row does not wait.
 */
export const createGatherer = <Row, Result>(
  options: GathererOptions<Row, Result>,
): ((row: Row) => Promise<Result>) => {
  const { rowsMax, writersMax, waitingMax, besideMin = 1 } = options
  const { spacingMs = 0, rowsEnough = rowsMax, crowdMin = 1, writers = new Writers() } = options
  const queue: Waiting<Row, Result>[] = []
  let held = 0
  let isScheduled = false
  /** Too few to start beside a statement that runs. */
  let areFew = false
  /** Ends the wait of few rows. */
  let patience: ReturnType<typeof setTimeout> | undefined
  /** When the next may start, if fewer rows wait than are enough. */
  let nextMs = Number.NEGATIVE_INFINITY
  /** Starts it then. */
  let spaced: ReturnType<typeof setTimeout> | undefined

  const wait = (): void => {
    if (isScheduled || queue.length === 0) return
    isScheduled = true
    writers.wait(start)
  }

  const start = (isOverdue = false): void => {
    isScheduled = false
    clearTimeout(spaced)
    spaced = undefined
    areFew = !isOverdue && writers.running > 0 && queue.length < besideMin
    if (writers.running >= writersMax || areFew) {
      wait()
      if (areFew && queue.length > 0) patience ??= setTimeout(startAnyway, besideAfterMs)
      return
    }
    // The rows left before the statement that they waited for had ended.
    if (queue.length === 0) return
    const leftMs = nextMs - performance.now()
    if (leftMs > 0 && queue.length < rowsEnough) {
      isScheduled = true
      spaced = setTimeout(start, leftMs)
      return
    }
    clearTimeout(patience)
    patience = undefined
    const batch = queue.splice(0, rowsMax)
    if (batch.length >= crowdMin) nextMs = performance.now() + spacingMs
    const within = batch[0]?.within
    writers.running++
    const settled = () => settle(options, batch)
    void (within === undefined ? settled() : within(settled)).finally(() => {
      held -= batch.length
      // Behind those that wait already.
      wait()
      writers.ended()
    })
    if (queue.length > 0 && writers.running < writersMax) start()
  }

  const startAnyway = (): void => {
    patience = undefined
    start(true)
  }

  return (row) => {
    if (held >= waitingMax) {
      return Promise.reject(new OverloadedError(`${waitingMax} rows wait to be written already`))
    }
    held++
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    queue.push({ row, resolve, reject, within: activeContext() })
    const areEnough =
      (areFew && queue.length === besideMin) ||
      (spaced !== undefined && queue.length === rowsEnough)
    if (!isScheduled || areEnough) {
      isScheduled = true
      setImmediate(start)
    }
    return promise
  }
}
