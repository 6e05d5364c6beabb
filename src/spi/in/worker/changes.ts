import type { Queryable } from '#src/platform/database/index.ts'
import { endOf, replyType, reportedReplies, type StatusChange } from '../../messages/index.ts'
import { type MatchedAnswer, outcomeFor } from './match.ts'
import { type AnsweredStatus, lockSent, type Progress, writeTransactionStatuses } from './store.ts'

/**
 * Returns the changes that answers bring to sent messages, and writes the statuses of their transactions.
 *
 * A message follows its transactions: it stays as it is until all of them are answered. Then it is REJECTED if all were
 * refused, ACCEPTED if none was, and PARTIALLY_ACCEPTED otherwise; each transaction keeps its own status and reason.
 * Those of our replies keep what we said.
 */
export const changesOf = async (
  tx: Queryable,
  answers: readonly MatchedAnswer[],
): Promise<readonly StatusChange[]> => {
  const ids = answers.flatMap(({ transactions, messageId }) => [
    ...transactions.map((about) => about.messageId),
    ...(messageId === undefined ? [] : [messageId]),
  ])
  if (ids.length === 0) return []
  await lockSent(tx, [...new Set(ids)])
  const changes = new Map<string, StatusChange>()
  const note = (change: StatusChange): void => {
    if (!changes.has(change.id)) changes.set(change.id, change)
  }
  const statuses = new Map<string, AnsweredStatus>()
  const replies = new Set<string>()
  for (const { answer, transactions, messageId } of answers) {
    if (messageId !== undefined) {
      note({ id: messageId, status: answer.outcome, detail: answer.reason })
    }
    if (answer.kind !== 'transaction') continue
    const { status, reason } = answer
    for (const about of transactions) {
      const id = about.messageId
      if (about.type !== replyType) {
        const place = `${id} ${about.position}`
        if (statuses.has(place)) continue
        const refusal = answer.outcome === 'REJECTED' ? reason : undefined
        statuses.set(place, { messageId: id, position: about.position, status, refusal })
      } else if (about.transactionCount === 1) {
        note({ id, status: outcomeFor(answer, about), detail: reason })
      } else replies.add(id)
    }
  }
  for (const change of await reportedReplies(tx, [...replies])) note(change)
  if (statuses.size > 0) {
    for (const progress of await writeTransactionStatuses(tx, [...statuses.values()])) {
      if (progress.answered === progress.transactions) note(changeOf(progress))
    }
  }
  return [...changes.values()]
}

const changeOf = (progress: Progress): StatusChange =>
  endOf(progress.messageId, progress, progress.reasons)
