import type { Queryable } from '#src/platform/database/index.ts'
import type { StatusChange } from '../../messages/index.ts'
import { type MatchedAnswer, outcomeFor } from './match.ts'
import { type AnsweredStatus, lockSent, type Progress, writeTransactionStatuses } from './store.ts'

/**
 * Returns the changes that answers bring to sent messages, and writes the statuses of their transactions.
 *
 * A message follows its transactions: it stays as it is until all of them are answered. Then it is REJECTED if all were
 * refused, and ACCEPTED otherwise; each transaction keeps its own status.
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
  const reasons = new Map<string, Set<string>>()
  for (const { answer, transactions, messageId } of answers) {
    if (messageId !== undefined) {
      note({ id: messageId, status: answer.outcome, detail: answer.reason })
    }
    if (answer.kind !== 'transaction') continue
    for (const about of transactions) {
      const id = about.messageId
      if (about.type === 'pacs.002') {
        note({ id, status: outcomeFor(answer, about), detail: answer.reason })
        continue
      }
      const place = `${id} ${about.position}`
      if (statuses.has(place)) continue
      statuses.set(place, { messageId: id, position: about.position, status: answer.status })
      const known = reasons.get(id) ?? new Set()
      reasons.set(id, answer.reason === undefined ? known : known.add(answer.reason))
    }
  }
  if (statuses.size > 0) {
    for (const progress of await writeTransactionStatuses(tx, [...statuses.values()])) {
      const change = changeOf(progress, [...(reasons.get(progress.messageId) ?? [])])
      if (change !== undefined) note(change)
    }
  }
  return [...changes.values()]
}

const changeOf = (
  { messageId: id, transactions, answered, refused }: Progress,
  reasons: readonly string[],
): StatusChange | undefined => {
  if (answered < transactions) return undefined
  const codes = reasons.join(', ')
  if (refused === 0) return { id, status: 'ACCEPTED' }
  const status = refused === transactions ? 'REJECTED' : 'ACCEPTED'
  if (transactions === 1) return { id, status, detail: codes === '' ? undefined : codes }
  const counted = `${refused} of ${transactions} refused`
  return { id, status, detail: codes === '' ? counted : `${counted}: ${codes}` }
}
