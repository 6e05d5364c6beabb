import { createOutageLog, type Logger } from '../observe/index.ts'
import { type Clock, systemClock } from './clock.ts'
import { createLease, type FleetOptions, type Lease } from './lease.ts'
import { createLoop, type Loop, type WatchedLoop, type Work } from './loop.ts'

/** `signal`: the process stops, or another one has taken over the job; a long round then ends early. */
export type Round = Work & { readonly signal: AbortSignal }

export type JobOptions = {
  /** One of a fixed set of names, because it stands in the log, in a metric's label, and in `job_leases`. */
  readonly name: string
  /** The time from the start of one round to the start of the next. */
  readonly everyMs: number
  /** Set: the pause doubles up to this while rounds return {@link nothingFound}, and is `everyMs` again after any other. */
  readonly restMs?: number
  readonly run: (round: Round) => Promise<unknown>
  /** Undefined: `run` reports its failures itself. */
  readonly logger?: Pick<Logger, 'info' | 'warn' | 'error'> | undefined
  /** Set: one process of the fleet does each round for all. Undefined: every process does its own. */
  readonly fleet?: FleetOptions | undefined
  /**
   * True: while its rounds keep failing, the process is not ready. False: we only log failures, but a round that never
   * ends still makes the process not ready.
   */
  readonly isVital?: boolean
  /** `start` resolves when the first round has ended, successful or not. */
  readonly isAwaited?: boolean
  /** How long we gather kicks before the round that they ask for. */
  readonly gatherMs?: number
  readonly clock?: Clock
}

/** The result of a round that found no work. */
export const nothingFound = Symbol('nothing found')

export type Job = {
  /** Begins the first round at once. */
  readonly start: () => Promise<void>
  /** Begins no further round, and waits for the one that runs. */
  readonly stop: () => Promise<void>
  /** Asks for a round: now, or right after the one that runs. */
  readonly kick: () => void
}

/** All jobs of the process, so that no watch for stalls can forget one. */
const started = new Set<Loop>()

export const runningJobs = (): readonly Loop[] => [...started]

const retryFirstMs = 1_000
const retryMaxMs = 60_000
/** A process that waits for another one's job checks at least this often whether it is free. */
const lookEveryMsMax = 300_000
/** The part of a pause that we randomly add or subtract, so that processes spread out. */
const jitter = 0.05

/** Repeats work, one round at a time. After a failed round the next comes sooner than usual. */
export const createJob = (options: JobOptions): Job => {
  const { name, logger, fleet, gatherMs = 0, clock = systemClock } = options
  const { isVital = false, isAwaited = false } = options
  const loop = createLoop(name)
  const lease = fleet && createLease(name, options.everyMs, fleet)
  const stopping = new AbortController()
  const outage =
    logger &&
    createOutageLog(logger, {
      level: isVital ? 'error' : 'warn',
      away: `${name}: failed`,
      back: `${name}: works again`,
    })
  const pace = paceOf(options)
  let isStarted = false
  let running: Promise<void> | undefined
  let isKicked = false
  let cancel = (): void => {}

  const turn = async (work: Work): Promise<Turn> => {
    const { signal } = stopping
    const beganMs = clock.nowMs()
    const round = { ...work, signal }
    const restMs = () => pace.everyMs() - ((clock.nowMs() - beganMs) % pace.everyMs())
    if (lease !== undefined) return leasedTurn(lease, options, round, restMs, pace.failures())
    pace.ran(await options.run(round))
    return { pauseMs: restMs(), hasRun: true }
  }

  const attempt = async (): Promise<void> => {
    let pauseMs: number
    try {
      const turned = await (isVital ? loop.round(turn) : seen(loop, turn))
      pauseMs = turned.pauseMs
      if (turned.hasRun) {
        pace.worked()
        outage?.worked()
      }
    } catch (error) {
      pauseMs = pace.failed()
      outage?.failed(error)
    }
    running = undefined
    const spread = 1 + jitter * (2 * Math.random() - 1)
    if (!isKicked) waitFor(pauseMs * spread)
    else if (gatherMs > 0) waitFor(gatherMs)
    else look()
  }

  const look = (): void => {
    cancel()
    isKicked = false
    if (!stopping.signal.aborted) running = attempt()
  }
  const waitFor = (ms: number): void => {
    cancel()
    if (!stopping.signal.aborted) cancel = clock.after(ms, look)
  }

  return {
    start: async () => {
      if (isStarted) return
      isStarted = true
      started.add(loop)
      look()
      if (isAwaited) await running
    },
    stop: async () => {
      stopping.abort()
      cancel()
      await running
      started.delete(loop)
    },
    kick: () => {
      if (!isStarted || isKicked) return
      isKicked = true
      if (running !== undefined) return
      if (gatherMs > 0) waitFor(gatherMs)
      else look()
    },
  }
}

