import type { Queryable } from '#src/platform/database/index.ts'
import { isUnanswered, neverSent, predecessorsOf, resolvedByHand } from '../../messages/domain.ts'
import {
  type AnsweredStatus,
  endOf,
  replyType,
  reportedReplies,
  type StatusChange,
  unawaitedAmong,
  withdrawEnds,
} from '../../messages/index.ts'
import { type MatchedAnswer, outcomeFor } from './match.ts'
import {
  confirmSent,
  lockSent,
  type Progress,
  type Standing,
  settledOf,
  writeTransactionStatuses,
} from './store.ts'

/** What answers bring to sent messages. */
export type Brought = {
  readonly wanted: readonly StatusChange[]
  /** Statuses of transactions that are yet to be written, together with the changes. */
  readonly answered: readonly AnsweredStatus[]
  /** Messages whose end a person had told: what answers say of them counts. */
  readonly resolved: ReadonlySet<string>
  /** The resolved messages that are refused as a whole. */
  readonly refusedWhole: ReadonlySet<string>
}

/**
 * Returns the changes that answers bring to sent messages, and writes the statuses of their transactions.
 *
 * A message follows its transactions: it stays as it is until all of them are answered. Then it is REJECTED if all were
 * refused, ACCEPTED if none was, and PARTIALLY_ACCEPTED otherwise; each transaction keeps its own status and reason.
 * Transactions of our replies keep what we said. A message of one transaction ends with its answer, so nothing is
 * counted. An end that a person told gives way to the answer, once; from then on the message is like any other.
 */
export const changesOf = async (
  tx: Queryable,
  told: readonly MatchedAnswer[],
): Promise<Brought> => {
  const changes = new Map<string, StatusChange>()
  const note = (change: StatusChange): boolean => {
    if (changes.has(change.id)) return false
    changes.set(change.id, change)
    return true
  }
  const ids = new Set(told.flatMap(messagesOf))
  if (ids.size === 0) {
    return { wanted: [], answered: [], resolved: new Set(), refusedWhole: new Set() }
  }
  // A statement of its own: those that follow count entries that nobody else can add to.
  const standing = await lockSent(tx, [...ids])
  const resolved = new Set(
    [...standing].flatMap(([id, { errorCode }]) => (errorCode === resolvedByHand ? [id] : [])),
  )
  const answers = await withoutContradicted(tx, told)
  const { alone, among, replies, whole } = sorted(answers, { standing, resolved }, note)
  for (const id of await unawaitedAmong(tx, refusedAfter(answers, standing))) {
    const change = changes.get(id)
    if (change !== undefined) changes.set(id, { ...change, wasAssumed: true })
  }
  for (const change of await reportedReplies(tx, replies)) note(change)
  if (among.length > 0) {
    for (const progress of await writeTransactionStatuses(tx, among)) {
      if (progress.answered === progress.transactions) note(changeOf(progress))
    }
  }
  const refusedWhole = new Set(whole.filter((id) => resolved.has(id)))
  await withdrawEnds(tx, [...refusedWhole])
  await confirmSent(
    tx,
    [...resolved].filter((id) => changes.has(id)),
  )
  const wanted = [...changes.values()].map((change) =>
    resolved.has(change.id) ? { ...change, wasAssumed: true } : change,
  )
  return { wanted, answered: alone, resolved, refusedWhole }
}

/** Leaves out refusals of a whole message if the central bank has said, now or before, that a part of it settled. */
const withoutContradicted = async (
  tx: Queryable,
  answers: readonly MatchedAnswer[],
): Promise<readonly MatchedAnswer[]> => {
  const refused = answers.flatMap(({ answer, messageId }) =>
    answer.outcome === 'REJECTED' && messageId !== undefined ? [messageId] : [],
  )
  if (refused.length === 0) return answers
  const settled = new Set([...(await settledOf(tx, refused)), ...answers.flatMap(settlingNow)])
  return answers.filter(
    ({ answer, messageId = '' }) => answer.outcome !== 'REJECTED' || !settled.has(messageId),
  )
}

/** Messages of several orders of which an answer ends a part as settled. */
const settlingNow = ({ answer, transactions }: MatchedAnswer): readonly string[] =>
  answer.kind !== 'transaction' || answer.outcome === 'REJECTED' || answer.status === 'ACSP'
    ? []
    : transactions.flatMap(({ message: { id, type }, transactionCount, status }) =>
        type !== replyType && transactionCount > 1 && isUnanswered(status) ? [id] : [],
      )

/** Messages that are refused as a whole, and are ACCEPTED. */
const refusedAfter = (
  answers: readonly MatchedAnswer[],
  standing: ReadonlyMap<string, Standing>,
): readonly string[] =>
  answers.flatMap(({ answer, messageId }) =>
    messageId !== undefined &&
    answer.outcome === 'REJECTED' &&
    standing.get(messageId)?.status === 'ACCEPTED'
      ? [messageId]
      : [],
  )

const messagesOf = ({ transactions, messageId }: MatchedAnswer): readonly string[] => [
  ...transactions.map(({ message }) => message.id),
  ...(messageId === undefined ? [] : [messageId]),
]

/** Statuses of transactions that are alone in their message or among others, and replies of several; notes the rest. */
const sorted = (
  answers: readonly MatchedAnswer[],
  {
    standing,
    resolved,
  }: Pick<Brought, 'resolved'> & {
    readonly standing: ReadonlyMap<string, Standing>
  },
  note: (change: StatusChange) => boolean,
) => {
  // A message that a person gave up may have been sent after all; then its answer says what became of it.
  const isRefused = ({ status, errorCode }: Standing) =>
    status === 'REJECTED' && errorCode !== neverSent && errorCode !== resolvedByHand
  const rejected = new Set([...standing].flatMap(([id, one]) => (isRefused(one) ? [id] : [])))
  const statuses = new Map<string, AnsweredStatus & { readonly isAlone: boolean }>()
  const replies = new Set<string>()
  const whole: string[] = []
  for (const { answer, transactions, messageId } of answers) {
    if (messageId !== undefined) {
      const isNoted = note({ id: messageId, status: answer.outcome, detail: answer.reason })
      const status = standing.get(messageId)?.status
      if (isNoted && answer.outcome === 'REJECTED' && status !== undefined) {
        if (predecessorsOf('REJECTED').includes(status) || resolved.has(messageId)) {
          rejected.add(messageId)
          whole.push(messageId)
        }
      }
    }
    if (answer.kind !== 'transaction') continue
    const { status, reason } = answer
    for (const about of transactions) {
      const { message, position, transactionCount } = about
      const { id } = message
      // Its transactions have no answer of their own, and get none later.
      if (rejected.has(id)) continue
      if (message.type !== replyType) {
        const place = `${id} ${position}`
        if (statuses.has(place)) continue
        const refusal = answer.outcome === 'REJECTED' ? reason : undefined
        // If an earlier answer has ended it, the counts tell so, and it stays as that one said.
        const isAlone = transactionCount === 1 && (about.isTold || isUnanswered(about.status))
        statuses.set(place, { messageId: id, position, status, refusal, isAlone })
        if (isAlone) note({ id, status: answer.outcome, detail: refusal })
      } else if (transactionCount === 1) {
        note({ id, status: outcomeFor(answer, about), detail: reason })
      } else replies.add(id)
    }
  }
  const all = [...statuses.values()]
  const alone = all.filter(({ isAlone }) => isAlone)
  return { alone, among: all.filter(({ isAlone }) => !isAlone), replies: [...replies], whole }
}

const changeOf = (progress: Progress): StatusChange =>
  endOf(progress.messageId, progress, progress.reasons)
