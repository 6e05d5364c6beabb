import type { CardMessage } from '#codecs/iso8583'
import type { EmitWithin } from '#src/events/index.ts'
import {
  type Client,
  createGatherer,
  isTransientDatabaseError,
} from '#src/platform/database/index.ts'
import type { Logger } from '#src/platform/observe/index.ts'
import type { AnswerRules, CardNetworks, LateAnswer } from '../networks/index.ts'
import { attachLateAnswers, type LateAnswerRow } from '../transactions/late-answers.ts'
import { referencesOf } from '../transactions/stan.ts'
import { lockTransaction } from '../transactions/store.ts'
import { type LateApproval, type Result, takeBack, takeBackWithin } from './late-approvals.ts'

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
 * taken it for one, it is taken back. A void that was refused, and then done, is asked for again until it is confirmed.
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

  /** @returns what became of it, once that is certain or there were enough tries */
  const takeBackSoon = async (approval: LateApproval, first: Result): Promise<void> => {
    let result = first
    for (let attempt = 1; result === 'undecided' && attempt < triesMax; attempt++) {
      await Bun.sleep(retryMs * 2 ** attempt)
      result = await whenReachable(() => takeBack(deps, approval))
    }
    if (result === 'reversed') onReversals()
  }

  /** Both in one commit: of a process that is killed here, nobody would take back what its event tells of. */
  const keepAndTakeBack = (row: LateAnswerRow, approval: Omit<LateApproval, 'id'>) =>
    sql.begin(async (tx) => {
      const [id] = await attachLateAnswers(tx, [row])
      const transaction = id === undefined ? undefined : await lockTransaction(tx, id)
      if (id === undefined || transaction === undefined) return undefined
      return { id, result: await takeBackWithin(deps, tx, transaction, approval) }
    })

  return async ({ network, response, receivedAt }) => {
    const { mti, stan = null, rrn, responseCode = null, authCode = null } = response
    const found = namedBy(response, receivedAt)
    if (found === undefined) return
    const data = { mti, stan, response_code: responseCode, auth_code: authCode }
    const row = { ...found, network, at: receivedAt, data }
    const answers = approvedBy(networks.byName(network)?.answers, mti, responseCode)
    try {
      let id: string | undefined
      if (stan === null || answers === undefined) id = await whenReachable(() => attach(row))
      else {
        const approval = { answers, stan }
        const kept = await whenReachable(() => keepAndTakeBack(row, approval))
        id = kept?.id
        if (kept !== undefined) await takeBackSoon({ ...approval, id: kept.id }, kept.result)
      }
      logger.warn(
        { network, mti, stan, rrn, transaction_id: id ?? null },
        id === undefined ? 'a late answer belongs to no transaction' : 'a late answer was kept',
      )
    } catch (err) {
      logger.error({ network, mti, stan, rrn, err }, 'a late answer was not kept')
    }
  }
}

const stanForm = /^\d{6}$/
const transmissionForm = /^\d{10}$/

/** The transaction of an answer, by its DE 37; without one by its DE 11 and DE 7, whatever it answers. */
const namedBy = (
  { rrn, stan = '', transmissionDateTime: transmission = '' }: CardMessage,
  at: Date,
): Pick<LateAnswerRow, 'rrns' | 'stan' | 'transmission'> | undefined => {
  if (rrn !== undefined) return { rrns: [rrn.trimEnd()], stan: null, transmission: null }
  if (!stanForm.test(stan) || !transmissionForm.test(transmission)) return undefined
  return { rrns: referencesOf(stan, transmission, at), stan, transmission }
}

/** What the answer may have approved; undefined: nothing. */
export const approvedBy = (
  rules: AnswerRules | undefined,
  mti: string,
  responseCode: string | null,
): LateApproval['answers'] | undefined => {
  const answers = operations[mti]
  if (rules === undefined || responseCode === null) return undefined
  const isApproval =
    answers === 'void'
      ? rules.ofReversal(responseCode, false) === 'done'
      : rules.of(responseCode) !== 'declined'
  return isApproval ? answers : undefined
}

/** What was asked for, by the type of the answer. */
const operations: Readonly<Record<string, LateApproval['answers']>> = {
  ...{ '0110': 'payment', '0130': 'payment', '0210': 'payment', '0230': 'payment' },
  ...{ '0410': 'void', '0430': 'void' },
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
