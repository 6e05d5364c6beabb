import { randomUUID } from 'node:crypto'
import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'
import {
  createJob,
  createLoop,
  type Job,
  type Loop,
  nothingFound,
  type Round,
} from '#src/platform/jobs/index.ts'
import { inSpan, type Metrics } from '#src/platform/observe/index.ts'
import type { CardNetworks, Network } from '../networks/index.ts'
import { type AttemptContext, attemptReversal, type ClaimedReversal } from './attempt.ts'
import { type AttemptOutcome, createReversalMetrics } from './metrics.ts'
import { claimDue, expire, findOver, type Limits } from './store.ts'

/** How long and how often reversals are sent. */
export const reversalSettings = defineSettings({
  expiryHours: setting('CARDGW_REVERSAL_EXPIRY_HOURS', kind.integer(1, 720), {
    default: '24',
    doc: 'Hours after which a reversal that no network confirmed is given up and needs attention.',
  }),
  attemptsMax: setting('CARDGW_REVERSAL_ATTEMPTS_MAX', kind.integer(1, 100_000), {
    default: '1000',
    doc: 'Times a reversal is sent before it is given up; a network that is down uses none. What was sent before it began, as a void by its caller, counts once, and is sent once more at least.',
  }),
  backoffMaxSeconds: setting('CARDGW_REVERSAL_BACKOFF_MAX_SECONDS', kind.integer(1, 3_600), {
    default: '300',
    doc: 'Longest time between two attempts of one reversal, seconds.',
  }),
  windowSeconds: setting('CARDGW_REVERSAL_WINDOW_SECONDS', kind.integer(1, 86_400), {
    default: '120',
    doc: 'Seconds during which a message may still arrive at the network: a reversal whose original the network does not know is sent again at their end, and only then done. Twice the time-out at least.',
  }),
  inFlightMax: setting('CARDGW_REVERSAL_IN_FLIGHT', kind.integer(1, 1_024), {
    doc: 'Reversals that one process sends to one network at the same time. When not set, an eighth of what may wait on its connections (pool times window).',
  }),
})

export type ReversalSettings = SettingValues<typeof reversalSettings>

/** The part of the windows of a network's connections that reversals may fill: payments have the rest. */
const shareOfWindows = 1 / 8
const pollMs = 1_000
/** While nothing is due, the time between two looks grows up to this many times. */
const restFactor = 5
/** Part of the time between two looks; less than one, because timers are not exact. */
const expiryPart = 0.9
const backoffBaseMs = 2_000
const holdMs = 5_000
/**
 * How much longer a lease lasts than the work it covers. If a process is killed, its reversal waits for the lease to
 * end, and the card holder's money stays on hold.
 */
const leaseMarginMsDefault = 10_000
/** Reversals that one look may give up. */
const expiredMax = 100

/** Times that tests shorten. */
type ReversalTiming = {
  /** Time between two looks at the table; `kick` makes the next one sooner. */
  readonly pollMs: number
  /** Bound of the wait before the second attempt; doubles with each. */
  readonly backoffBaseMs: number
  /** Bound of the wait after what was no attempt. */
  readonly holdMs: number
  readonly leaseMarginMs: number
  /** How long an original that the network does not know may still be on its way. */
  readonly windowMs: number
}

export type ReversalsDeps = Pick<
  AttemptContext,
  'sql' | 'vault' | 'nextStan' | 'lockOriginal' | 'onEnded' | 'merchants' | 'logger'
> & {
  readonly networks: Pick<CardNetworks, 'all' | 'byName'>
  /** Longest time of one call of the vault. */
  readonly vaultTimeoutMs: number
  readonly settings: ReversalSettings
  readonly metrics: Metrics
  readonly timing?: Partial<ReversalTiming>
}

export type Reversals = {
  /** Looks for work now: call it after a transaction with reversals has been committed. */
  readonly kick: () => void
  readonly start: () => void
  /** Claims nothing more, and waits for messages on the wire, for a network's time at most. */
  readonly drain: () => Promise<void>
  readonly loops: readonly Loop[]
}

/**
 * Sends stored reversals until their network confirms them: 0400 first, 0401 afterwards, with capped exponential
 * backoff and full jitter. A reversal that no answer ends in time expires. Any number of engines may
 * work on one table: a lease keeps a reversal with one of them, and ends by itself if that one dies.
 */
export const createReversals = (deps: ReversalsDeps): Reversals => new Engine(deps).face()

class Engine {
  private readonly deps: ReversalsDeps
  private readonly limits: Limits
  private readonly pollMs: number
  /** Covers the time from the claim to the first byte, with the call to the vault. */
  private readonly claimLeaseSeconds: number
  private readonly context: AttemptContext
  private readonly rounds: Job
  private readonly attempts = createLoop('attempts of card reversals')
  private readonly running = new Map<string, Set<Promise<void>>>()
  private expiredAtMs = Number.NEGATIVE_INFINITY