/** How the time between rounds changes with what they bring. */
const paceOf = ({ everyMs, restMs = everyMs }: JobOptions) => {
  let presentMs = everyMs
  let failures = 0
  return {
    everyMs: (): number => presentMs,
    failures: (): number => failures,
    ran: (result: unknown): void => {
      presentMs = result === nothingFound ? Math.min(2 * presentMs, restMs) : everyMs
    },
    worked: (): void => {
      failures = 0
    },
    /** @returns the pause before it is tried again */
    failed: (): number => {
      failures++
      presentMs = everyMs
      return retryMs(everyMs, failures)
    },
  }
}

const retryMs = (everyMs: number, failures: number): number =>
  Math.min(everyMs, retryMaxMs, retryFirstMs * 2 ** Math.min(failures - 1, 10))

/** A round that ends counts as progress, however it ends. */
const seen = <T>(loop: WatchedLoop, run: (work: Work) => Promise<T>): Promise<T> => {
  const work = loop.begin()
  return run(work).finally(work.end)
}

/** How long to wait for the next; a process whose turn it was not knows nothing of whether rounds work. */
type Turn = { readonly pauseMs: number; readonly hasRun: boolean }

/** Runs one round if it is this process's turn. */
const leasedTurn = async (
  lease: Lease,
  { run, everyMs, clock = systemClock }: JobOptions,
  round: Round,
  restMs: () => number,
  failuresBefore: number,
): Promise<Turn> => {
  const askedMs = clock.nowMs()
  const claim = await lease.claim()
  if ('leftMs' in claim) {
    return { pauseMs: Math.min(claim.leftMs, everyMs, lookEveryMsMax), hasRun: false }
  }
  const held = keep(lease, claim.fence, askedMs, clock)
  // A process that stops gives the job back at once.
  const pauseMs = (ms: number): number => (round.signal.aborted ? 0 : ms)
  try {
    await run({ ...round, signal: AbortSignal.any([round.signal, held.lost]) })
  } catch (error) {
    // Its own next look, which is spread, finds the lease over.
    const againMs = retryMs(everyMs, failuresBefore + 1) * (1 - jitter)
    await held.release(pauseMs(againMs)).catch(() => undefined)
    throw error
  }
  if (round.signal.aborted || held.isRenewed() || !lease.isBrief) {
    await held.release(pauseMs(restMs()))
  } else held.end()
  return { pauseMs: restMs(), hasRun: true }
}

/**
 * Renews a lease while a round runs. It is lost when it has not been renewed in its time, whatever has become of the
 * renewal: another process may then begin a round.
 *
 * @param claimedMs before the claim was asked for
 */
const keep = (lease: Lease, fence: bigint, claimedMs: number, clock: Clock) => {
  const lost = new AbortController()
  let cancel = (): void => {}
  let cancelLoss = (): void => {}
  let isOver = false
  let isRenewed = false
  const holdFrom = (ms: number): void => {
    cancelLoss()
    cancelLoss = clock.after(Math.max(0, ms + lease.leaseMs - clock.nowMs()), () => lost.abort())
  }
  const renew = async (): Promise<void> => {
    const askedMs = clock.nowMs()
    isRenewed = true
    try {
      if (!(await lease.renew(fence))) lost.abort()
      else if (!isOver) holdFrom(askedMs)
    } catch {
      // The database is away: the lease holds for what is left of it.
    }
    if (!isOver && !lost.signal.aborted) schedule()
  }
  const schedule = (): void => {
    cancel = clock.after(lease.leaseMs / 3, () => void renew())
  }
  holdFrom(claimedMs)
  schedule()
  const end = (): void => {
    isOver = true
    cancel()
    cancelLoss()
  }
  return {
    lost: lost.signal,
    isRenewed: () => isRenewed,
    end,
    release: (pauseMs: number): Promise<void> => {
      end()
      return lease.release(fence, pauseMs)
    },
  }
}
