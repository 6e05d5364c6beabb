/** The engine of one network: three loops, that send, follow, and repair. */

import { createLoop, type Loop, type WatchedLoop } from '#src/platform/jobs/index.ts'
import { createAlarm } from '#src/platform/runtime/index.ts'
import { RpcFailure } from '../rpc/errors.ts'
import type { EngineContext } from './context.ts'
import { createFollower } from './follow.ts'
import { countHeldOf } from './held-store.ts'
import { identify } from './identity.ts'
import { createSubmitter } from './submit.ts'
import { createSweeper, fillGaps } from './sweep.ts'

export type Engine = {
  readonly start: () => void
  /** Says that there is something to send. */
  readonly kick: () => void
  /** Ends the loops after what they are doing. */
  readonly stop: () => Promise<void>
  readonly state: () => EngineState
  /** Seconds since the last new block, once they are too many. */
  readonly stalledSeconds: () => number | undefined
  /** Ends wait for nodes that do not tell a receipt, and have for long. */
  readonly isUnconfirmed: () => boolean
  /** Transactions of the network that wait for somebody's decision, as the last look found them. */
  readonly held: () => Awaited<ReturnType<typeof countHeldOf>>
  /** A failed turn counts as ended, so an unreachable chain does not make a loop look stalled. */
  readonly loops: readonly Loop[]
}

type EngineState = {
  readonly status: 'starting' | 'running' | 'unreachable' | 'wrong_network' | 'stopped'
  readonly detail: string | undefined
}

const startRetryMs = 1_000
const errorPauseMs = 500

/** Something that works beside the engine once the chain is certainly the network's. */
type Companion = {
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
}

export const createEngine = (
  context: EngineContext,
  companions: readonly Companion[] = [],
): Engine => {
  const { logger, looks, network, settings } = context
  const status = createStatus(context)
  let running: Promise<unknown> | undefined
  let isStopped = false
  let held = { count: 0, untold: 0 }
  const [alarm, ended] = [createAlarm(), createAlarm()]
  const loops = loopsOf(network.id)
  const [sending, following, sweeping] = loops
  const sweeper = createSweeper(context)
  const stall = createStallLook(context)
  const wake = (): void => {
    looks.often()
    alarm.ring()
  }

  const begin = async (): Promise<void> => {
    while (!isStopped) {
      try {
        await identify(context)
        const recovered = await sweeper.recover()
        if (recovered > 0) logger.info({ network: network.id, recovered }, 'taken up after a stop')
        status.set('running')
        if (!isStopped) for (const each of companions) await each.start()
        await Promise.all([submitLoop(), followLoop(), sweepLoop()])
        return
      } catch (error) {
        status.fail('starting', error)
        await Bun.sleep(startRetryMs)
      }
    }
  }

  const submitLoop = async (): Promise<void> => {
    const submitter = createSubmitter(context, alarm.ring)
    await turning(sending, async () => {
      if ((await status.attempt('sending', submitter.submitOnce)) === 0)
        await alarm.wait(looks.pauseMs())
      return !isStopped
    })
    await submitter.settle()
  }

  const followLoop = (): Promise<void> => {
    const follower = createFollower(context)
    return turning(following, async () => {
      await status.attempt('following', follower.followOnce)
      stall.look()
      await looks.pause()
      return !isStopped
    })
  }

  /** Apart from following: repairs take their time, and ends do not wait for them. */
  const sweepLoop = (): Promise<void> =>
    turning(sweeping, async () => {
      await ended.wait(settings.resendMs / 2)
      if (isStopped) return false
      await status.attempt('sweeping', async () => {
        held = await countHeldOf(context.sql, network.id)
        const swept = await sweeper.sweepOnce()
        return swept + (await fillGaps(context))
      })
      return !isStopped
    })

  return {
    start() {
      running ??= begin()
    },
    kick: wake,
    async stop() {
      isStopped = true
      wake()
      ended.ring()
      await Promise.all(companions.map((each) => each.stop()))
      await running
      status.set('stopped')
    },
    state: status.get,
    stalledSeconds: stall.stalledSeconds,
    isUnconfirmed: context.silence.isLong,
    held: () => held,
    loops,
  }
}

const loopsOf = (network: string) =>
  [
    createLoop(`sending to ${network}`),
    createLoop(`following of ${network}`),
    createLoop(`sweeping of ${network}`),
  ] as const

/**
 * The engine's status: the worst that one of its loops met, until that loop succeeds again. It logs a failure once,
 * until something works again.
 */
const createStatus = (context: EngineContext) => {
  const { logger, network } = context
  const failures = new Map<string, EngineState>()
  let idle: EngineState = { status: 'starting', detail: undefined }
  const worst = (): EngineState => {
    const all = [...failures.values()]
    return all.find(({ status }) => status === 'wrong_network') ?? all[0] ?? idle
  }
  const set = (status: EngineState['status']): void => {
    failures.clear()
    idle = { status, detail: undefined }
  }
  const fail = (what: string, error: unknown): void => {
    const status = isWrongChain(error) ? 'wrong_network' : 'unreachable'
    if (worst().status !== status) {
      logger.warn({ network: network.id, err: error }, `${what} failed`)
    }
    failures.set(what, { status, detail: error instanceof Error ? error.message : String(error) })
  }
  return {
    get: worst,
    set,
    fail,
    attempt: async (what: string, work: () => Promise<number>): Promise<number> => {
      try {
        const count = await work()
        failures.delete(what)
        return count
      } catch (error) {
        fail(what, error)
        await Bun.sleep(errorPauseMs)
        // An ephemeral chain may begin anew under us; any other is left alone until it is itself again.
        if (isWrongChain(error) && network.isEphemeral) await identify(context).catch(() => {})
        return 0
      }
    },
  }
}

const isWrongChain = (error: unknown): boolean =>
  error instanceof RpcFailure && error.kind === 'wrong_chain'

/** Runs a loop until a turn says that it is the last. */
const turning = async (loop: WatchedLoop, turn: () => Promise<boolean>): Promise<void> => {
  const work = loop.begin()
  while (await turn()) work.advance()
  work.end()
}

/** A chain that makes no blocks: nothing ends on it, and nobody but us may notice. */
const createStallLook = ({ heads, logger, network, settings }: EngineContext) => {
  let isTold = false
  /** Seconds since the last new block, once they are too many. */
  const stalledSeconds = (): number | undefined => {
    const stillMs = heads.stillMs()
    const isStalled = settings.stallMs > 0 && stillMs >= settings.stallMs
    return isStalled ? Math.floor(stillMs / 1_000) : undefined
  }
  return {
    stalledSeconds,
    /** Logs once when the chain stands still, and once when it goes on. */
    look(): void {
      const seconds = stalledSeconds()
      if ((seconds !== undefined) === isTold) return
      isTold = !isTold
      if (seconds === undefined) logger.info({ network: network.id }, 'the chain goes on')
      else logger.error({ network: network.id, seconds }, 'the chain makes no new blocks')
    },
  }
}
