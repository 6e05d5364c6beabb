import type { Client } from '#src/platform/database/index.ts'
import { momentOf } from '../../messages/index.ts'
import { paymentOf } from '../../payments/domain.ts'
import { messagesOfPayment, paymentMessagesMax } from '../../payments/store.ts'
import type { Receivables, ReceivedEnd } from './received.ts'

const readMax = 200

/**
 * Walks, some at a time, payments and returns without an end, and ends those whose messages tell of one: an end that
 * nobody was told of, such as a refusal of ours that an earlier release sent.
 *
 * @param receivables whoever was paid
 * @returns a step of the walk, which takes those that were begun before a moment and counts the ends that it told
 */
export const createStuckWalk = (
  sql: Client,
  receivables: Receivables,
): ((to: Date) => Promise<number>) => {
  let from = new Date(0)
  return async (to) => {
    const { ids, next } = await receivables.open(sql, from, to, readMax)
    const ends: ReceivedEnd[] = []
    for (const id of ids) ends.push(...(await endsOf(sql, id)))
    if (ends.length > 0) await sql.begin((tx) => receivables.end(tx, ends, new Date()))
    from = next ?? new Date(0)
    return ends.length
  }
}

/** What messages say of a payment that was received, and of the returns of it. */
const endsOf = async (sql: Client, endToEndId: string): Promise<readonly ReceivedEnd[]> => {
  const messages = await messagesOfPayment(sql, endToEndId)
  if (messages.length > paymentMessagesMax) return []
  const payment = paymentOf(endToEndId, messages, momentOf)
  if (payment?.direction !== 'INBOUND') return []
  return [{ ...payment, id: null }, ...payment.returns].flatMap(({ id, outcome, refusal }) => {
    if (outcome !== 'settled' && outcome !== 'rejected') return []
    const isSettled = outcome === 'settled'
    return [{ endToEndId, returnId: id, isSettled, reason: isSettled ? null : refusal }]
  })
}
