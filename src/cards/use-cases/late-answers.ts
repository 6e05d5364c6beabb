import type { CardMessage } from '#codecs/iso8583'
import {
  createGatherer,
  isRowFault,
  isTransientDatabaseError,
  type Transaction,
} from '#src/platform/database/index.ts'
import type { AnswerRules, LateAnswer } from '../networks/index.ts'
import { storable } from '../text.ts'
import {
  attachLateAnswers,
  candidatesOf,
  keepLateAnswer,
  type LateAnswerRow,
  namelessHours,
} from '../transactions/late-answers.ts'
import { referencesBefore, referencesOf } from '../transactions/stan.ts'
import { lockTransaction } from '../transactions/store.ts'
import { centsIn, currencyIn } from '../transactions/told-amounts.ts'
import { keepUnmatched, unmatchedOf } from '../transactions/unmatched.ts'
import type { ListenerDeps } from './context.ts'
import { type LateApproval, type Result, takeBack, takeBackWithin } from './late-approvals.ts'

const rowsMax = 200
/** If more wait to be written, the network only logs and counts them. */
const waitingMax = 10_000
/** How often we look again while the database is away, or the outcome of the request itself is being written. */
const triesMax = 9
const retryMs = 50

/**
 * Stores answers that came too late with their transactions, as events. A late approval is no success; if nobody has
 * taken it for one, it is taken back. A void that was refused, and then done, is asked for again until it is confirmed.
 */
export const createLateAnswers = (deps: ListenerDeps): ((answer: LateAnswer) => Promise<void>) => {
  const { sql, networks, logger, onReversals, inTurn } = deps
  const attach = createGatherer<LateAnswerRow, string | undefined>({
    rowsMax: rowsMax,
    writersMax: 1,
    waitingMax: waitingMax,
    isRowFault,
    write: (rows) => attachLateAnswers(sql, rows),
  })

  /** Looks again until it is certain what became of its request, or there were enough tries. */
  const takeBackSoon = async ({ id, result, approval }: Owner): Promise<void> => {
    let latest = result
    for (let attempt = 1; latest === 'undecided' && attempt < triesMax; attempt++) {
      await Bun.sleep(retryMs * 2 ** attempt)
      latest = await whenReachable(() => inTurn(() => takeBack(deps, { id, ...approval })))
    }
    if (latest === 'reversed') onReversals()
  }

  /** All in one commit: of a process that is killed here, nobody would take back what its event tells of. */
  const keepAndTakeBack = ({ late, approved }: Approval) =>
    sql.begin(async (tx): Promise<readonly Owner[]> => {
      const ids = await ownersOf(tx, late, approved.answers)
      const owners: Owner[] = []
      for (const id of ids) {
        const transaction = await lockTransaction(tx, id)
        if (transaction === undefined) continue
        const stan = late.response.stan ?? transaction.stan
        const approval = { ...approved, stan, isUncertain: approved.isUncertain || ids.length > 1 }
        const result = await takeBackWithin(deps, tx, transaction, approval)
        owners.push({ id, result, approval })
      }
      if (isForPerson(late.response, approved, owners.length)) {
        const isKept = await keepUnmatched(tx, unmatchedOf(late.network, late.response))
        if (!isKept && owners.length === 0) throw new Error('too many approvals wait for a person')
      }
      return owners
    })

  const keep = async (late: Late): Promise<readonly string[]> => {
    const approved = approvedBy(networks.byName(late.network)?.answers, late.response)
    if (approved !== undefined) {
      const owners = await whenReachable(() => inTurn(() => keepAndTakeBack({ late, approved })))
      await Promise.all(owners.map(takeBackSoon))
      return owners.map(({ id }) => id)
    }
    const row = rowOf(late)
    const id = row && (await whenReachable(() => attach(row)))
    return id === undefined ? [] : [id]
  }

  /** The answers that we are looking into; the same one, told again meanwhile, adds nothing. */
  const inHand = new Set<string>()

  return async (late) => {
    const { network, response } = late
    const { mti, stan, rrn } = response
    const told = JSON.stringify({ network, ...response })
    if (inHand.has(told)) return
    inHand.add(told)
    try {
      const ids = await keep(late)
      logger.warn(
        { network, mti, stan, rrn, transaction_id: ids[0] ?? null, candidates: ids.length },
        keptText(ids.length),
      )
    } catch (err) {
      logger.error({ network, mti, stan, rrn, err }, 'a late answer was not kept')
    } finally {
      inHand.delete(told)
    }
  }
}

