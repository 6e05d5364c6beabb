import { join } from 'node:path'

export type RoundResult = { readonly cpuUs: number; readonly checksum: string }

/** A worker is ready: checksums of one operation and of a whole round. */
export type ReadyMessage = { readonly single: string; readonly checksum: string }

/** The exit code of a worker whose tree lacks the contender, as an earlier commit lacks a new one. */
export const noContenderCode = 3

/** A worker ended before it was stopped. */
export class WorkerEndedError extends Error {
  override readonly name = 'WorkerEndedError'
  readonly code: number | null

  constructor(address: readonly string[], code: number | null) {
    super(`${address.join(' / ')} ended`)
    this.code = code
  }
}

/** One contender in a process of its own. */
export type Worker = {
  readonly name: string
  readonly single: string
  readonly checksum: string
  /** CPU microseconds per operation of one round. */
  readonly round: () => Promise<RoundResult>
  readonly stop: () => void
}

/**
 * @param address suite, group and contender
 * @param tree the checkout of the contender
 */
export const startWorker = async (
  address: readonly [suite: string, group: string, contender: string],
  roundMs: number,
  tree = join(import.meta.dir, '..'),
): Promise<Worker> => {
  let pending = Promise.withResolvers<unknown>()
  const child = Bun.spawn(
    [process.execPath, join(tree, 'bench/worker.ts'), ...address, String(roundMs)],
    {
      cwd: tree,
      stdout: 'inherit',
      stderr: 'inherit',
      ipc: (message) => pending.resolve(message),
      onExit: (_child, code) => pending.reject(new WorkerEndedError(address, code)),
    },
  )
  const next = async <T>(): Promise<T> => {
    const message = (await pending.promise) as T
    pending = Promise.withResolvers()
    // An exit after the last answer is expected; nobody waits for it.
    pending.promise.catch(() => {})
    return message
  }
  const { single, checksum } = await next<ReadyMessage>()
  return {
    name: address[2],
    single,
    checksum,
    round: () => {
      child.send('round')
      return next<RoundResult>()
    },
    stop: () => child.kill(),
  }
}
