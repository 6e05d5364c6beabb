import { createJob, type Job, nothingFound, type Round } from '#src/platform/jobs/index.ts'
import {
  type KeptLateAnswer,
  lateAnswersAfter,
  lateAnswersEndedBefore,
} from '../transactions/late-answers.ts'
import type { CardContext, ListenerDeps } from './context.ts'
import { approvedBy } from './late-answers.ts'
import { takeBack } from './late-approvals.ts'

const everyMs = 5_000
/** While nothing is found, the time between two looks grows up to this many times. */
const restFactor = 12
/** Until then the process that heard the answer sees to it. */
const secondsMinDefault = 5
/** Longer than anything that an answer may wait for, but a person. */
const secondsMax = 86_400
const batchMax = 200

/**
 * Takes back late approvals whose process was killed after it had kept them, and before it could see what became of
 * their requests. Any number of processes may do so: what is taken back already and what counts are left.
 */
export const createLateSweep = (
  deps: Omit<ListenerDeps, 'inTurn' | 'logger'> &
    Pick<CardContext, 'logger'> & { readonly secondsMin?: number },
): Job & { readonly sweep: (round?: Round) => Promise<number> } => {
  const { sql, networks, logger, onReversals, secondsMin = secondsMinDefault } = deps
  /** All up to this one are decided, and nothing comes among them. */
  let decidedTo = 0n

  const decide = async (one: KeptLateAnswer): Promise<'reversed' | 'taken' | 'undecided'> => {
    if (one.isTakenBack) return 'taken'
    const { id, network, stan } = one
    const approved = approvedBy(networks.byName(network)?.answers, one)
    if (approved === undefined || stan === null) return 'taken'
    const isUncertain = approved.isUncertain || one.isOneOfSeveral
    return takeBack(deps, { ...approved, id, stan, isUncertain })
  }

  const sweep = async (round?: Round): Promise<number> => {
    let total = 0
    let openFrom: bigint | undefined
    if (decidedTo === 0n) decidedTo = await lateAnswersEndedBefore(sql, secondsMax)
    for (let after = decidedTo; ; ) {
      const found = await lateAnswersAfter(sql, after, { secondsMin, secondsMax }, batchMax)
      for (const one of found) {
        if (round?.signal.aborted === true) return total
        const result = await decide(one)
        if (result === 'reversed') total++
        if (result === 'undecided' || !one.isSettled) openFrom ??= after
        after = one.eventId
        round?.advance()
      }
      if (found.length < batchMax) {
        decidedTo = openFrom ?? after
        break
      }
    }
    if (total > 0) {
      onReversals()
      logger.warn({ answers: total }, 'late approvals that nobody had seen to are taken back')
    }
    return total
  }

  const job = createJob({
    name: 'late approvals of cards',
    everyMs,
    restMs: restFactor * everyMs,
    logger,
    run: async (round) => ((await sweep(round)) === 0 ? nothingFound : undefined),
  })
  return { ...job, sweep }
}