/**
 * Whether somebody has to see to it: nobody's approval, and money that has certainly moved for one of several, of which
 * nobody knows for which. What takes money back holds none.
 */
const isForPerson = (
  { mti }: CardMessage,
  { answers, isUncertain }: Approved,
  ownerCount: number,
): boolean => {
  if (answers !== 'payment') return false
  return ownerCount === 0 || (ownerCount > 1 && mti.startsWith('02') && !isUncertain)
}

const keptText = (count: number): string => {
  if (count === 0) return 'a late answer belongs to no transaction'
  if (count === 1) return 'a late answer was kept'
  return 'a late answer may belong to several transactions, and was kept with each'
}

type Answers = LateApproval['answers']
type Approved = { readonly answers: Answers; readonly isUncertain: boolean }
type Approval = { readonly late: Late; readonly approved: Approved }
type Late = Pick<LateAnswer, 'network' | 'response' | 'receivedAt'>
type Owner = {
  readonly id: string
  readonly result: Result
  readonly approval: Omit<LateApproval, 'id'>
}

const stanForm = /^\d{6}$/
const transmissionForm = /^\d{10}$/

const dataOf = ({ mti, stan, responseCode, authCode }: CardMessage): LateAnswerRow['data'] => ({
  mti,
  stan: stan ?? null,
  response_code: responseCode ?? null,
  auth_code: authCode ?? null,
})

/** The answer by its DE 37; without one by its DE 11 and DE 7, whatever it answers; undefined without these. */
const rowOf = ({ network, response, receivedAt: at }: Late): LateAnswerRow | undefined => {
  const { rrn, stan = '', transmissionDateTime: transmission = '' } = response
  const common = { network, data: dataOf(response) }
  if (rrn !== undefined) {
    return { ...common, rrns: [rrn.trimEnd()], stan: null, transmission: null }
  }
  if (!stanForm.test(stan) || !transmissionForm.test(transmission)) return undefined
  return { ...common, rrns: referencesOf(stan, transmission, at), stan, transmission }
}

/** A void that the network took for another one's would end a payment that stands: only one that is certain goes on. */
const candidatesMax: Readonly<Record<Answers, number>> = { payment: 8, void: 1 }

/** Stores an approval with the transactions that it may belong to. What several of them have not in their books, is taken back of each. */
const ownersOf = async (
  tx: Transaction,
  late: Late,
  answers: Answers,
): Promise<readonly string[]> => {
  const row = rowOf(late)
  if (row !== undefined) {
    const [id] = await attachLateAnswers(tx, [row])
    return id === undefined ? [] : [id]
  }
  const { network, response, receivedAt: at } = late
  const { stan = '' } = response
  if (!stanForm.test(stan)) return []
  const nameless = {
    network,
    stan,
    rrns: referencesBefore(stan, at, namelessHours),
    answers,
    amountCents: centsIn(response),
    currency: currencyIn(response),
    terminalId: response.terminalId?.trimEnd(),
    merchantId: storable(response.merchantId)?.trimEnd(),
  }
  const found = await candidatesOf(tx, nameless, candidatesMax[answers] + 1)
  if (found.length === 0 || found.length > candidatesMax[answers]) return []
  // Everybody locks them in this order.
  const ids = found.toSorted()
  await keepLateAnswer(tx, ids, dataOf(response))
  return ids
}

/** What the answer may have approved; undefined: nothing. */
export const approvedBy = (
  rules: AnswerRules | undefined,
  {
    mti,
    responseCode,
  }: { readonly mti: string; readonly responseCode?: string | undefined | null },
): Approved | undefined => {
  const answers = operations[mti]
  if (rules === undefined || answers === undefined || responseCode == null) return undefined
  const isApproval =
    answers === 'void'
      ? rules.ofReversal(responseCode, false) === 'done'
      : rules.of(responseCode) !== 'declined'
  if (!isApproval) return undefined
  const isUncertain = rules.of(responseCode) !== 'approved' && !rules.isPartial(responseCode)
  return { answers, isUncertain }
}

/** What was asked for, by the type of the answer. */
const operations: Readonly<Record<string, Answers>> = {
  '0110': 'payment',
  '0130': 'payment',
  '0210': 'payment',
  '0230': 'payment',
  '0410': 'void',
  '0430': 'void',
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
