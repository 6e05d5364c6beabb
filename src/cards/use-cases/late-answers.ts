import type { EmitWithin } from '#src/events/index.ts'
import {
  type Client,
  createGatherer,
  isTransientDatabaseError,
} from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { CardNetworks, LateAnswer } from '../networks/index.ts'
import { attachLateAnswers, type LateAnswerRow } from '../transactions/late-answers.ts'
import { type LateApproval, takeBack } from './late-approvals.ts'

const rowsMax = 200
/** If more wait to be written, the network only logs and counts them. */
const waitingMax = 10_000
/** How often we look again while the database is away, or the outcome of the request itself is being written. */
const triesMax = 9
const retryMs = 50

export type LateAnswersDeps = {
  readonly sql: Client
  readonly networks: Pick<CardNetworks, 'byName'>
  /** Called after a commit with reversals. */
  readonly onReversals: () => void
  readonly emission: EmitWithin | undefined
  readonly logger: Logger
  readonly now: () => Date
}

/**
 * Stores answers that came too late with their transactions, as events. A late approval is no success; if nobody has
 * taken it for one, it is taken back.
 */
export const createLateAnswers = (
  deps: LateAnswersDeps,
): ((answer: LateAnswer) => Promise<void>) => {
  const { sql, networks, logger, onReversals } = deps
  const attach = createGatherer<LateAnswerRow, string | undefined>({
    rowsMax: rowsMax,
    writersMax: 1,
    waitingMax: waitingMax,
    isRowFault: (error) => !isTransientDatabaseError(error),
    write: (rows) => attachLateAnswers(sql, rows),
  })

  const takeBackSoon = async (approval: LateApproval): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      const result = await whenReachable(() => takeBack(deps, approval))
      if (result === 'reversed') onReversals()
      if (result !== 'undecided' || attempt === triesMax) return
      await Bun.sleep(retryMs * 2 ** attempt)
    }
  }

  return async ({ network, response, receivedAt }) => {
    const { mti, stan = null, rrn, responseCode = null, authCode = null } = response
    if (rrn === undefined) return
    const data = { mti, stan, response_code: responseCode, auth_code: authCode }
    const rules = networks.byName(network)?.answers
    try {
      const row = { network, rrn: rrn.trimEnd(), at: receivedAt, data }
      const id = await whenReachable(() => attach(row))
      logger.warn(
        { network, mti, stan, rrn, transaction_id: id ?? null },
        id === undefined ? 'a late answer belongs to no transaction' : 'a late answer was kept',
      )
      if (id === undefined || stan === null || responseCode === null) return
      if (rules === undefined || rules.of(responseCode) === 'declined') return
      const answers = operations[mti]
      if (answers !== undefined) {
        await takeBackSoon({ id, answers, stan, responseCode, at: receivedAt })
      }
    } catch (err) {
      logger.error({ network, mti, stan, rrn, err }, 'a late answer was not kept')
    }
  }
}

/** What was asked for, by the type of the answer. */
const operations: Readonly<Record<string, LateApproval['answers']>> = {
  ...{ '0110': 'authorization', '0210': 'capture', '0230': 'capture' },
}

/** Nobody sends the answer again, so we try for some seconds. */
const whenReachable = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === triesMax || !isTransientDatabaseError(error)) throw error
      await Bun.sleep(retryMs * 2 ** attempt)
    }
  }
}