  constructor(deps: ReversalsDeps) {
    const { sql, vaultTimeoutMs, settings, logger, timing = {} } = deps
    const leaseMarginMs = timing.leaseMarginMs ?? leaseMarginMsDefault
    this.deps = deps
    this.limits = {
      expirySeconds: settings.expiryHours * 3_600,
      attemptsMax: settings.attemptsMax,
    }
    this.pollMs = timing.pollMs ?? pollMs
    this.rounds = createJob({
      name: 'due card reversals',
      everyMs: this.pollMs,
      restMs: restFactor * this.pollMs,
      isVital: true,
      logger,
      run: (round) => this.takeDue(round),
    })
    this.claimLeaseSeconds = (vaultTimeoutMs + leaseMarginMs) / 1_000
    this.context = {
      ...deps,
      backoff: {
        backoffFirstMs: timing.backoffBaseMs ?? backoffBaseMs,
        backoffMaxMs: settings.backoffMaxSeconds * 1_000,
      },
      holdMs: timing.holdMs ?? holdMs,
      leaseMarginMs,
      windowMs: ({ timeoutMs }) =>
        timing.windowMs ?? Math.max(settings.windowSeconds * 1_000, 2 * timeoutMs),
      metrics: createReversalMetrics(
        deps.metrics,
        sql,
        deps.networks.all.map(({ name }) => name),
      ),
    }
  }

  face(): Reversals {
    return {
      kick: this.rounds.kick,
      loops: [this.attempts],
      start: () => void this.rounds.start(),
      drain: async () => {
        await this.rounds.stop()
        await Promise.all([...this.running.values()].flatMap((attempts) => [...attempts]))
      },
    }
  }

  private async takeDue(round: Round): Promise<unknown> {
    // Rounds after a `kick` come too often to look for expired reversals each time.
    if (performance.now() - this.expiredAtMs >= this.pollMs * expiryPart) {
      await this.expireAll(round)
      this.expiredAtMs = performance.now()
    }
    const rooms = this.rooms()
    if (rooms.size === 0 || round.signal.aborted) return nothingFound
    return (await this.claim(rooms)) === 0 ? nothingFound : undefined
  }

  /**
   * How many to take for each network that can send. A network that is down gets none, so that it uses up no attempts.
   */
  private rooms(): ReadonlyMap<string, number> {
    const rooms = new Map<string, number>()
    for (const network of this.deps.networks.all) {
      const { connectionsUp, inFlightMax } = network.health()
      const most = this.deps.settings.inFlightMax ?? Math.ceil(inFlightMax * shareOfWindows)
      const room = most - this.runningOf(network.name).size
      if (room > 0 && connectionsUp > 0) rooms.set(network.name, room)
    }
    return rooms
  }

  /** @returns how many it took */
  private async claim(rooms: ReadonlyMap<string, number>): Promise<number> {
    // Each claim has a new name, so that this engine, too, loses an expired lease.
    const owner = randomUUID()
    const { sql } = this.context
    const claimed = await claimDue(sql, owner, rooms, this.claimLeaseSeconds, this.limits)
    for (const reversal of claimed) {
      const network = this.deps.networks.byName(reversal.network)
      if (network === undefined) throw new Error('a reversal of a network that was not asked for')
      const attempts = this.runningOf(network.name)
      const work = this.attempts.begin()
      const attempt: Promise<void> = this.attempt(network, { reversal, owner }).finally(() => {
        work.end()
        attempts.delete(attempt)
        this.rounds.kick()
      })
      attempts.add(attempt)
    }
    return claimed.length
  }

  private async attempt(network: Network, claimed: ClaimedReversal): Promise<void> {
    const { logger, metrics } = this.context
    try {
      const outcome = await this.traced(network, claimed)
      const { attempts } = metrics.of(claimed.reversal.reverses)
      if (outcome !== undefined) attempts.inc({ network: network.name, outcome })
    } catch (err) {
      logger.error(
        { err, transaction: claimed.reversal.transactionId },
        'an attempt of a reversal was cut short; it follows when its lease ends',
      )
    }
  }

  /** Within a span of the payment's trace: the attempt may come hours after it, and from another process. */
  private traced(network: Network, claimed: ClaimedReversal): Promise<AttemptOutcome | undefined> {
    const { reverses, traceparent } = claimed.reversal
    const attributes = { 'trilho.cards.network': network.name, 'trilho.cards.reverses': reverses }
    // Without a trace we begin one, because any request may have woken the engine.
    const options = { kind: 'consumer', parent: traceparent ?? null, attributes } as const
    return inSpan('card reversal', options, async (span) => {
      const outcome = await attemptReversal(this.context, network, claimed)
      span.set({ 'trilho.cards.outcome': outcome })
      return outcome
    })
  }

  /** Each has its own transaction, so that one failure does not stop the others. */
  private async expireAll({ advance, signal }: Round): Promise<void> {
    const { sql, lockOriginal, onEnded, metrics, logger } = this.context
    for (const over of await findOver(sql, this.limits, expiredMax)) {
      if (signal.aborted) return
      advance()
      try {
        const expired = await sql.begin(async (tx) => {
          await lockOriginal(tx, over)
          const reversal = await expire(tx, over.id, this.limits)
          if (reversal !== undefined) await onEnded(tx, reversal, 'expired')
          return reversal
        })
        if (expired === undefined) continue
        const { transactionId: transaction, network, attempts, responseCode } = expired
        metrics.of(expired.reverses).ended.inc({ network, outcome: 'expired' })
        logger.error(
          { transaction, network, attempts, response_code: responseCode },
          'a reversal was not confirmed in time: it needs attention',
        )
      } catch (err) {
        logger.error({ err, reversal: over.id.toString() }, 'a reversal could not be given up')
      }
    }
  }

  private runningOf(network: string): Set<Promise<void>> {
    let attempts = this.running.get(network)
    if (attempts === undefined) {
      attempts = new Set()
      this.running.set(network, attempts)
    }
    return attempts
  }
}
