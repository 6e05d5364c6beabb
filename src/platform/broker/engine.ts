import { createLoop, type Loop, type Work } from '../jobs/index.ts'
import { createOutageLog, type OutageLog } from '../observe/index.ts'
import { createAlarm } from '../runtime/index.ts'
import { type DeliverDeps, deliver } from './deliver.ts'
import type { ConsumeOptions, Consumer, Delivery, OutgoingMessage } from './types.ts'

/** A batch of one partition, with the claim under which we read it. */
export type FetchedBatch<Lease, M extends Delivery> = {
  readonly lease: Lease
  readonly messages: readonly M[]
  /** Processes that had these in hand ended: each is handed out alone, and its attempt counted before. */
  readonly isSuspect?: boolean
}

/** `lost`: aborted when another member may have the partition. */
export type PartitionLease = { readonly partition: number; readonly lost?: AbortSignal }

/** A log of partitions, as one member of a group sees it. */
export type PartitionSource<Lease extends PartitionLease, M extends Delivery> = {
  /** Claims and gives back partitions so that members share evenly. Never gives back a busy one. */
  rebalance(busy: ReadonlySet<number>): Promise<void>
  /** The partitions to read from now. */
  assigned(): readonly number[]
  fetch(
    partitions: readonly number[],
    messagesMax: number,
  ): Promise<readonly FetchedBatch<Lease, M>[]>
  /** Ends a batch: these of it are settled, in order. Resolves when the partition may be read on. */
  settle(lease: Lease, settled: readonly M[]): Promise<void>
  /** After a failure: the messages that nobody has settled since. Absent: all. */
  remaining?(lease: Lease, messages: readonly M[]): Promise<readonly M[]>
  /** Keeps the number of an attempt that begins. Absent: it is forgotten with the process. */
  keepAttempt?(message: M, attempt: number): Promise<void>
  /** Puts a letter in `dlq` and settles its message, both or neither. Absent: it is published, then settled. */
  bury?(letter: OutgoingMessage, message: M): Promise<void>
  /** The member reads no further: it needs only the partitions whose batches run. */
  retire?(): void
  /** Writes settled positions, gives all partitions back, leaves the group. */
  close(): Promise<void>
}

export type Engine = Consumer & {
  /** Call it when something may have been published. */
  readonly wake: () => void
  /** Watches each batch until it is settled, and the turns. */
  readonly watched: Loop
}

const rebalanceEveryMs = 500
/** We ask again soon after a sign of news that was not visible yet, then ever more rarely. */
const pollFirstMs = 2
const pollMaxMs = 250

/**
 * Reads the partitions of one member and runs their batches: one at a time per partition, all partitions at
 * once. We read a partition again only when its batch is settled, which bounds what is in memory.
 */
export const startEngine = <Lease extends PartitionLease, M extends Delivery>(
  source: PartitionSource<Lease, M>,
  options: ConsumeOptions,
  deps: Pick<DeliverDeps<M>, 'publish' | 'onDeadLetter' | 'logger'>,
): Engine => {
  const draining = new AbortController()
  const busy = new Map<number, Promise<void>>()
  const bell = createBell()
  const { topic, group } = options
  const outage = createOutageLog(deps.logger, {
    level: 'warn',
    away: 'the broker cannot be read',
    back: 'the broker can be read again',
    about: { topic, group },
  })
  const watched = createLoop(`consumer of ${topic} (${group})`)
  const { keepAttempt, bury } = source

  /** One signal for each lease: the source signals would keep every batch's signal in memory. */
  const signals = new WeakMap<AbortSignal, AbortSignal>()
  const signalOf = ({ lost }: Lease): AbortSignal => {
    if (lost === undefined) return draining.signal
    const signal = signals.get(lost) ?? AbortSignal.any([draining.signal, lost])
    signals.set(lost, signal)
    return signal
  }

  const run = async (batch: FetchedBatch<Lease, M>): Promise<void> => {
    const { lease, messages, isSuspect = false } = batch
    const work = watched.begin()
    try {
      const settled = await deliver(messages, options, {
        ...deps,
        keepAttempt,
        isSuspect,
        onProgress: work.advance,
        signal: signalOf(lease),
        remaining: (left) => source.remaining?.(lease, left) ?? Promise.resolve(left),
        bury: bury ?? ((letter) => deps.publish([letter])),
      })
      await source.settle(lease, settled)
    } finally {
      work.end()
      busy.delete(lease.partition)
      bell.ring()
    }
  }

  const readOnce = async (): Promise<boolean> => {
    const free = source.assigned().filter((partition) => !busy.has(partition))
    if (free.length === 0) return false
    const batches = await source.fetch(free, options.batchSizeMax)
    outage.worked()
    if (draining.signal.aborted) return false
    for (const batch of batches) busy.set(batch.lease.partition, run(batch))
    return batches.length > 0
  }

  const turns = watched.begin()
  const turned = readOnTurns(source, {
    turns,
    bell,
    busy,
    readOnce,
    outage,
    signal: draining.signal,
  })
  const ended = turned.finally(turns.end)
  let drained: Promise<void> | undefined
  const drain = (): Promise<void> => {
    drained ??= (async () => {
      draining.abort()
      source.retire?.()
      bell.ring()
      await ended
      await Promise.all(busy.values())
    })()
    return drained
  }
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopped ??= drain().then(() => source.close())
    return stopped
  }
  return { wake: bell.ring, watched, drain, stop }
}

type Bell = { readonly ring: () => void; readonly heard: () => Promise<void> }

type Turns = {
  readonly turns: Work
  readonly bell: Bell
  readonly busy: ReadonlyMap<number, unknown>
  /** @returns whether there was anything */
  readonly readOnce: () => Promise<boolean>
  readonly outage: OutageLog
  readonly signal: AbortSignal
}

/** Rebalances when it is due, reads until a turn finds nothing, then waits for the bell. */
const readOnTurns = async <Lease extends PartitionLease, M extends Delivery>(
  source: PartitionSource<Lease, M>,
  { turns, bell, busy, readOnce, outage, signal }: Turns,
): Promise<void> => {
  let rebalancedMs = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    // A turn that failed has ended too; others report that the broker is away.
    turns.advance()
    try {
      const isDue = performance.now() - rebalancedMs > rebalanceEveryMs
      // A member without partitions has just come or has lost its session, so it does not wait.
      if (isDue || source.assigned().length === 0) {
        await source.rebalance(new Set(busy.keys()))
        rebalancedMs = performance.now()
      }
      if (await readOnce()) continue
    } catch (error) {
      if (signal.aborted) return
      outage.failed(error)
      rebalancedMs = Number.NEGATIVE_INFINITY
    }
    await bell.heard()
  }
}

/** Waits for a ring, or for a time that doubles while nothing rings. */
const createBell = (): Bell => {
  const alarm = createAlarm()
  let waitMs = pollFirstMs
  return {
    ring: () => {
      waitMs = pollFirstMs
      alarm.ring()
    },
    heard: async () => {
      if (!(await alarm.wait(waitMs))) waitMs = Math.min(waitMs * 2, pollMaxMs)
    },
  }
}
