/** The engine of one network: two loops, one that sends and one that follows. */

import { createLoop, type Loop, type WatchedLoop } from '#src/platform/jobs/index.ts'
import type { Hex } from '../evm/hex.ts'
import { endSagas } from '../sagas.ts'
import type { EngineContext } from './context.ts'
import * as endings from './ending-store.ts'
import { createFollower } from './follow.ts'
import { createSubmitter } from './submit.ts'
import { fillGaps, recover, sweepOnce } from './sweep.ts'

export type Engine = {
  readonly start: () => void
  /** Says that there is something to send. */
  readonly kick: () => void
  /** Ends both loops after what they are doing. */
  readonly stop: () => Promise<void>
  readonly state: () => EngineState
  /** A failed turn counts as ended, so an unreachable chain does not make a loop look stalled. */
  readonly loops: readonly Loop[]
}

type EngineState = {
  readonly status: 'starting' | 'running' | 'unreachable' | 'wrong_network' | 'stopped'
  readonly detail: string | undefined
}

const startRetryMs = 1_000
const errorPauseMs = 500

export const createEngine = (context: EngineContext): Engine => {
  const { logger, network, settings } = context
  const status = createStatus(context)
  let running: Promise<unknown> | undefined
  let isStopped = false
  const alarm = createAlarm()
  const sending = createLoop(`sending to ${network.id}`)
  const following = createLoop(`following of ${network.id}`)

  const begin = async (): Promise<void> => {
    while (!isStopped) {
      try {
        if (!(await identify(context))) {
          const detail = 'another genesis block than before'
          status.set('wrong_network', detail)
          logger.error({ network: network.id }, `${detail}: not started`)
          return
        }
        const recovered = await recover(context)
        if (recovered > 0) logger.info({ network: network.id, recovered }, 'taken up after a stop')
        status.set('running')
        await Promise.all([submitLoop(), followLoop()])
        return
      } catch (error) {
        status.set('unreachable', messageOf(error))
        logger.warn({ network: network.id, err: error }, 'the network cannot be used yet')
        await Bun.sleep(startRetryMs)
      }
    }
  }

  const submitLoop = (): Promise<void> => {
    const submitter = createSubmitter(context)
    return turning(sending, async () => {
      if ((await status.attempt('sending', submitter.submitOnce)) === 0)
        await alarm.wait(settings.pollMs)
      return !isStopped
    })
  }

  const followLoop = (): Promise<void> => {
    const follower = createFollower(context)
    let sweptMs = performance.now()
    return turning(following, async () => {
      await status.attempt('following', follower.followOnce)
      if (performance.now() - sweptMs >= settings.resendMs / 2) {
        sweptMs = performance.now()
        await status.attempt('sweeping', () => sweepAndFill(context))
      }
      await Bun.sleep(settings.pollMs)
      return !isStopped
    })
  }

  return {
    start() {
      running ??= begin()
    },
    kick: alarm.ring,
    async stop() {
      isStopped = true
      alarm.ring()
      await running
      status.set('stopped')
    },
    state: status.get,
    loops: [sending, following],
  }
}

const sweepAndFill = async (context: EngineContext): Promise<number> =>
  (await sweepOnce(context)) + (await fillGaps(context))

/** The engine's status; it logs a failure once, until something works again. */
const createStatus = ({ logger, network }: EngineContext) => {
  let state: EngineState = { status: 'starting', detail: undefined }
  const set = (status: EngineState['status'], detail?: string): void => {
    state = { status, detail }
  }
  return {
    get: () => state,
    set,
    attempt: async (what: string, work: () => Promise<number>): Promise<number> => {
      try {
        const count = await work()
        set('running')
        return count
      } catch (error) {
        if (state.status !== 'unreachable') {
          logger.warn({ network: network.id, err: error }, `${what} failed`)
        }
        set('unreachable', messageOf(error))
        await Bun.sleep(errorPauseMs)
        return 0
      }
    },
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Runs a loop until a turn says that it is the last. */
const turning = async (loop: WatchedLoop, turn: () => Promise<boolean>): Promise<void> => {
  const work = loop.begin()
  while (await turn()) work.advance()
  work.end()
}

/** Compares the genesis block with the one remembered. @returns false when it must not be used */
const identify = async (context: EngineContext): Promise<boolean> => {
  const { network, rpc, sql } = context
  await rpc.checkChain()
  const block = await rpc.call('eth_getBlockByNumber', '0x0', false)
  const genesis = (block as { readonly hash: Hex }).hash
  const remembered = await endings.rememberGenesis(sql, network.id, genesis)
  if (remembered === genesis) return true
  if (!network.isEphemeral) return false
  await sql.begin(async (tx) => {
    const ended = await endings.resetNetwork(tx, network.id, genesis, {
      code: 'NETWORK_RESET',
      message: 'The network began anew; what was on it is gone.',
    })
    await endSagas(context, tx, ended)
  })
  return true
}

/** Wakes one waiter early. */
const createAlarm = (): {
  readonly ring: () => void
  readonly wait: (ms: number) => Promise<void>
} => {
  let wake: (() => void) | undefined
  let isRung = false
  return {
    ring() {
      isRung = true
      wake?.()
    },
    async wait(ms) {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
        wake = undefined
      }
      isRung = false
    },
  }
}
